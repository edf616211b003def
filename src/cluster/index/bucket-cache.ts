// Buckets as they were a moment ago: each write asks for its bucket, and buckets hardly change. A commit looks at the
// bucket itself again, so an old answer never lets one through that must not be.
import type { Bucket } from "../../model/bucket.ts";

export interface KnownBuckets {
  /** How old an answer may be. */
  readonly milliseconds: number;
  get(name: string): Bucket | undefined;
  keep(bucket: Bucket): void;
  drop(name: string): void;
}

const most = 10_000;

/** Zero milliseconds keep nothing. */
export function createKnownBuckets(milliseconds: number): KnownBuckets {
  const known = new Map<string, { readonly bucket: Bucket; readonly until: number }>();
  return {
    milliseconds,
    get(name) {
      const found = known.get(name);
      if (found !== undefined && found.until > Date.now()) return found.bucket;
      known.delete(name);
      return undefined;
    },
    keep(bucket) {
      if (milliseconds === 0) return;
      if (known.size >= most) known.clear();
      known.set(bucket.name, { bucket, until: Date.now() + milliseconds });
    },
    drop: (name) => known.delete(name),
  };
}
