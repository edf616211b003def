// How much of a bucket's segments lives, as far as this process knows: what it has seen forgotten since it last
// counted a segment. From this it is decided which segments are worth emptying, and whether writers must wait.
import { statSync } from "node:fs";
import { join } from "node:path";
import { bucketPaths, type Layout } from "../disk/layout.ts";
import { filesIn } from "../recovery/recover.ts";

export interface SegmentUse {
  /** Bytes gone since the last look. */
  removedBytes: number;
  /** With so many gone it is looked at again. */
  due: number;
  /** Bodies that are being forgotten: the records may still know them at the next look. */
  readonly removing: Set<string>;
  /** Size and living bytes at the last look; undefined before the first. */
  readonly counted?: { readonly size: number; readonly live: number };
}

/** All segments of a bucket together. */
export interface Usage {
  total: number;
  live: number;
}

export interface SegmentUsage {
  bucketSegments(bucketId: string): Map<string, SegmentUse>;
  /**
   * Counted with what this process has done since. Measured again, for what others do, when the last time is long
   * enough ago that this takes a hundredth of the time at most.
   */
  measure(bucketId: string): Readonly<Usage>;
  /** This process has written, forgotten or removed so many bytes. */
  change(bucketId: string, change: Partial<Usage>): void;
  /** The emptiest segments, so many that the rest takes no more than `most` bytes; none that is nearly full. */
  emptiest(bucketId: string, maxBytes: number): string[];
}

const costShare = 100;
/** A segment that lives up to this share may be emptied when space is short. */
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
      measured.set(bucketId, { usage, until: end + (end - begin) * costShare });
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
