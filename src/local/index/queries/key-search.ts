// Search of a bucket's keys. Keys are read as one packed value, without their records.
import { Buffer } from "node:buffer";
import { keyBytes } from "../../../model/key.ts";
import { type KeyMatches, type KeySearch, matchPackedKeys } from "../../../model/key-search.ts";
import { damagedError } from "../../rows/checksum.ts";
import { type Database, prepareArrays } from "../sqlite.ts";
import { keyRange } from "./key-range.ts";

export function createKeySearch(database: Database): (search: KeySearch) => KeyMatches {
  const packedKeys = prepareArrays<[packed: Uint8Array | null, count: number]>(
    database,
    "SELECT CAST(group_concat(key, x'ff') AS BLOB), count(*) FROM " +
      "(SELECT key FROM objects WHERE key >= ? AND key < ? ORDER BY key LIMIT ?)",
  );
  return (search) => {
    const { prefix, after, limit } = search;
    const position = { kind: after === undefined ? "start" : "key", value: after ?? "" } as const;
    const [from, end] = keyRange(prefix, position);
    const [packed, count] = packedKeys.get(from, end, limit)!;
    const { buffer, byteOffset, length } = packed ?? new Uint8Array();
    const matches = matchPackedKeys(Buffer.from(buffer, byteOffset, length), count, search);
    // Rows out of order are damage. A search that goes back could also loop forever.
    if (matches.next !== undefined && Buffer.compare(keyBytes(matches.next), from) < 0)
      throw damagedError("the order of the index");
    return matches;
  };
}
