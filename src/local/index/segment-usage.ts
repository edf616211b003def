// Estimates how much of a bucket's segments is live: the last count of each segment minus what this
// process has removed since. This decides which segments to compact and whether writers wait.
import { statSync } from "node:fs";
import { join } from "node:path";
import { bucketPaths, type Layout } from "../disk/layout.ts";
import { filesIn } from "../recovery/recover.ts";

export interface SegmentUse {
  /** Bytes removed since the last count. */
  removedBytes: number;
  /** Removed bytes at which the segment is counted again. */
  due: number;
  /** Blobs being removed: the records may still have them at the next count. */
  readonly removing: Set<string>;
  /** Size and live bytes at the last count; undefined before the first. */
  readonly counted?: { readonly size: number; readonly live: number };
}

/** Bytes of all segments of a bucket together. */
export interface Usage {
  total: number;
  live: number;
}

export interface SegmentUsage {
  bucketSegments(bucketId: string): Map<string, SegmentUse>;
  /** The last measurement plus own changes; measuring again takes at most a hundredth of the time. */
  measure(bucketId: string): Readonly<Usage>;
  /** Adds what this process has written or removed, in bytes. */
  change(bucketId: string, change: Partial<Usage>): void;
  /** The emptiest segments, enough to reduce the total to `maxBytes`; none that is nearly full. */
  emptiest(bucketId: string, maxBytes: number): string[];
}

/** Time between two measurements, as a multiple of the duration of one. */
const measurePause = 100;
/** Segments with a larger share of live bytes are not chosen. */
const maxLiveShare = 0.75;

export function createSegmentUsage(layout: Layout): SegmentUsage {
  const buckets = new Map<string, Map<string, SegmentUse>>();
  const measured = new Map<string, { readonly usage: Usage; readonly until: number }>();

  function bucketSegments(bucketId: string): Map<string, SegmentUse> {
    const segments = buckets.get(bucketId) ?? new Map<string, SegmentUse>();
    buckets.set(bucketId, segments);
    return segments;
  }

  function count(bucketId: string): Usage {
    const { segments: directory } = bucketPaths(layout, bucketId);
    const uses = bucketSegments(bucketId);
    const names = new Set(filesIn(directory));
    let total = 0;
    let live = 0;
    for (const name of names) {
      const size = statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
      total += size;
      live += liveBytes(uses.get(name), size);
    }
    // Removed by another process.
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
