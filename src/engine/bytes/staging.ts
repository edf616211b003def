// Stages a body as a separate blob. The bytes are hashed meanwhile, and encrypted if needed.
import { Buffer } from "node:buffer";
import type { StagedBlob } from "../blobs.ts";
import type { Context } from "../context.ts";
import { encrypt } from "../encryption/sealed-blocks.ts";
import { type Digests, startDigests } from "./digests.ts";
import type { IngestedBody, IngestOptions } from "./ingested-body.ts";
import { toInlineBody } from "./inline.ts";

/** A body in the engine's own buffers, so a script cannot change bytes after hashing. */
export interface BufferedBody<Chunks = AsyncIterable<Uint8Array>> {
  readonly chunks: Chunks;
  /** Whether the body is hashed in another thread. */
  readonly isLarge: boolean;
  /** Whether the buffers are shared with other bodies. */
  readonly isPooled: boolean;
  /** Hash operations in flight, by the memory that they read. */
  readonly hashing?: WeakMap<ArrayBufferLike, Promise<void>>;
  /** Called after the body is hashed and stored: its buffers can be reused. */
  release?(): void;
}

/** A body of unknown length that ends within the inline limit is returned inline, not staged. */
export async function stageOrInline(
  context: Context,
  body: BufferedBody<AsyncGenerator<Uint8Array>>,
  options: IngestOptions,
): Promise<IngestedBody> {
  const { chunks } = body;
  const first = await readFirstBytes(chunks, options.inlineBytes);
  if (first.isComplete) return toInlineBody(context, first.bytes!, options);
  try {
    return await stage(context, { ...body, chunks: prepend(first, chunks) }, options);
  } catch (error) {
    // If the adapter failed before it requested a chunk, the generator still holds a buffer.
    await chunks.return(undefined);
    throw error;
  }
}

export async function stage(
  context: Context,
  body: BufferedBody,
  { bucket, checksums = [], dataKey, part }: IngestOptions,
): Promise<IngestedBody> {
  const digests = startDigests(checksums, body.isLarge ? context.hashThreads : undefined);
  let blob: StagedBlob | undefined;
  try {
    const hashed = hashChunks(body, digests);
    blob = await context.blobs.stage(
      bucket,
      dataKey === undefined ? hashed : encrypt(context, dataKey, part, hashed),
    );
    const digest = await digests.finish();
    body.release?.();
    return { ...digest, storage: { blob } };
  } catch (error) {
    digests.abandon();
    await blob?.discard();
    throw error;
  }
}

/** Yields each chunk while it is being hashed. A buffer is reused only after its hash is done. */
async function* hashChunks(
  { chunks, isPooled, hashing }: BufferedBody,
  digests: Digests,
): AsyncGenerator<Uint8Array> {
  let previous: Promise<void> | undefined;
  for await (const chunk of chunks) {
    const hashed = chunk.length === 0 ? undefined : digests.update(chunk);
    // The error is thrown where the promise is awaited: some chunks later, or at the end.
    hashed?.catch(() => {});
    if (hashed !== undefined) hashing?.set(chunk.buffer, hashed);
    yield chunk;
    if (!isPooled) continue;
    await previous;
    previous = hashed;
  }
}

interface FirstBytes {
  /** Set to undefined after use, to free memory while the rest of the body is received. */
  bytes: Uint8Array | undefined;
  readonly isComplete: boolean;
}

/** Reads until the bytes exceed the inline limit or the body ends. */
async function readFirstBytes(chunks: AsyncGenerator<Uint8Array>, inlineBytes: number): Promise<FirstBytes> {
  const copies: Uint8Array[] = [];
  let size = 0;
  while (size <= inlineBytes) {
    const next = await chunks.next();
    if (next.done === true) return { bytes: Buffer.concat(copies), isComplete: true };
    // Copied, because the buffer of a chunk is reused.
    copies.push(new Uint8Array(next.value));
    size += next.value.length;
  }
  return { bytes: copies.length === 1 ? copies[0]! : Buffer.concat(copies), isComplete: false };
}

async function* prepend(first: FirstBytes, rest: AsyncGenerator<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield first.bytes!;
    first.bytes = undefined;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
