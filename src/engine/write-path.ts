// Steps shared by all writes: the bucket must exist, a failed write cancels its source, and a
// staged blob is kept or discarded depending on the outcome of the commit.
import type { Bucket } from "../model/bucket.ts";
import { isOutcomeUnknown, StoreError } from "../model/errors.ts";
import { checkRetentionEnd } from "../model/lock.ts";
import { checkMetadata, checkPassthrough } from "../model/metadata.ts";
import { checkStorageClass, type Metadata } from "../model/object.ts";
import { checkTags, maxObjectTags } from "../model/tags.ts";
import type { StagedBlob } from "./blobs.ts";
import type { IngestedBody } from "./bytes/ingested-body.ts";
import type { Context } from "./context.ts";
import type { ByteStream, Source, WriteOptions } from "./engine.ts";

export async function requireBucket(context: Context, name: string): Promise<Bucket> {
  const bucket = await context.records.bucket(name);
  if (bucket === undefined) throw new StoreError("NoSuchBucket");
  return bucket;
}

/** Returns the validated metadata of a write. Default storage class: the bucket's. */
export function resolveMetadata(
  context: Context,
  options: WriteOptions,
  bucket: Bucket,
): Omit<Metadata, "encryption"> {
  const { httpMetadata = {}, customMetadata = new Map<string, string>() } = options;
  checkMetadata(httpMetadata, customMetadata);
  const storageClass =
    options.storageClass === undefined ? bucket.storageClass : checkStorageClass(options.storageClass);
  const { tags, lock, passthrough } = options;
  if (tags === undefined && lock === undefined && passthrough === undefined)
    return { httpMetadata, customMetadata, storageClass };
  if (passthrough !== undefined) checkPassthrough(passthrough);
  return {
    ...{ httpMetadata, customMetadata, storageClass },
    ...resolveTagsAndLock(context, options, bucket),
    ...(passthrough === undefined || passthrough.size === 0 ? {} : { passthrough }),
  };
}

function resolveTagsAndLock(
  context: Context,
  { tags, lock }: WriteOptions,
  { settings }: Bucket,
): Pick<Metadata, "tags" | "lock"> {
  if (tags !== undefined) checkTags(tags, maxObjectTags);
  const hasLock = lock?.retention !== undefined || lock?.legalHold !== undefined;
  if (hasLock && settings.objectLock === undefined) {
    throw new StoreError("InvalidBucketState", { detail: "Object Lock is not enabled for the bucket." });
  }
  if (lock?.retention !== undefined) checkRetentionEnd(lock.retention, context.now());
  return { ...(tags === undefined || tags.size === 0 ? {} : { tags }), ...(hasLock ? { lock } : {}) };
}

/** Runs a write that reads the source. Cancels the source if the write fails. */
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

/** Commits a record for the body. Discards the staged blob unless the outcome is "stored". */
export function commitOrDiscard<T extends { readonly outcome: string }>(
  { storage }: IngestedBody,
  commit: () => Promise<T>,
): Promise<T> {
  return "inline" in storage ? commit() : commitOrDiscardBlob(storage.blob, commit);
}

async function commitOrDiscardBlob<T extends { readonly outcome: string }>(
  blob: StagedBlob,
  commit: () => Promise<T>,
): Promise<T> {
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

/** Discards a staged blob. If the outcome is unknown, recovery decides based on the records. */
export async function discardAfterFailure(error: unknown, blob: StagedBlob): Promise<void> {
  if (isOutcomeUnknown(error)) {
    blob.leaveForRecovery?.();
    return;
  }
  const discarded = blob.discard();
  // If the storage is unavailable, do not wait for another timeout. Recovery removes the blob.
  if (error instanceof StoreError && error.isNotDone) discarded.catch(() => {});
  else await discarded;
}
