// Creates sample bytes, splits them into chunks, collects them and compares them.
import { assertBytes, collect } from "../../src/prove/bytes.ts";

export { assertBytes, collect };

/** Returns bytes that differ from block to block, so that a wrong offset is detected. */
export function sampleBytes(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >>> 8) * 7 + (i >>> 16) * 101) & 255;
  return bytes;
}

export async function* inChunks(bytes: Uint8Array, size: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export async function toArray<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
