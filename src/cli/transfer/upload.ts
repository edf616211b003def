// Uploads a body of any size: a small body with a single put, a large body as a multipart upload
// with streamed parts. A failed or interrupted upload is aborted.
import type { ByteStream, WriteOptions } from "../../engine/engine.ts";
import { limits } from "../../model/limits.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { ObjectAddress } from "../store/object-address.ts";
import type { ObjectStore, UploadOperations } from "../store/object-store.ts";
import { type ByteReader, createByteReader } from "./byte-reader.ts";

const MiB = 1024 * 1024;

export const uploadSizes = {
  /** Files up to this size use a single put. */
  wholeFile: 100 * MiB,
  /** A stream of unknown length that is longer than this is uploaded in parts. */
  wholeStream: 64 * MiB,
  minPart: 64 * MiB,
} as const;

/** Returns the smallest part size with which `size` bytes fit into 10,000 equal parts. */
export function partBytesFor(size: number): number {
  const needed = Math.ceil(size / limits.partNumber);
  return Math.max(uploadSizes.minPart, Math.ceil(needed / MiB) * MiB);
}

export interface Upload {
  readonly engine: ObjectStore;
  readonly to: ObjectAddress;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Number of bytes; undefined when not known in advance. */
  readonly size: number | undefined;
  readonly options: WriteOptions;
  readonly signal: AbortSignal;
  onBytes(count: number): void;
}

export async function upload(given: Upload): Promise<ObjectRecord> {
  const reader = createByteReader(countBytes(given), given.signal);
  const { size, engine } = given;
  if (!hasUploads(engine)) {
    const bytes = reader.take(size === undefined ? Number.POSITIVE_INFINITY : size + 1);
    return putWhole(given, { length: size, ...toByteSource(bytes) });
  }
  if (size !== undefined) {
    if (size <= uploadSizes.wholeFile)
      return putWhole(given, { length: size, ...toByteSource(reader.take(size + 1)) });
    return uploadParts({ ...given, engine }, reader, partBytesFor(size), size);
  }
  const start = await collectStart(reader.take(uploadSizes.wholeStream));
  if (await reader.isAtEnd())
    return putWhole(given, { length: start.length, ...toByteSource(start.drain()) });
  const all = createByteReader(concatenate(start.drain(), reader), given.signal);
  // The length is unknown, so choose parts for the largest possible object.
  return uploadParts({ ...given, engine }, all, partBytesFor(limits.objectBytes));
}

function hasUploads(engine: ObjectStore): engine is ObjectStore & UploadOperations {
  return engine.createUpload !== undefined;
}

async function* countBytes({ chunks, onBytes }: Upload): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    onBytes(chunk.length);
    yield chunk;
  }
}

async function* concatenate(start: AsyncIterable<Uint8Array>, rest: ByteReader): AsyncGenerator<Uint8Array> {
  yield* start;
  yield* rest.take(Number.POSITIVE_INFINITY);
}

function toByteSource(bytes: AsyncIterable<Uint8Array>): Pick<ByteStream, "chunks" | "cancel"> {
  // `cancel` does nothing: the caller closes the underlying stream that it opened.
  return { chunks: () => bytes, cancel: async () => {} };
}

async function putWhole({ engine, to, options }: Upload, bytes: ByteStream): Promise<ObjectRecord> {
  const result = await engine.put(to.bucket, to.key, bytes, options);
  if (result.outcome !== "stored") throw new Error("A put without a condition was refused.");
  return result.record;
}

/** Exported for tests, which choose small parts. */
export async function uploadParts(
  { engine, to, options, signal }: Omit<Upload, "engine"> & { readonly engine: UploadOperations },
  reader: ByteReader,
  partBytes: number,
  size?: number,
): Promise<ObjectRecord> {
  const { bucket, key } = to;
  const { id } = await engine.createUpload(bucket, key, options);
  try {
    const parts: { number: number; etag: string }[] = [];
    for (let done = 0; !(await isDone(reader, done, size)); done += partBytes) {
      const number = parts.length + 1;
      const length = size === undefined ? undefined : Math.min(partBytes, size - done);
      const part = { length, ...toByteSource(reader.take(length ?? partBytes)) };
      const { etag } = await engine.uploadPart(bucket, { key, id }, number, part);
      parts.push({ number, etag });
    }
    signal.throwIfAborted();
    return await engine.completeUpload(bucket, { key, id }, parts);
  } catch (error) {
    await abort(engine, bucket, { key, id });
    throw error;
  }
}

async function isDone(reader: ByteReader, done: number, size: number | undefined): Promise<boolean> {
  return size === undefined ? reader.isAtEnd() : done >= size;
}

async function abort(
  engine: UploadOperations,
  bucket: string,
  name: { key: string; id: string },
): Promise<void> {
  try {
    await engine.abortUpload(bucket, name);
  } catch {
    // Ignore a failed abort: the upload's error is more useful, and the parts expire anyway.
  }
}

interface StreamStart {
  readonly length: number;
  /** Yields the bytes and releases each buffer. */
  drain(): AsyncIterable<Uint8Array>;
}

/** Copies chunks into large buffers: each tiny chunk could keep a much larger buffer in memory. */
async function collectStart(chunks: AsyncIterable<Uint8Array>): Promise<StreamStart> {
  const buffers: Buffer[] = [];
  let length = 0;
  let filled = MiB;
  for await (const chunk of chunks) {
    for (let taken = 0; taken < chunk.length; ) {
      if (filled === MiB) {
        buffers.push(Buffer.allocUnsafeSlow(MiB));
        filled = 0;
      }
      const part = chunk.subarray(taken, taken + MiB - filled);
      buffers.at(-1)!.set(part, filled);
      filled += part.length;
      taken += part.length;
      length += part.length;
    }
  }
  return {
    length,
    async *drain() {
      for (let buffer = buffers.shift(); buffer !== undefined; buffer = buffers.shift()) {
        yield buffers.length === 0 ? buffer.subarray(0, filled) : buffer;
      }
    },
  };
}
