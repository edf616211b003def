// A short-lived cache of buckets: every write reads its bucket, and buckets rarely change. A commit
// checks the bucket again in the database, so a stale entry never allows a wrong commit.
import { performance } from "node:perf_hooks";
import type { Bucket } from "../../model/bucket.ts";

export interface BucketCache {
  readonly maxAgeMilliseconds: number;
  get(name: string): Bucket | undefined;
  /** `length` is that of the stored settings. */
  keep(bucket: Bucket, length: number): void;
  drop(name: string): void;
}

const maxBuckets = 10_000;
/** A bucket may have megabytes of rules. Parsed, they take a multiple of this. */
export const maxSettingsLength = 16 * 2 ** 20;

interface Entry {
  readonly bucket: Bucket;
  readonly length: number;
  readonly until: number;
}

/**
 * An age of zero milliseconds disables the cache. A clock that is set back does not prolong the life of
 * an entry, whose policy may have been revoked on another server.
 */
export function createBucketCache(maxAgeMilliseconds: number): BucketCache {
  const entries = new Map<string, Entry>();
  let used = 0;

  function drop(name: string): void {
    used -= entries.get(name)?.length ?? 0;
    entries.delete(name);
  }

  return {
    maxAgeMilliseconds,
    get(name) {
      const found = entries.get(name);
      if (found !== undefined && found.until > performance.now()) return found.bucket;
      drop(name);
      return undefined;
    },
    keep(bucket, length) {
      if (maxAgeMilliseconds === 0) return;
      drop(bucket.name);
      entries.set(bucket.name, { bucket, length, until: performance.now() + maxAgeMilliseconds });
      used += length;
      // A Map keeps the order of insertion, so its first entry is the oldest.
      for (const [oldest] of entries) {
        if (entries.size <= maxBuckets && used <= maxSettingsLength) return;
        drop(oldest);
      }
    },
    drop,
  };
}
