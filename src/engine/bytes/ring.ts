// Ingests a body through its own ring of buffers. A hashing thread reads the buffers of a large
// body.
import type { Buffer } from "node:buffer";
import type { Context } from "../context.ts";
import type { Source } from "../engine.ts";
import {
  allocate,
  type BufferRequest,
  createRing,
  type RingRequest,
  readChunks,
  refill,
} from "./byte-streams.ts";
import type { IngestedBody, IngestOptions } from "./ingested-body.ts";
import { firstBuffer, highConcurrency, highConcurrencyBytes, isLarge, planRing } from "./plan.ts";
import { stageOrInline } from "./staging.ts";

export function ingestThroughRing(
  context: Context,
  source: Source,
  options: IngestOptions,
): Promise<IngestedBody> {
  const fill = (nextBuffer: () => Promise<Buffer>) => refill(readChunks(source), nextBuffer);
  return ingestInRing(context, { length: source.length, fill }, options);
}

export interface RingSource {
  readonly length: number | undefined;
  /** Yields the chunks, which are in the buffers that `nextBuffer` returns. */
  fill(nextBuffer: () => Promise<Buffer>): AsyncGenerator<Uint8Array>;
}

export function ingestInRing(
  context: Context,
  { length, fill }: RingSource,
  options: IngestOptions,
): Promise<IngestedBody> {
  const { ingests } = context;
  const hashing = new WeakMap<ArrayBufferLike, Promise<void>>();
  let shared: readonly Buffer[] = [];

  const make = (request: BufferRequest) => {
    if (request.memory === "own") return allocate(request);
    const buffer = ingests.spareBuffers.take(request.size) ?? allocate(request);
    // Drop buffers of another size: the ring no longer uses them.
    shared = [...shared.filter((other) => other.length === request.size), buffer];
    return buffer;
  };

  async function* chunks(): AsyncGenerator<Uint8Array> {
    ingests.activeStreams++;
    try {
      const size = planRing(length, ingests.activeStreams);
      let isFirst = true;
      const nextRequest = (): RingRequest => {
        if (!isFirst)
          return ingests.activeStreams > highConcurrency ? { ...size, size: highConcurrencyBytes } : size;
        isFirst = false;
        return firstBuffer;
      };
      yield* fill(createRing(nextRequest, ({ buffer }) => hashing.get(buffer), make));
    } finally {
      ingests.activeStreams--;
    }
  }

  const release = () => ingests.spareBuffers.add(shared);
  const body = { chunks: chunks(), isLarge: isLarge(length), isPooled: false, hashing, release };
  return stageOrInline(context, body, options);
}

/** Shared memory kept for later bodies, because the garbage collector would free it late. */
export interface SpareBuffers {
  take(size: number): Buffer | undefined;
  add(buffers: readonly Buffer[]): void;
}

const maxSpareBytes = 16 * 1024 * 1024;

export function createSpareBuffers(): SpareBuffers {
  const spare: Buffer[] = [];
  return {
    take(size) {
      const index = spare.findIndex(({ length }) => length === size);
      return index === -1 ? undefined : spare.splice(index, 1)[0];
    },
    add(buffers) {
      spare.push(...buffers);
      let totalBytes = spare.reduce((sum, { length }) => sum + length, 0);
      while (totalBytes > maxSpareBytes) totalBytes -= spare.shift()!.length;
    },
  };
}
