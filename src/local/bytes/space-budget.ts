// The space that a bucket's segments may use beside their live bytes. Above it, new bodies wait
// until compaction has made space for them.
import type { SegmentUsage } from "../index/segment-usage.ts";

export interface SpaceBudget {
  /** Maximum bytes of all segments before the emptiest are compacted even if none is sparse. */
  maxBytes(bucketId: string): number;
  /** Whether the removed bytes are so few that moving live bodies would be wasted work. */
  isAmple(bucketId: string): boolean;
  /** Called before a segment is compacted: new bodies wait if the bucket is far over its budget. */
  throttleIfExceeded(bucketId: string): void;
  /** Lets as many bytes of waiting bodies in as were reclaimed. */
  admit(bucketId: string, bytes: number): void;
  release(bucketId: string): void;
  /** Returns undefined if the body need not wait. */
  wait(bucketId: string, bytes: number): Promise<void> | undefined;
}

interface Throttle {
  readonly waiting: { readonly bytes: number; resume(): void }[];
  /** Reclaimed bytes that no write has used yet. */
  credit: number;
}

/** Maximum size of all segments as a multiple of their live bytes. */
const maxFactor = { compact: 1.65, throttle: 1.75 } as const;
/**
 * Removed bytes that a bucket may always keep, in files. A small bucket whose objects are often
 * overwritten then waits until whole segments are empty, instead of moving the same bodies again
 * and again: that took up to half of the processor time of such writes.
 */
const keptFiles = { ample: 4, compact: 6, throttle: 6 } as const;

export function createSpaceBudget(usage: Pick<SegmentUsage, "measure">, fileBytes: number): SpaceBudget {
  /** Buckets that are over their budget and being compacted, by id. */
  const throttles = new Map<string, Throttle>();

  function bound(bucketId: string, limit: "compact" | "throttle"): number {
    const { live } = usage.measure(bucketId);
    return Math.max(live * maxFactor[limit], live + keptFiles[limit] * fileBytes);
  }

  function isExceeded(bucketId: string): boolean {
    return usage.measure(bucketId).total > bound(bucketId, "throttle");
  }

  function release(bucketId: string): void {
    for (const { resume } of throttles.get(bucketId)?.waiting ?? []) resume();
    throttles.delete(bucketId);
  }

  return {
    maxBytes: (bucketId) => bound(bucketId, "compact"),
    isAmple(bucketId) {
      const { total, live } = usage.measure(bucketId);
      return total - live <= keptFiles.ample * fileBytes;
    },
    throttleIfExceeded(bucketId) {
      if (!throttles.has(bucketId) && isExceeded(bucketId))
        throttles.set(bucketId, { waiting: [], credit: 0 });
    },
    admit(bucketId, bytes) {
      const throttle = throttles.get(bucketId);
      if (throttle === undefined) return;
      throttle.credit += bytes;
      while (throttle.waiting.length > 0 && throttle.credit > 0) {
        const next = throttle.waiting.shift()!;
        throttle.credit -= next.bytes;
        next.resume();
      }
      if (!isExceeded(bucketId)) release(bucketId);
    },
    release,
    wait(bucketId, bytes) {
      const throttle = throttles.get(bucketId);
      return throttle && new Promise((resume) => throttle.waiting.push({ bytes, resume }));
    },
  };
}
