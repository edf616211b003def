// Creates the binding of a bucket: the object in the `env` of a script.
import type { Engine } from "../engine/engine.ts";
import type * as script from "../types.ts";
import { StoreBucket } from "./bucket.ts";
import { parseCompatibility } from "./compatibility.ts";
import type { Presigner } from "./presign.ts";

export interface BucketOptions {
  /** Compatibility date as `YYYY-MM-DD`; default: the newest behaviour. */
  readonly compatibilityDate?: string | undefined;
  readonly compatibilityFlags?: readonly string[] | undefined;
  /** Endpoint and key for `presign`; if undefined, `presign` throws. */
  readonly presign?: Presigner | undefined;
}

/** Does not check that the bucket exists: the first operation checks it. */
export function bindBucket(
  engine: Engine,
  name: string,
  options: BucketOptions = {},
): script.StorePresigningBucket {
  const compatibility = parseCompatibility(options.compatibilityDate, options.compatibilityFlags);
  // TypeScript cannot check that one method of the class implements all overloads.
  const bucket = new StoreBucket(engine, name, compatibility, options.presign);
  return bucket as script.StorePresigningBucket;
}
