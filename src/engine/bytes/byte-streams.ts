// Helpers for byte streams: check a declared length, copy into buffers, regroup into blocks.
import { Buffer } from "node:buffer";
import { StoreError } from "../../model/errors.ts";
import type { ByteStream, Source } from "../engine.ts";

export function readChunks(source: Source): AsyncIterable<Uint8Array> {
  return source instanceof Uint8Array ? once(source) : readDeclared(source);
}

/** Yields the chunks of a stream. Throws if their total length differs from the declared length. */
async function* readDeclared(stream: ByteStream): AsyncGenerator<Uint8Array> {
  let seen = 0;
  for await (const chunk of stream.chunks()) {
    seen += chunk.length;
    checkNotLonger(stream, seen);
    yield chunk;
  }
  checkNotShorter(stream, seen);
}

export function checkNotLonger({ length }: ByteStream, seen: number): void {
  if (length === undefined || seen <= length) return;
  throw new StoreError("IncompleteBody", { detail: "The body is longer than its declared length." });
}

export function checkNotShorter({ length }: ByteStream, seen: number): void {
  if (length !== undefined && seen < length) throw new StoreError("IncompleteBody");
}

/** Reads a whole stream into one buffer. Chunks are copied, because the sender may reuse them. */
export async function readWhole(stream: ByteStream, length: number): Promise<Uint8Array> {
  const whole = Buffer.allocUnsafe(length);
  let filled = 0;
  for await (const chunk of readDeclared(stream)) {
    whole.set(chunk, filled);
    filled += chunk.length;
  }
  return whole;
}

export interface BufferRequest {
  readonly size: number;
  /** "shared" memory can be read by other threads without a copy. */
  readonly memory: "own" | "shared";
}

export function allocate({ size, memory }: BufferRequest): Buffer {
  return memory === "shared" ? Buffer.from(new SharedArrayBuffer(size)) : Buffer.allocUnsafeSlow(size);
}

/** Copies bytes. `set` is slow for shared memory if source and target are aligned differently. */
export function copyTo(target: Buffer, bytes: Uint8Array, at: number): void {
  if (!(target.buffer instanceof SharedArrayBuffer)) target.set(bytes, at);
  else if (bytes.length > 0) target.fill(bytes, at, at + bytes.length);
}

function fits({ length, buffer }: Buffer, { size, memory }: BufferRequest): boolean {
  return length === size && buffer instanceof SharedArrayBuffer === (memory === "shared");
}

export interface RingRequest extends BufferRequest {
  /** Number of buffers in the ring. */
  readonly buffers: number;
}

/** Returns a function that returns the next buffer; if the ring is full, it waits. */
export function createRing(
  nextRequest: () => RingRequest,
  whenFree: (buffer: Buffer) => Promise<void> | undefined,
  make: (request: BufferRequest) => Buffer = allocate,
): () => Promise<Buffer> {
  let issued: Buffer[] = [];
  return async () => {
    const request = nextRequest();
    issued = issued.filter((buffer) => fits(buffer, request));
    const isFull = issued.length >= request.buffers;
    const next = isFull ? issued.shift()! : make(request);
    if (isFull) await whenFree(next);
    issued.push(next);
    return next;
  };
}

/** Copies the bytes into buffers from `nextBuffer`. Every buffer except the last is full. */
export async function* refill(
  chunks: AsyncIterable<Uint8Array>,
  nextBuffer: () => Promise<Buffer>,
): AsyncGenerator<Uint8Array> {
  let block: Buffer | undefined;
  let filled = 0;
  for await (const chunk of chunks) {
    let taken = 0;
    while (taken < chunk.length) {
      block ??= await nextBuffer();
      const slice = chunk.subarray(taken, taken + block.length - filled);
      copyTo(block, slice, filled);
      filled += slice.length;
      taken += slice.length;
      if (filled === block.length) {
        yield block;
        block = undefined;
        filled = 0;
      }
    }
  }
  if (block !== undefined) yield block.subarray(0, filled);
}

/** Regroups chunks into blocks of `size`. A block is valid until two more are requested. */
export function rechunk(chunks: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  const nextBuffer = createRing(
    () => ({ size, memory: "own", buffers: 2 }),
    () => undefined,
  );
  return refill(chunks, nextBuffer);
}

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const collected: Uint8Array[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return collected.length === 1 ? collected[0]! : Buffer.concat(collected);
}

export async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
