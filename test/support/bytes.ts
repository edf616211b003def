// Creates sample bytes, splits them into chunks, collects them and compares them.
import assert from "node:assert/strict";

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

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await toArray(chunks));
}

/** Asserts that bytes are equal; reports the first differing offset, not a diff of megabytes. */
export function assertBytes(actual: Uint8Array, expected: Uint8Array, what = "the bytes"): void {
  if (Buffer.compare(actual, expected) === 0) return;
  const at = expected.findIndex((byte, i) => actual[i] !== byte);
  const where = at === -1 ? "after the end" : `at ${at}`;
  assert.fail(`${what}: ${actual.length} of ${expected.length} bytes, different ${where}`);
}
