// Requests, errors and bytes of a bucket over time, for its charts. The increase between two samples
// is added to the archive; of each interval the archive has the buckets with the most requests.
import { type BucketBin, busiest, maxBuckets } from "./bucket-bins.ts";
import { bucketTable } from "./bucket-counts.ts";
import { minMilliseconds, type Span, spans } from "./history.ts";
import type { BinArchive } from "./history-archive.ts";
import { addCounts, type BinCounts, binFields, tiers } from "./history-bins.ts";
import type { Snapshot } from "./snapshot.ts";

/** Rates per second in the interval that ends at `time`; without rates, they are not known. */
export interface BucketPoint extends Partial<Readonly<Record<(typeof binFields)[number], number>>> {
  readonly time: number;
}

export interface BucketPoints {
  /** Oldest first, from the first interval with requests until now. */
  readonly points: readonly BucketPoint[];
  /** Whether the bucket is missing in an interval that has the maximum number of buckets. */
  readonly isPartial: boolean;
  /** Maximum number of buckets in an interval. */
  readonly maxBuckets: number;
}

export interface BucketRange {
  readonly bucket: string;
  readonly span: Span;
  readonly now: number;
  /** Requests before this time were of an earlier bucket with the same name. */
  readonly created: number;
}

export interface BucketHistory {
  add(time: number, snapshot: Snapshot): void;
  points(range: BucketRange): Promise<BucketPoints>;
}

export function createBucketHistory(archive: BinArchive<BucketBin>): BucketHistory {
  let last: { readonly time: number; readonly totals: ReadonlyMap<string, BinCounts> } | undefined;
  return {
    add(time, snapshot) {
      const totals = readTotals(snapshot);
      // The clock was set back: what happened since is not of a known interval.
      const buckets = last === undefined || time < last.time ? new Map() : increases(last.totals, totals);
      if (buckets.size > 0) archive.add((last!.time + time) / 2, { buckets: busiest(buckets) });
      last = { time, totals };
    },
    async points({ bucket, span, now, created }) {
      const { milliseconds, tier, group } = spans[span];
      const { length } = tiers[tier];
      const bins = await archive.read(tier, Math.max(now - milliseconds, created - length), now);
      return bucketPoints(bins, { bucket, now, length: length * group });
    },
  };
}

function readTotals(snapshot: Snapshot): ReadonlyMap<string, BinCounts> {
  const series = snapshot.find(({ name }) => name === bucketTable.name)?.series ?? [];
  return new Map(series.map(([labels, numbers]) => [labels[0] ?? "", numbers]));
}

/** A total that became smaller, because a process ended or dropped the bucket, counts as unchanged. */
function increases(
  before: ReadonlyMap<string, BinCounts>,
  after: ReadonlyMap<string, BinCounts>,
): Map<string, BinCounts> {
  const found = new Map<string, BinCounts>();
  for (const [bucket, totals] of after) {
    const earlier = before.get(bucket) ?? [];
    const counts = totals.map((total, i) => Math.max(0, Math.round(total - (earlier[i] ?? 0))));
    if (counts[0]! > 0) found.set(bucket, counts);
  }
  return found;
}

interface PointsOptions {
  readonly bucket: string;
  readonly now: number;
  /** Length of a point, in milliseconds. */
  readonly length: number;
}

interface Interval {
  readonly counts: BinCounts | undefined;
  readonly isFull: boolean;
}

function bucketPoints(bins: readonly BucketBin[], { bucket, now, length }: PointsOptions): BucketPoints {
  const intervals = new Map<number, Interval>();
  for (const { at, buckets } of bins) {
    const start = Math.floor(at / length) * length;
    const { counts, isFull } = intervals.get(start) ?? { counts: undefined, isFull: false };
    const more = buckets.get(bucket);
    intervals.set(start, {
      counts: more === undefined ? counts : addCounts(counts ?? [], more),
      isFull: isFull || (more === undefined && buckets.size >= maxBuckets),
    });
  }
  const known = [...intervals].filter(([, { counts }]) => counts !== undefined).map(([start]) => start);
  const points: BucketPoint[] = [];
  for (let start = Math.min(...known); start <= now; start += length) {
    const end = Math.min(start + length, now);
    const { counts, isFull } = intervals.get(start) ?? { counts: undefined, isFull: false };
    const seconds = Math.max(end - start, minMilliseconds) / 1000;
    const rates = binFields.map((name, i) => [name, (counts?.[i] ?? 0) / seconds]);
    points.push(counts === undefined && isFull ? { time: end } : { time: end, ...Object.fromEntries(rates) });
  }
  return { points, isPartial: [...intervals.values()].some(({ isFull }) => isFull), maxBuckets };
}
