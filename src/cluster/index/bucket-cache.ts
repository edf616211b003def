// A short-lived cache of buckets: every write reads its bucket, and buckets rarely change. A commit
// checks the bucket again in the database, so a stale entry never allows a wrong commit.
import { performance } from "node:perf_hooks";
import type { Bucket } from "../../model/bucket.ts";

export interface BucketCache {
  readonly maxAgeMilliseconds: number;
  get(name: string): Bucket | undefined;
  keep(bucket: Bucket): void;
  drop(name: string): void;
}

const maxBuckets = 10_000;

/**
 * An age of zero milliseconds disables the cache. A clock that is set back does not prolong the life of
 * an entry, whose policy may have been revoked on another server.
 */
export function createBucketCache(maxAgeMilliseconds: number): BucketCache {
  const entries = new Map<string, { readonly bucket: Bucket; readonly until: number }>();
  return {
    maxAgeMilliseconds,
    get(name) {
      const found = entries.get(name);
      if (found !== undefined && found.until > performance.now()) return found.bucket;
      entries.delete(name);
      return undefined;
    },
    keep(bucket) {
      if (maxAgeMilliseconds === 0) return;
      if (entries.size >= maxBuckets) entries.clear();
      entries.set(bucket.name, { bucket, until: performance.now() + maxAgeMilliseconds });
    },
    drop: (name) => entries.delete(name),
  };
}
