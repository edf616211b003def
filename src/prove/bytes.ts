// Collects and compares bytes.
import assert from "node:assert/strict";

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const found: Uint8Array[] = [];
  for await (const chunk of chunks) found.push(chunk);
  return Buffer.concat(found);
}

/** Asserts that bytes are equal; reports the first differing offset, not a diff of megabytes. */
export function assertBytes(actual: Uint8Array, expected: Uint8Array, what = "the bytes"): void {
  if (Buffer.compare(actual, expected) === 0) return;
  const at = expected.findIndex((byte, i) => actual[i] !== byte);
  const where = at === -1 ? "after the end" : `at ${at}`;
  assert.fail(`${what}: ${actual.length} of ${expected.length} bytes, different ${where}`);
}
