// Flips a bit of a key's stored data (a blob file, or the row of a body or record) and restores it.
import { statSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import type { Records, StoredVersion } from "../../../src/engine/records.ts";
import {
  blobOffset,
  blobPath,
  bucketPaths,
  dataLayout,
  isInSegment,
  parseBlobId,
} from "../../../src/local/disk/layout.ts";
import { keyBytes } from "../../../src/model/key.ts";
import { flipBit } from "../../support/disk/damage.ts";
import { bucketIds } from "../../support/disk/on-disk.ts";
import { bucketName } from "./operation.ts";
import type { Flip } from "./questions.ts";
import type { Ports } from "./side.ts";

export interface Damage {
  /** Flips a bit; returns the kind of data that was hit, undefined if the key has no such data. */
  flip(ports: Ports, flip: Flip): Promise<string | undefined>;
  mend(): void;
}

export function createDamage(directory: () => string): Damage {
  let undo: (() => void) | undefined;
  return {
    async flip({ records }, { key, of, back, part, offset, bit }) {
      const found = await chosenVersion(records, key, back);
      if (found === undefined) return undefined;
      const { body, isCurrent } = found;
      if (of === "body" && body === undefined) return undefined;
      if (of === "body" && body !== undefined && body.storage !== "inline") {
        const blobs = body.storage === "blob" ? [body.blob] : body.parts.map(({ blob }) => blob);
        const blob = blobs[part % blobs.length]!;
        const place = parseBlobId(blob.id);
        const path = blobPath(dataLayout(directory()), place);
        const size = isInSegment(blob.id) ? blob.size : statSync(path).size;
        if (size === 0) return undefined;
        undo = flipped(() => flipBit({ path, offset: blobOffset(place) + (offset % size), bit }));
        return isCurrent ? "a blob" : "a noncurrent blob";
      }
      if (of === "body" && body?.storage === "inline" && body.bytes.length === 0) return undefined;
      const row = rowOf(directory(), found, of);
      const bytes = row.read();
      const wrong = Buffer.from(bytes);
      wrong[offset % bytes.length]! ^= 1 << bit;
      row.write(wrong);
      undo = () => row.write(bytes);
      if (of === "body") return isCurrent ? "an inline body" : "a noncurrent inline body";
      return isCurrent ? "a record" : isMarker(found) ? "a delete marker" : "a noncurrent record";
    },
    mend() {
      undo?.();
      undo = undefined;
    },
  };
}

/** Returns a version counted back from the newest, or, with null, the current object. */
async function chosenVersion(
  records: Records,
  key: string,
  back: number | null,
): Promise<StoredVersion | undefined> {
  if (back === null) {
    const found = await records.objectWithBody(bucketName, key);
    return found && { version: found.record, body: found.body, isCurrent: true };
  }
  const { entries } = await records.versions(bucketName, { prefix: key, delimiter: "", limit: 1000 });
  const ofKey = entries.flatMap((entry) =>
    "record" in entry && entry.record.version.key === key ? [entry.record.version.version] : [],
  );
  return ofKey.length === 0 ? undefined : records.version(bucketName, key, ofKey[back % ofKey.length]!);
}

function isMarker({ body }: StoredVersion): boolean {
  return body === undefined;
}

function flipped(flip: () => void): () => void {
  flip();
  return flip;
}

/** Reads and writes the bytes of one row over a second connection. Text columns stay text. */
function rowOf(directory: string, found: StoredVersion, of: Flip["of"]) {
  const { database } = bucketPaths(dataLayout(directory), bucketIds(directory).get(bucketName)!);
  const home = found.isCurrent && !isMarker(found) ? "objects" : "history";
  const [table, column, where] =
    of === "record"
      ? [home, "record", "key = ? AND version = ?"]
      : ["bodies", "bytes", `id = (SELECT inline FROM ${home} WHERE key = ? AND version = ?)`];
  const { key, version } = found.version;
  const place = [keyBytes(key), version] as const;
  const within = <T>(work: (opened: InstanceType<typeof DatabaseSync>) => T): T => {
    const opened = new DatabaseSync(database, { timeout: 5000 });
    try {
      return work(opened);
    } finally {
      opened.close();
    }
  };
  return {
    read: (): Buffer =>
      within((opened) => {
        const sql = `SELECT CAST(${column} AS BLOB) AS bytes FROM ${table} WHERE ${where}`;
        return Buffer.from((opened.prepare(sql).get(...place) as { bytes: Uint8Array }).bytes);
      }),
    write: (bytes: Uint8Array): void =>
      within((opened) => {
        const value = of === "record" ? "CAST(? AS TEXT)" : "?";
        opened.prepare(`UPDATE ${table} SET ${column} = ${value} WHERE ${where}`).run(bytes, ...place);
      }),
  };
}
