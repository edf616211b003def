// Reads a bucket that a command needs.
import type { Engine } from "../../engine/engine.ts";
import type { Bucket } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";

export async function requireBucket(engine: Engine, name: string): Promise<Bucket> {
  const bucket = await engine.bucket(name);
  if (bucket === undefined) throw new StoreError("NoSuchBucket");
  return bucket;
}
