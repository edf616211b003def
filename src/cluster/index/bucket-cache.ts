// Buckets as they were a moment ago: each write asks for its bucket, and buckets hardly change. A commit looks at the
// bucket itself again, so an old answer never lets one through that must not be.
import type { Bucket } from "../../model/bucket.ts";

export interface BucketCache {
  /** How old an answer may be. */
  readonly maxAgeMilliseconds: number;
  get(name: string): Bucket | undefined;
  keep(bucket: Bucket): void;
  drop(name: string): void;
}

const maxBuckets = 10_000;

/** Zero milliseconds keep nothing. */
export function createBucketCache(maxAgeMilliseconds: number): BucketCache {
  const entries = new Map<string, { readonly bucket: Bucket; readonly until: number }>();
  return {
    maxAgeMilliseconds,
    get(name) {
      const found = entries.get(name);
      if (found !== undefined && found.until > Date.now()) return found.bucket;
      entries.delete(name);
      return undefined;
    },
    keep(bucket) {
      if (maxAgeMilliseconds === 0) return;
      if (entries.size >= maxBuckets) entries.clear();
      entries.set(bucket.name, { bucket, until: Date.now() + maxAgeMilliseconds });
    },
    drop: (name) => entries.delete(name),
  };
}
