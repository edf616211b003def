// Imports objects with their metadata, etag and parts. The source's checksums are verified before
// an object is stored. Unchanged objects are skipped, so an interrupted import can be resumed.
import { forEachLimit } from "../../../async/for-each-limit.ts";
import type { Engine, WriteOptions } from "../../../engine/engine.ts";
import { StoreError } from "../../../model/errors.ts";
import type { Key } from "../../../model/key.ts";
import { limits } from "../../../model/limits.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import { multipartEtag } from "../../../model/upload.ts";
import { CommandError } from "../../framework/command-error.ts";
import { isFatal, type SyncCounts, type TransferOptions } from "../sync/sync.ts";
import { upload } from "../upload.ts";
import {
  type ImportSource,
  type SourceBody,
  type SourceContent,
  type SourceObject,
  SourceUnavailable,
} from "./source.ts";

export interface ImportOptions extends TransferOptions {
  readonly engine: Engine;
  readonly source: ImportSource;
}

export interface ImportCounts extends SyncCounts {
  /** Copied objects for which the source has no checksum. */
  unverified: number;
}

const concurrency = 8;

export async function importObjects(options: ImportOptions, counts: ImportCounts): Promise<void> {
  const { source, signal, prefix, onEvent } = options;
  async function* all(): AsyncGenerator<SourceObject> {
    yield* source.objects();
  }
  await forEachLimit(all(), { concurrency, signal }, async (object) => {
    const key = prefix + object.key;
    try {
      const size = await importOne(options, counts, key, object);
      if (size === undefined) {
        counts.same++;
        return;
      }
      counts.copied++;
      counts.bytes += size;
      await onEvent({ kind: "copy", key, size });
    } catch (error) {
      signal.throwIfAborted();
      if (isFatal(error) || error instanceof SourceUnavailable) throw error;
      counts.failed++;
      await onEvent({ kind: "failed", key, error: explainDigestError(error) });
    }
  });
}

/** Returns the size of the object; undefined if the bucket already contains the same object. */
async function importOne(
  options: ImportOptions,
  counts: ImportCounts,
  key: Key,
  object: SourceObject,
): Promise<number | undefined> {
  const record = await options.engine.head(options.bucket, key);
  if (record?.size === object.size && record.etag === object.etag) return undefined;
  if (options.isDryRun && record?.size !== object.size) return object.size;
  const content = await object.read();
  const isVerified = content.checksums.length > 0 || content.parts !== undefined;
  if (options.isDryRun || (!isVerified && isNotOlder(record, object))) {
    content.cancel();
    return isNotOlder(record, object) && !isVerified ? undefined : object.size;
  }
  try {
    if (content.parts === undefined) await putWhole(options, key, object, content);
    else await putParts(options, key, object.etag, { ...content, parts: content.parts });
  } catch (error) {
    content.cancel();
    throw error;
  }
  if (!isVerified) counts.unverified++;
  return object.size;
}

/** Compares size and time, for objects whose etag is not a hash of the bytes. */
function isNotOlder(record: ObjectRecord | undefined, object: SourceObject): boolean {
  return record !== undefined && record.size === object.size && record.uploaded >= object.written;
}

async function putWhole(
  options: ImportOptions,
  key: Key,
  object: SourceObject,
  content: SourceContent,
): Promise<void> {
  const { engine, bucket, signal, onBytes } = options;
  const body = await content.openBody();
  if (object.size > limits.singleWriteBytes) {
    const given = {
      chunks: body.chunks(),
      size: object.size,
      options: writeOptions(content),
      signal,
      onBytes,
    };
    await upload({ engine, to: { bucket, key }, ...given });
    return;
  }
  const result = await engine.put(bucket, key, toByteStream(options, body), {
    ...writeOptions(content),
    checksums: content.checksums,
  });
  if (result.outcome !== "stored") throw new Error("A put without a condition was refused.");
}

/** Uploads the same parts as the source has. An equal etag then proves equal bytes. */
async function putParts(
  options: ImportOptions,
  key: Key,
  etag: string,
  content: SourceContent & { readonly parts: number },
): Promise<void> {
  const { engine, bucket } = options;
  const { id } = await engine.createUpload(bucket, key, writeOptions(content));
  try {
    const parts: { number: number; etag: string }[] = [];
    for (let number = 1; number <= content.parts; number++) {
      const body = await content.openBody(number);
      const part = await engine.uploadPart(bucket, { key, id }, number, toByteStream(options, body));
      parts.push({ number, etag: part.etag });
    }
    if (multipartEtag(parts.map((part) => part.etag)) !== etag) throw new StoreError("BadDigest");
    await engine.completeUpload(bucket, { key, id }, parts, { partSizes: "s3" });
  } catch (error) {
    await engine.abortUpload(bucket, { key, id }).catch(() => {
      // Ignore a failed abort: the upload's error is more useful, and the parts expire anyway.
    });
    throw error;
  }
}

function toByteStream({ signal, onBytes }: ImportOptions, { length, chunks, cancel }: SourceBody) {
  async function* watched(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks()) {
      signal.throwIfAborted();
      onBytes(chunk.length);
      yield chunk;
    }
  }
  return { length, chunks: watched, cancel: async () => cancel() };
}

function writeOptions({ httpMetadata, customMetadata, storageClass }: SourceContent): WriteOptions {
  return { httpMetadata, customMetadata, storageClass };
}

function explainDigestError(error: unknown): unknown {
  if (!(error instanceof StoreError) || !["BadDigest", "IncompleteBody"].includes(error.reason)) return error;
  return new CommandError("Its bytes do not match the source's checksum; it was not stored.", {
    cause: error,
  });
}
