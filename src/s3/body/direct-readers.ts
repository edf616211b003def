// Decodes and verifies large bodies on their way into the engine's buffers, without a promise and a
// buffer for each chunk.
import { createHash } from "node:crypto";
import type { DirectReader } from "../../engine/engine.ts";
import type { ChunkDecoder } from "./aws-chunked.ts";

/**
 * Bytes that are read and hashed at a time: they stay in the processor's cache, and other requests
 * of the process wait a fraction of a millisecond at most.
 */
const stepBytes = 256 * 1024;

/** Reads an aws-chunked body. Large chunks are read without a copy, small ones many at a time. */
export function readChunkedInto(reader: DirectReader, decoder: ChunkDecoder): DirectReader {
  let encoded: Buffer | undefined;
  let isEnd = false;

  /** Reads bytes of a large chunk into the caller's buffer; returns their number. */
  async function readChunk(into: Buffer): Promise<number> {
    const count = await reader.readInto(into);
    isEnd = count < into.length;
    if (count > 0) decoder.accept(into.subarray(0, count));
    return count;
  }

  async function readEncoded(): Promise<void> {
    encoded ??= Buffer.allocUnsafeSlow(stepBytes);
    const count = await reader.readInto(encoded);
    isEnd = count < encoded.length;
    decoder.feed(encoded.subarray(0, count));
  }

  return {
    async readInto(into) {
      let filled = 0;
      while (filled < into.length) {
        const bytes = decoder.take(into.length - filled);
        if (bytes !== undefined) {
          // `fill` instead of `set`, which is many times slower for shared memory.
          into.fill(bytes, filled, filled + bytes.length);
          filled += bytes.length;
          continue;
        }
        if (isEnd) {
          decoder.end();
          break;
        }
        const isLarge = Math.min(decoder.missingBytes(), into.length - filled) >= stepBytes;
        if (isLarge) filled += await readChunk(into.subarray(filled, filled + stepBytes));
        else await readEncoded();
      }
      return filled;
    },
    close: () => reader.close(),
  };
}

/** Hashes a body as it is read. Calls `check` with the SHA-256 in hex before the body ends. */
export function hashInto(reader: DirectReader, check: (hash: string) => void): DirectReader {
  const hash = createHash("sha256");
  return {
    async readInto(into) {
      let filled = 0;
      while (filled < into.length) {
        const step = into.subarray(filled, filled + stepBytes);
        const count = await reader.readInto(step);
        if (count > 0) hash.update(step.subarray(0, count));
        filled += count;
        if (count === step.length) continue;
        check(hash.digest("hex"));
        break;
      }
      return filled;
    },
    close: () => reader.close(),
  };
}
