// A body on its way in, piece by piece: in buffers of the engine's own, so that a script that writes into its chunk
// again cannot make hash and bytes disagree. Those of large bodies are shared with the hashing thread.
import { StoreError } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import type { Context } from "../context.ts";
import type { ByteStream, Source } from "../engine.ts";
import { copyThroughPool } from "./buffer-pool.ts";
import { allocate, type BufferRequest, createRing, once, type RingRequest, refill } from "./byte-streams.ts";
import type { Digests } from "./digests.ts";

export interface BufferPlan {
  /** Hashed in a thread beside. */
  readonly isLarge: boolean;
  /** Shares its buffers with other bodies. */
  readonly isPooled: boolean;
  /** By the memory they are in, pieces whose hash is under way. */
  readonly hashes: WeakMap<ArrayBufferLike, Promise<void>>;
  /** The memory it shares with the hashing thread. */
  shared: readonly Buffer[];
}

/** Bodies from this size on are hashed in a thread beside, as are those that do not say their size. */
const largeBytes = 512 * 1024;

/** Small bodies end in the first piece, so it stays small. */
const firstRequest: RingRequest = { size: 16 * 1024, memory: "own", buffers: 2 };

/** From so many at once on, bodies share their buffers; those that came before let go of larger ones. */
const highConcurrency = 32;
const highConcurrencyBytes = 64 * 1024;

export function planBuffers({ ingests }: Context, source: Source): BufferPlan {
  const isLarge = (source.length ?? Number.POSITIVE_INFINITY) >= largeBytes;
  return { isLarge, isPooled: ingests.active >= highConcurrency, hashes: new WeakMap(), shared: [] };
}

export async function* bufferBody(
  context: Context,
  source: Source,
  plan: BufferPlan,
): AsyncGenerator<Uint8Array> {
  const { isLarge, isPooled, hashes } = plan;
  const { ingests } = context;
  ingests.active++;
  try {
    if (isPooled) {
      const release = source instanceof Uint8Array ? undefined : source.release;
      yield* copyThroughPool(readChunks(source), {
        pool: ingests.bufferPool,
        firstBytes: 2 * limits.inlineBytes,
        release,
      });
      return;
    }
    let isFirst = true;
    const defaultRequest = chooseRequest(ingests.active, isLarge ? "large" : source.length!);
    const nextRequest = (): RingRequest => {
      const request = isFirst
        ? firstRequest
        : ingests.active > highConcurrency
          ? { ...defaultRequest, size: highConcurrencyBytes }
          : defaultRequest;
      isFirst = false;
      return request;
    };
    const make = (request: BufferRequest) => {
      if (request.memory === "own") return allocate(request);
      const buffer = takeSpare(request.size) ?? allocate(request);
      // Those of another size are out of use.
      plan.shared = [...plan.shared.filter(({ length }) => length === request.size), buffer];
      return buffer;
    };
    const nextBuffer = createRing(nextRequest, ({ buffer }) => hashes.get(buffer), make);
    if (isLarge && !(source instanceof Uint8Array) && source.directReader !== undefined) {
      yield* readDirect(source, nextBuffer);
    } else yield* refill(readChunks(source), nextBuffer);
  } finally {
    ingests.active--;
  }
}

/**
 * Large pieces while few streams come in. Of a large body several wait for their hash: sender, hash and disk seldom go
 * in step, and at its end the last sync is done before the hash.
 */
function chooseRequest(active: number, length: number | "large"): RingRequest {
  const size = active <= 4 ? 2 * 1024 * 1024 : 256 * 1024;
  if (length === "large") return { size, memory: "shared", buffers: 4 };
  return { size: Math.min(size, Math.max(length - firstRequest.size, 1)), memory: "own", buffers: 2 };
}

/** Shared memory of bodies that are in. The collector does not count it, and would leave it lying for long. */
const spareBuffers: Buffer[] = [];
const maxSpareBytes = 16 * 1024 * 1024;

function takeSpare(size: number): Buffer | undefined {
  const index = spareBuffers.findIndex(({ length }) => length === size);
  return index === -1 ? undefined : spareBuffers.splice(index, 1)[0];
}

/** For a body that is hashed and stored: the next may have its memory. */
export function releaseBuffers({ shared }: BufferPlan): void {
  spareBuffers.push(...shared);
  let totalBytes = spareBuffers.reduce((sum, { length }) => sum + length, 0);
  while (totalBytes > maxSpareBytes) totalBytes -= spareBuffers.shift()!.length;
}

function readChunks(source: Source): AsyncIterable<Uint8Array> {
  return source instanceof Uint8Array ? once(source) : readDeclared(source);
}

/** A stream that said how long it is must be exactly that long. */
export async function* readDeclared(stream: ByteStream): AsyncGenerator<Uint8Array> {
  let seen = 0;
  for await (const chunk of stream.chunks()) {
    seen += chunk.length;
    if (stream.length !== undefined && seen > stream.length) {
      throw new StoreError("IncompleteBody", { detail: "The body went on behind its declared length." });
    }
    yield chunk;
  }
  if (stream.length !== undefined && seen < stream.length) throw new StoreError("IncompleteBody");
}

/** Written by its sender into the buffers themselves. */
function readDirect(stream: ByteStream, nextBuffer: () => Promise<Buffer>): AsyncGenerator<Uint8Array> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const reader = stream.directReader!();
    try {
      for (let isEnd = false; !isEnd; ) {
        const buffer = await nextBuffer();
        const count = await reader.readInto(buffer);
        isEnd = count < buffer.length;
        if (count > 0) yield isEnd ? buffer.subarray(0, count) : buffer;
      }
    } finally {
      reader.close();
    }
  }
  return readDeclared({ ...stream, chunks });
}

/** Passes the pieces on while they are hashed; a piece's buffer is used again only when its hash is done. */
export async function* hashChunks(
  chunks: AsyncIterable<Uint8Array>,
  digests: Digests,
  { isPooled, hashes }: BufferPlan,
): AsyncGenerator<Uint8Array> {
  let previous: Promise<void> | undefined;
  for await (const chunk of chunks) {
    const hashed = chunk.length === 0 ? undefined : digests.update(chunk);
    // Told when it is awaited, some pieces later, or at the end.
    hashed?.catch(() => {});
    if (hashed !== undefined) hashes.set(chunk.buffer, hashed);
    yield chunk;
    if (!isPooled) continue;
    await previous;
    previous = hashed;
  }
}
