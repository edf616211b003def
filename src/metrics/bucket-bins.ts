// What happened to buckets in a fixed interval, as it is stored. An interval has the buckets with
// the most requests only, so that the size of the history does not depend on the number of buckets.
import { isCount, isFields, isList, isText } from "../model/shape.ts";
import type { BinFormat } from "./history-archive.ts";
import { addCounts, type BinCounts, binFields, parseDocument } from "./history-bins.ts";

/** Buckets in one interval. A document of 60 intervals then has less than 200 KB. */
export const maxBuckets = 24;
const maxNameLength = 255;
/** Kind of the documents. */
const kind = "bucket metrics history";

export interface BucketBin {
  /** Start of the interval, in milliseconds since the epoch. */
  readonly at: number;
  /** In the order of `binFields`, by bucket. */
  readonly buckets: ReadonlyMap<string, BinCounts>;
}

/** Keeps the buckets with the most requests. */
export function busiest(buckets: ReadonlyMap<string, BinCounts>): ReadonlyMap<string, BinCounts> {
  if (buckets.size <= maxBuckets) return buckets;
  const sorted = [...buckets].sort(([, a], [, b]) => (b[0] ?? 0) - (a[0] ?? 0));
  return new Map(sorted.slice(0, maxBuckets));
}

export const bucketBinFormat: BinFormat<BucketBin> = {
  kind,
  add(a, b) {
    const buckets = new Map(a.buckets);
    for (const [name, counts] of b.buckets) buckets.set(name, addCounts(buckets.get(name) ?? [], counts));
    return { at: a.at, buckets: busiest(buckets) };
  },
  format: (bins) =>
    JSON.stringify({ version: 1, bins: bins.map(({ at, buckets }) => ({ at, buckets: [...buckets] })) }),
  parse: (text, tier) =>
    parseDocument(text, tier, isStoredBin).map(({ at, buckets }) => ({ at, buckets: new Map(buckets) })),
};

interface StoredBin {
  readonly at: number;
  readonly buckets: readonly (readonly [string, BinCounts])[];
}

function isStoredBin(value: unknown): value is StoredBin {
  return isFields(value) && isCount(value.at) && isList(value.buckets, maxBuckets, isStoredBucket);
}

function isStoredBucket(value: unknown): value is readonly [string, BinCounts] {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    isText(value[0], maxNameLength) &&
    isList(value[1], binFields.length, isCount)
  );
}
