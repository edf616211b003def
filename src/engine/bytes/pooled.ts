// Ingests one of many concurrent bodies through a few shared buffers. A body has a buffer only
// while its bytes are hashed and written, never while it waits for its sender.
import { Buffer } from "node:buffer";
import { limits } from "../../model/limits.ts";
import type { Context } from "../context.ts";
import type { Source } from "../engine.ts";
import { allocate, copyTo, readChunks } from "./byte-streams.ts";
import type { IngestedBody, IngestOptions } from "./ingested-body.ts";
import { isLarge } from "./plan.ts";
import { stageOrInline } from "./staging.ts";

export interface BufferPool {
  /** Returns a buffer of shared memory. If none is free, callers wait in order. */
  acquire(): Promise<Buffer>;
  release(buffer: Buffer): void;
}

const bufferBytes = 64 * 1024;
/** More buffers than the disk and the hashing threads can use at the same time. */
const maxBuffers = 32;
/** Smaller chunks are collected up to this size: a pooled buffer for each would be wasteful. */
const smallChunkBytes = 8 * 1024;

export function createBufferPool(): BufferPool {
  const free: Buffer[] = [];
  const waiting: ((buffer: Buffer) => void)[] = [];
  let made = 0;
  return {
    async acquire() {
      const buffer = free.pop();
      if (buffer !== undefined) return buffer;
      if (made < maxBuffers) {
        made++;
        return allocate({ size: bufferBytes, memory: "shared" });
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    release(buffer) {
      const next = waiting.shift();
      if (next === undefined) free.push(buffer);
      else next(buffer);
    },
  };
}

const emptyChunk = new Uint8Array();

export function ingestPooled(
  context: Context,
  source: Source,
  options: IngestOptions,
): Promise<IngestedBody> {
  const body = { isLarge: isLarge(source.length), isPooled: true };
  return stageOrInline(context, { ...body, chunks: copyThroughPool(context, source) }, options);
}

async function* copyThroughPool({ ingests }: Context, source: Source): AsyncGenerator<Uint8Array> {
  const pool = ingests.bufferPool;
  const smallChunks = createSmallChunks();
  const release = source instanceof Uint8Array ? undefined : source.release;
  // The first chunk is short: it is read before it is known whether the body is stored inline.
  let maxBytes = 2 * limits.inlineBytes;

  async function* emit(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    const buffer = await pool.acquire();
    try {
      for (let at = 0; at < bytes.length; ) {
        const prefixBytes = smallChunks.moveTo(buffer);
        const slice = bytes.subarray(at, at + Math.max(0, Math.min(maxBytes, buffer.length) - prefixBytes));
        copyTo(buffer, slice, prefixBytes);
        at += slice.length;
        maxBytes = buffer.length;
        yield buffer.subarray(0, prefixBytes + slice.length);
        // By requesting the next chunk, the consumer has finished with the previous chunk.
        yield emptyChunk;
      }
    } finally {
      pool.release(buffer);
    }
  }

  ingests.activeStreams++;
  try {
    for await (const chunk of readChunks(source)) {
      if (!smallChunks.keep(chunk)) yield* emit(chunk);
      release?.(chunk);
    }
    const last = smallChunks.all();
    if (last.length > 0) yield* emit(last);
  } finally {
    ingests.activeStreams--;
  }
}

/** Collects copies of chunks, because a sender may reuse its chunk. */
function createSmallChunks() {
  let collected: Uint8Array[] = [];
  let size = 0;
  const empty = () => {
    const all = collected;
    collected = [];
    size = 0;
    return all;
  };
  return {
    /** Returns false if the chunk is too large to be added. */
    keep(chunk: Uint8Array): boolean {
      if (size + chunk.length > smallChunkBytes) return false;
      collected.push(new Uint8Array(chunk));
      size += chunk.length;
      return true;
    },
    moveTo(buffer: Buffer): number {
      let at = 0;
      for (const chunk of empty()) {
        copyTo(buffer, chunk, at);
        at += chunk.length;
      }
      return at;
    },
    all: () => Buffer.concat(empty()),
  };
}
