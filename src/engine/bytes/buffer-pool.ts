// Bodies that come in among many others. A buffer for each would add up, and most of them only wait for their
// sender: so a few buffers serve all, and a body has one only from the moment its bytes are there until they are
// hashed and written. That takes as long as the disk, never as long as a sender.
import { allocate, copyTo } from "./byte-streams.ts";

export interface BufferPool {
  /** A buffer of shared memory, once one is free; in the order they were asked for. */
  acquire(): Promise<Buffer>;
  release(buffer: Buffer): void;
}

const bufferBytes = 64 * 1024;
/** More than the disk and the hashing threads can be busy with. */
const maxBuffers = 32;
/** Crumbs are kept until they are worth a turn. */
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

export interface PoolOptions {
  readonly pool: BufferPool;
  /** The first piece is at most so long. */
  readonly firstBytes: number;
  readonly release?: ((chunk: Uint8Array) => void) | undefined;
}

/** The same bytes in buffers that take turns. */
export async function* copyThroughPool(
  chunks: AsyncIterable<Uint8Array>,
  { pool, firstBytes, release }: PoolOptions,
): AsyncGenerator<Uint8Array> {
  const smallChunks = createSmallChunks();
  let maxBytes = firstBytes;

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
        // Whoever asks for what comes behind this piece is done with the one before.
        yield emptyChunk;
      }
    } finally {
      pool.release(buffer);
    }
  }

  for await (const chunk of chunks) {
    if (!smallChunks.keep(chunk)) yield* emit(chunk);
    release?.(chunk);
  }
  const last = smallChunks.all();
  if (last.length > 0) yield* emit(last);
}

/** Copies, since a sender may write into its chunk again. */
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
    /** False when they would be more than crumbs. */
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
