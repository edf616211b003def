// Binds a bucket: the object that stands in a script's `env`.
import type { Engine } from "../engine/engine.ts";
import type * as script from "../types.ts";
import { StoreBucket } from "./bucket.ts";
import { parseCompatibility } from "./compatibility.ts";
import type { Presigner } from "./presign.ts";

export interface BucketOptions {
  /** `YYYY-MM-DD`; the newest behaviour when not given. */
  readonly compatibilityDate?: string | undefined;
  readonly compatibilityFlags?: readonly string[] | undefined;
  /** What `presign` signs with; without it there are no such URLs. */
  readonly presign?: Presigner | undefined;
}

/** Nothing is looked up: whether the bucket exists shows when it is used. */
export function bindBucket(
  engine: Engine,
  name: string,
  options: BucketOptions = {},
): script.StorePresigningBucket {
  const compatibility = parseCompatibility(options.compatibilityDate, options.compatibilityFlags);
  // The class answers every overload of the interface at once, which TypeScript cannot see.
  const bucket = new StoreBucket(engine, name, compatibility, options.presign);
  return bucket as script.StorePresigningBucket;
}
