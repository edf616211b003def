// Search for objects by a text in any part of their key, in steps that a caller can end.
import { StoreError } from "../model/errors.ts";
import { type KeyMatches, type KeySearch, matchKeys } from "../model/key-search.ts";
import { limits } from "../model/limits.ts";
import { decodeCursor, encodeCursor } from "../model/listing.ts";
import type { ObjectRecord } from "../model/object.ts";
import type { Context } from "./context.ts";

export interface Searches {
  /**
   * One step of a search: compares up to 10,000 keys and returns the objects whose key contains the
   * text in upper or lower case. The next step starts at the cursor.
   */
  search(bucket: string, options: SearchOptions): Promise<SearchStep>;
}

export interface SearchOptions {
  /** 1 to 1,024 characters. */
  readonly text: string;
  readonly prefix?: string | undefined;
  readonly cursor?: string | undefined;
  /** Search the objects that were current at this time, in milliseconds since the epoch. */
  readonly time?: number | undefined;
  /** Maximum number of objects to return. Default and maximum: 1,000. */
  readonly limit?: number | undefined;
}

export interface SearchStep {
  readonly objects: readonly ObjectRecord[];
  /** Number of keys that were compared. */
  readonly scanned: number;
  /** Undefined if all keys were compared. */
  readonly cursor: string | undefined;
}

export function createSearches(context: Context): Searches {
  return {
    async search(bucket, options) {
      const text = options.text.toLowerCase();
      if (text === "" || text.length > limits.keyBytes)
        throw new StoreError("InvalidArgument", {
          detail: `Search for 1 to ${limits.keyBytes} characters.`,
        });
      const after = options.cursor === undefined ? undefined : decodeCursor(options.cursor).value;
      const limit = Math.min(options.limit ?? limits.listEntries, limits.listEntries);
      const wanted = { prefix: options.prefix ?? "", text, after, maxMatches: limit };
      return options.time === undefined
        ? searchNow(context, bucket, wanted)
        : searchAt(context, bucket, wanted, options.time);
    },
  };
}

type Wanted = Omit<KeySearch, "limit">;

async function searchNow({ records }: Context, bucket: string, wanted: Wanted): Promise<SearchStep> {
  const found = await records.findKeys(bucket, { ...wanted, limit: limits.searchKeys });
  const objects: ObjectRecord[] = [];
  for (const key of found.keys) {
    const record = await records.object(bucket, key);
    // If undefined, the object was deleted after its key was read.
    if (record !== undefined) objects.push(record);
  }
  return { objects, ...toProgress(found) };
}

/** Earlier objects are found by their records: the key alone does not show when it existed. */
async function searchAt(
  { records }: Context,
  bucket: string,
  wanted: Wanted,
  time: number,
): Promise<SearchStep> {
  const { prefix, after } = wanted;
  const limit = limits.listEntries;
  const { entries } = await records.objects(bucket, {
    ...{ prefix, delimiter: "", limit, metadataBytes: Number.POSITIVE_INFINITY, time },
    after: after === undefined ? undefined : { kind: "key", value: after },
  });
  const found = new Map(
    entries.flatMap((entry) => ("record" in entry ? [[entry.record.key, entry.record] as const] : [])),
  );
  const matches = matchKeys(found.keys(), { ...wanted, limit });
  return { objects: matches.keys.map((key) => found.get(key)!), ...toProgress(matches) };
}

function toProgress({ scanned, next }: Pick<KeyMatches, "scanned" | "next">) {
  return { scanned, cursor: next === undefined ? undefined : encodeCursor({ kind: "key", value: next }) };
}
