// Reads the lists of parts of a bucket. The number of a list's row may be reused after its version
// was removed, so cached lists are found by number and version.
import type { PartListCache } from "../../engine/codec/part-list-cache.ts";
import { type PartsBody, toPartsBody } from "../../engine/codec/parts-body.ts";
import { decodeManifest } from "../../engine/codec/record-codec.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { damagedError } from "../rows/checksum.ts";
import { ownedText } from "../rows/stored-body.ts";
import { lostError } from "./existence-index.ts";
import { type Database, prepareArrays } from "./sqlite.ts";

export interface PartLists {
  /** Returns a cached list. */
  find(manifest: number, record: ObjectRecord): PartsBody | undefined;
  /** Returns a cached list, or reads it. Call it in the snapshot in which `manifest` was read. */
  get(manifest: number, record: ObjectRecord): PartsBody;
  /** Reads and decodes the stored list, which is then not cached. */
  inspect(manifest: number, record: ObjectRecord): PartsBody;
}

export interface PartListOptions {
  readonly cache: PartListCache<PartsBody>;
  readonly bucketId: string;
}

/** Without options, every list is read. */
export function createPartLists(database: Database, options?: PartListOptions): PartLists {
  const find = prepareArrays<[parts: string]>(database, "SELECT parts FROM manifests WHERE id = ?");
  const name = (manifest: number, version: string) => `${options?.bucketId} ${manifest} ${version}`;

  function readText(manifest: number, key: string): string {
    const row = find.get(manifest);
    if (row === undefined) throw lostError(`the list of parts of "${key}"`);
    return row[0];
  }

  /** Returns the verified list. */
  function verify(stored: string, { key, version }: ObjectRecord): string {
    const [owner, text] = ownedText(stored, `the list of parts of "${key}"`);
    if (owner === version) return text;
    throw damagedError(`the list of parts of "${key}", which belongs to another object,`);
  }

  return {
    find: (manifest, { version }) => options?.cache.get(name(manifest, version)),
    get(manifest, record) {
      const cached = options?.cache.get(name(manifest, record.version));
      if (cached !== undefined) return cached;
      const text = readText(manifest, record.key);
      const body = toPartsBody(verify(text, record), record.size);
      options?.cache.set(name(manifest, record.version), body, text.length);
      return body;
    },
    inspect: (manifest, record) => ({
      storage: "parts",
      parts: decodeManifest(verify(readText(manifest, record.key), record)),
    }),
  };
}
