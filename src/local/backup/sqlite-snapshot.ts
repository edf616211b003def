// Copies databases in use, page by page in one read transaction. The copy does not block writers,
// needs little memory, and has the state of one instant no matter how long it takes.
import { Buffer } from "node:buffer";
import { rmSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { backup, DatabaseSync } from "@photostructure/sqlite";
import type { StoredBlob } from "../../engine/blobs.ts";
import type { Body } from "../../engine/records.ts";
import { BackupError } from "../../model/backup.ts";
import { StoreError } from "../../model/errors.ts";
import { createPrivateFile } from "../disk/private-files.ts";
import { createQueries, type Queries } from "../index/queries/object-queries.ts";
import { schemaVersion } from "../index/schema.ts";
import { type Database, openDatabase, pragma, toReadError } from "../index/sqlite.ts";
import { batchEnd, checkBucket } from "../integrity/check-bucket.ts";
import type { Watch } from "./copy-blob.ts";

const pagesPerStep = 256;

export async function copyDatabase(from: string, to: string, watch: Watch): Promise<void> {
  rmSync(to, { force: true });
  createPrivateFile(to);
  const source = openDatabase(from, { role: "reader" });
  try {
    // The first read starts the transaction. Without a transaction each write of another process
    // would restart the copy, which under constant writes would never end.
    source.exec("BEGIN");
    source.prepare("SELECT count(*) FROM sqlite_schema").get();
    // The driver's progress callback cannot throw, so cancellation takes effect after the copy.
    await backup(source, to, { rate: pagesPerStep });
    source.exec("COMMIT");
  } finally {
    source.close();
  }
  watch(0);
}

/** Opens a database that no process writes to, without creating WAL files. */
export function openSnapshot(path: string): Database {
  const url = pathToFileURL(path);
  url.searchParams.set("mode", "ro");
  url.searchParams.set("immutable", "1");
  const database = new DatabaseSync(url);
  try {
    checkVersion(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function checkVersion(database: Database, path: string): void {
  const found = Number(pragma(database, "user_version"));
  if (found === schemaVersion) return;
  throw new BackupError(`"${path}" has schema version ${found}, this Store knows ${schemaVersion}.`, [
    found < schemaVersion
      ? "Restore it with the Store that made it: this one brings the directory up to date when it opens it."
      : "Use the Store that made it, or a newer one.",
  ]);
}

/** Checks the structure of the pages. Records are verified later, when they are read. */
export function checkPages(database: Database): void {
  const found = pragma(database, "quick_check");
  if (found === "ok") return;
  throw new StoreError("Damaged", {
    detail: "The stored data is damaged: the pages of the index are inconsistent.",
    cause: new Error(String(found)),
  });
}

/** An object, a blob of a body or part, or damage found in the snapshot of a bucket. */
export type SnapshotItem =
  | { readonly kind: "object"; readonly inline: number }
  | { readonly kind: "blob"; readonly key: string; readonly blob: StoredBlob }
  | { readonly kind: "damage"; readonly key: string | undefined; readonly what: string };

/**
 * Yields every object and blob that a bucket's records reference, verified, and all damage. A blob
 * that several versions share is yielded once.
 */
export function* listContents(database: Database): Generator<SnapshotItem> {
  try {
    checkPages(database);
    const queries = createQueries(database);
    let objects = 0;
    const isNew = createFirstUse(queries);
    for (const found of listObjects(queries)) {
      if (found.kind === "object") objects++;
      if (found.kind !== "blob" || isNew(found.blob.id)) yield found;
    }
    for (const found of listHistory(queries)) if (found.kind !== "blob" || isNew(found.blob.id)) yield found;
    const { objects: expected } = queries.totals();
    if (objects !== expected)
      yield {
        kind: "damage",
        key: undefined,
        what: `The totals count ${expected} objects, but ${objects} were found.`,
      };
    yield* listParts(queries);
    for (const step of checkBucket((read) => read(queries, database), "records"))
      if (step !== batchEnd) yield { kind: "damage", key: step.key, what: step.what };
  } catch (error) {
    yield { kind: "damage", key: undefined, what: describeError(error) };
  }
}

/** Returns whether a blob is seen for the first time. Only shared blobs are remembered. */
function createFirstUse(queries: Queries): (blob: string) => boolean {
  const seen = new Set<string>();
  return (blob) => {
    if (seen.has(blob)) return false;
    if (queries.isShared(blob)) seen.add(blob);
    return true;
  };
}

/** Yields the blobs of noncurrent versions. Their damage is found by `checkBucket`. */
function* listHistory(queries: Queries): Generator<SnapshotItem> {
  for (let after = 0; ; ) {
    const entries = queries.historyEntries(after);
    for (const entry of entries) {
      const found = readVersion(queries, entry);
      if (found === undefined) continue;
      for (const blob of bodyBlobs(found.body)) yield { kind: "blob", key: found.version.key, blob };
    }
    const last = entries.at(-1);
    if (last === undefined || last <= after) return;
    after = last;
  }
}

function readVersion(queries: Queries, entry: number): ReturnType<Queries["inspectEntry"]> {
  try {
    return queries.inspectEntry(entry);
  } catch {
    return undefined;
  }
}

function bodyBlobs(body: Body | undefined): readonly StoredBlob[] {
  if (body?.storage === "blob") return [body.blob];
  return body?.storage === "parts" ? body.parts.map(({ blob }) => blob) : [];
}

function* listObjects(queries: Queries): Generator<SnapshotItem> {
  let after: Uint8Array | undefined;
  for (;;) {
    const keys = queries.keys(after);
    for (const bytes of keys) {
      if (bytes instanceof Uint8Array) yield* readObject(queries, Buffer.from(bytes).toString());
      else yield { kind: "damage", key: undefined, what: "A key of the index is invalid." };
    }
    const last = keys.at(-1);
    // Damaged keys can be out of order and make this loop forever; `checkPages` reports them.
    if (!(last instanceof Uint8Array) || (after !== undefined && Buffer.compare(last, after) <= 0)) return;
    after = last;
  }
}

function readObject(queries: Queries, key: string): SnapshotItem[] {
  try {
    const found = queries.objectWithBody(key);
    if (found === undefined)
      return [
        { kind: "object", inline: 0 },
        { kind: "damage", key, what: "The key is in the index, but its record was not found." },
      ];
    const { body } = found;
    if (body.storage === "inline") return [{ kind: "object", inline: body.bytes.length }];
    return [
      { kind: "object", inline: 0 },
      ...bodyBlobs(body).map((blob): SnapshotItem => ({ kind: "blob", key, blob })),
    ];
  } catch (error) {
    return [
      { kind: "object", inline: 0 },
      { kind: "damage", key, what: describeError(error) },
    ];
  }
}

/** Yields the blobs of the parts of active uploads. */
function* listParts(queries: Queries): Generator<SnapshotItem> {
  const limit = 1000;
  let after: { key: string; id: string } | undefined;
  for (;;) {
    const uploads = queries.uploads({ prefix: "", after, limit });
    for (const { key, id } of uploads) {
      for (const { blob, stored } of queries.parts(id))
        yield { kind: "blob", key, blob: { id: blob, size: stored } };
    }
    if (uploads.length < limit) return;
    after = uploads.at(-1)!;
  }
}

function describeError(error: unknown): string {
  const mapped = toReadError(error, "its records");
  return mapped instanceof StoreError ? mapped.detail : String(mapped);
}
