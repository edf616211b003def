// Estimates the live bytes of a bucket's segments: the last count of each segment minus the bytes
// that this process has removed since. Selects segments to compact and shows if writers must wait.
import { statSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { bucketPaths, type Layout } from "../disk/layout.ts";
import { filesIn } from "../recovery/recover.ts";

export interface SegmentUse {
  /** Bytes removed since the last count. */
  removedBytes: number;
  /** The segment is counted again when `removedBytes` reaches this value. */
  due: number;
  /** Blobs being removed, which may still have records at the next count. */
  readonly removing: Set<string>;
  /** Size and live bytes at the last count. Undefined before the first count. */
  readonly counted?: { readonly size: number; readonly live: number };
}

/** Total bytes and live bytes of all segments of a bucket. */
export interface Usage {
  total: number;
  live: number;
}

export interface SegmentUsage {
  bucketSegments(bucketId: string): Map<string, SegmentUse>;
  /**
   * Returns the last measurement plus this process's changes since then. Measures again to include
   * changes of other processes, but rarely: measuring takes at most 1% of the time.
   */
  measure(bucketId: string): Readonly<Usage>;
  /** Adds the bytes that this process has written or removed. */
  change(bucketId: string, change: Partial<Usage>): void;
  /** Whether compacting the segment moves hardly any bytes. */
  isNearlyEmpty(bucketId: string, segment: string): boolean;
  /** Returns the emptiest segments: enough to reduce the total to `maxBytes`, if possible. */
  emptiest(bucketId: string, maxBytes: number): string[];
}

/** Pause between two measurements, as a multiple of the duration of a measurement. */
const measurePause = 100;
/** Segments with a larger share of live bytes are not compacted. */
const maxLiveShare = 0.75;
/** Share of live bytes up to which a segment is nearly empty. */
const nearlyEmptyShare = 1 / 16;

export function createSegmentUsage(layout: Layout): SegmentUsage {
  const buckets = new Map<string, Map<string, SegmentUse>>();
  const measured = new Map<string, { readonly usage: Usage; readonly until: number }>();

  function bucketSegments(bucketId: string): Map<string, SegmentUse> {
    const segments = buckets.get(bucketId) ?? new Map<string, SegmentUse>();
    buckets.set(bucketId, segments);
    return segments;
  }

  function sizeOf(bucketId: string, name: string): number {
    const path = join(bucketPaths(layout, bucketId).segments, name);
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }

  function count(bucketId: string): Usage {
    const uses = bucketSegments(bucketId);
    const names = new Set(filesIn(bucketPaths(layout, bucketId).segments));
    let total = 0;
    let live = 0;
    for (const name of names) {
      const size = sizeOf(bucketId, name);
      total += size;
      live += liveBytes(uses.get(name), size);
    }
    // Forget segments that another process has removed.
    for (const name of uses.keys()) if (!names.has(name)) uses.delete(name);
    return { total, live };
  }

  return {
    bucketSegments,
    measure(bucketId) {
      const begin = performance.now();
      const measurement = measured.get(bucketId);
      if (measurement !== undefined && begin < measurement.until) return measurement.usage;
      const usage = count(bucketId);
      const end = performance.now();
      measured.set(bucketId, { usage, until: end + (end - begin) * measurePause });
      return usage;
    },
    change(bucketId, { total = 0, live = 0 }) {
      const usage = measured.get(bucketId)?.usage;
      if (usage === undefined) return;
      usage.total += total;
      usage.live = Math.max(0, usage.live + live);
    },
    isNearlyEmpty(bucketId, name) {
      const use = bucketSegments(bucketId).get(name);
      const size = use?.counted?.size ?? sizeOf(bucketId, name);
      return liveBytes(use, size) <= size * nearlyEmptyShare;
    },
    emptiest(bucketId, maxBytes) {
      let { total } = this.measure(bucketId);
      const counted = [...bucketSegments(bucketId)].flatMap(([name, use]) =>
        use.counted === undefined
          ? []
          : [{ name, size: use.counted.size, live: liveBytes(use, use.counted.size) }],
      );
      const names: string[] = [];
      for (const { name, size, live } of counted.sort((a, b) => a.live / a.size - b.live / b.size)) {
        if (total <= maxBytes || live > size * maxLiveShare) break;
        names.push(name);
        total -= size - live;
      }
      return names;
    },
  };
}

function liveBytes(use: SegmentUse | undefined, size: number): number {
  if (use === undefined) return size;
  return Math.max(0, (use.counted?.live ?? size) - use.removedBytes);
}
