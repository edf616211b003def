// Reads a bucket that a command needs.
import type { Bucket, SettingName } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import type { ObjectStore } from "./object-store.ts";

/** `settings` names those that the command needs. Default: all. */
export async function requireBucket(
  engine: Pick<ObjectStore, "bucket">,
  name: string,
  settings?: readonly SettingName[],
): Promise<Bucket> {
  const bucket = await engine.bucket(name, settings);
  if (bucket === undefined) throw new StoreError("NoSuchBucket");
  return bucket;
}
