// Reads a short body completely, into memory that grows with its bytes: a client may send each byte
// as a chunk of its own, and the object of a chunk takes a hundred times as much memory.
import { Buffer } from "node:buffer";

const initialBytes = 1024;

/** Returns the bytes of the body. Undefined if it is larger than `maxBytes`; the rest is not read. */
export async function collectBody(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer | undefined> {
  let buffer = Buffer.alloc(0);
  let size = 0;
  for await (const chunk of chunks) {
    const needed = size + chunk.length;
    if (needed > maxBytes) return undefined;
    if (needed > buffer.length) {
      const grown = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(needed, 2 * buffer.length, initialBytes)));
      buffer.copy(grown, 0, 0, size);
      buffer = grown;
    }
    buffer.set(chunk, size);
    size = needed;
  }
  return buffer.subarray(0, size);
}
