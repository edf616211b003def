// Requests of one process by bucket, for the charts of a bucket. The table has a fixed number of
// buckets, so that its size does not depend on the number of buckets; the least used make space.
import type { Exchange } from "./exchange.ts";
import { binFields } from "./history-bins.ts";
import type { Metrics } from "./metrics.ts";

export const bucketTable = {
  name: "store_bucket_exchanges",
  help: "Requests, errors and bytes of the buckets with the most requests, for the console.",
  labels: ["bucket"],
};

const maxBuckets = 256;
/** More than this number are reduced to `keptBuckets` when the table is read. */
const fullBuckets = 192;
const keptBuckets = 128;

interface BucketCounts {
  /** In the order of `binFields`. */
  readonly numbers: number[];
  /** Requests when the table was last reduced. */
  before: number;
}

type BucketExchange = Pick<Exchange, "bucket" | "status" | "bytesIn" | "bytesOut">;

export function createBucketCounter(metrics: Metrics): (exchange: BucketExchange) => void {
  const table = new Map<string, BucketCounts>();
  metrics.addTable(bucketTable, () => {
    if (table.size > fullBuckets) reduce(table);
    return [...table].map(([bucket, { numbers }]) => [[bucket], [...numbers]]);
  });
  return ({ bucket, status, bytesIn, bytesOut }) => {
    if (bucket === undefined) return;
    let counts = table.get(bucket);
    if (counts === undefined) {
      // A request that failed may name a bucket that does not exist: it must not take space.
      if (status >= 400 || table.size >= maxBuckets) return;
      counts = { numbers: binFields.map(() => 0), before: 0 };
      table.set(bucket, counts);
    }
    const { numbers } = counts;
    numbers[0]!++;
    if (status >= 500) numbers[2]!++;
    else if (status >= 400) numbers[1]!++;
    numbers[3]! += bytesIn;
    numbers[4]! += bytesOut;
  };
}

/** Removes the buckets with the fewest requests since the table was last reduced. */
function reduce(table: Map<string, BucketCounts>): void {
  const recent = ({ numbers, before }: BucketCounts) => numbers[0]! - before;
  const sorted = [...table].sort(([, a], [, b]) => recent(b) - recent(a));
  for (const [bucket] of sorted.slice(keptBuckets)) table.delete(bucket);
  for (const [, counts] of sorted) counts.before = counts.numbers[0]!;
}
