// Reads the lists of parts of a bucket. The number of a list's row may be reused after its version
// was removed, so cached lists are found by number and version.
import type { PartListCache } from "../../engine/codec/part-list-cache.ts";
import type { BodyPart } from "../../engine/records.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { damagedError } from "../rows/checksum.ts";
import { ownedParts } from "../rows/stored-body.ts";
import { lostError } from "./existence-index.ts";
import { type Database, prepareArrays } from "./sqlite.ts";

export interface PartLists {
  /** Returns a cached list. */
  find(manifest: number, record: ObjectRecord): readonly BodyPart[] | undefined;
  /** Returns a cached list, or reads it. Call it in the snapshot in which `manifest` was read. */
  get(manifest: number, record: ObjectRecord): readonly BodyPart[];
  /** Reads and verifies the stored list, which is then not cached. */
  inspect(manifest: number, record: ObjectRecord): readonly BodyPart[];
}

export interface PartListOptions {
  readonly cache: PartListCache<readonly BodyPart[]>;
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

  function parse(text: string, { key, version }: ObjectRecord): readonly BodyPart[] {
    const [owner, parts] = ownedParts(text, `the list of parts of "${key}"`);
    if (owner === version) return parts;
    throw damagedError(`the list of parts of "${key}", which belongs to another object,`);
  }

  return {
    find: (manifest, { version }) => options?.cache.get(name(manifest, version)),
    get(manifest, record) {
      const cached = options?.cache.get(name(manifest, record.version));
      if (cached !== undefined) return cached;
      const text = readText(manifest, record.key);
      const parts = parse(text, record);
      options?.cache.set(name(manifest, record.version), parts, text.length);
      return parts;
    },
    inspect: (manifest, record) => parse(readText(manifest, record.key), record),
  };
}
