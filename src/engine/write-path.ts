// What every write has in common: the bucket must exist, the source is never left hanging, and a staged
// blob is kept or discarded by how the commit ends.
import type { Bucket, BucketRecord } from "../model/bucket.ts";
import { isOutcomeUnknown, StoreError } from "../model/errors.ts";
import { checkMetadata } from "../model/metadata.ts";
import { checkStorageClass, type Metadata } from "../model/object.ts";
import type { StagedBlob } from "./blobs.ts";
import type { IngestedBody } from "./bytes/ingested-body.ts";
import type { Context } from "./context.ts";
import type { ByteStream, Source, WriteOptions } from "./engine.ts";

export async function requireBucket(context: Context, name: string): Promise<Bucket> {
  const bucket = await context.records.bucket(name);
  if (bucket === undefined) throw new StoreError("NoSuchBucket");
  return bucket;
}

/** What a write says of the object, checked, with the bucket's storage class where it says none. */
export function resolveMetadata(options: WriteOptions, bucket: BucketRecord): Omit<Metadata, "encryption"> {
  const { httpMetadata = {}, customMetadata = new Map<string, string>() } = options;
  checkMetadata(httpMetadata, customMetadata);
  const storageClass =
    options.storageClass === undefined ? bucket.storageClass : checkStorageClass(options.storageClass);
  return { httpMetadata, customMetadata, storageClass };
}

/** Runs a write that takes the source; one that fails leaves nobody sending into nothing. */
export function cancelSourceOnFailure<T>(source: Source, write: () => Promise<T>): Promise<T> {
  return source instanceof Uint8Array ? write() : cancelOnFailure(source, write);
}

async function cancelOnFailure<T>(source: ByteStream, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    await source.cancel(error);
    throw error;
  }
}

export async function cancelSource(source: Source, reason: unknown): Promise<void> {
  if (!(source instanceof Uint8Array)) await source.cancel(reason);
}

/** Runs a commit that names what was taken in. Unless it is stored, the staged bytes go again. */
export async function commitOrDiscard<T extends { readonly outcome: string }>(
  { storage }: IngestedBody,
  commit: () => Promise<T>,
): Promise<T> {
  if ("inline" in storage) return commit();
  const { blob } = storage;
  try {
    const result = await commit();
    if (result.outcome === "stored") blob.keep();
    else await blob.discard();
    return result;
  } catch (error) {
    await discardAfterFailure(error, blob);
    throw error;
  }
}

/** Removes staged bytes after a commit failed. One whose outcome is unknown keeps them: recovery decides, by the records. */
export async function discardAfterFailure(error: unknown, blob: StagedBlob): Promise<void> {
  if (isOutcomeUnknown(error)) {
    blob.leaveForRecovery?.();
    return;
  }
  const discarded = blob.discard();
  // Storage that is away would keep the caller waiting once more. What stays is removed by recovery.
  if (error instanceof StoreError && error.isNotDone) discarded.catch(() => {});
  else await discarded;
}
