// Blobs contract: a read returns the written bytes, for any range.
import assert from "node:assert/strict";
import fc from "fast-check";
import { assertBytes, collect, inChunks, sampleBytes } from "../../support/bytes.ts";
import { blockBytes, type Chapter } from "./setup.ts";

const edgeSizes = [0, 1, blockBytes - 1, blockBytes, blockBytes + 1, 3 * 1024 * 1024 + 17];

export const contents: Chapter = async (t, { blobs, newBucket }) => {
  for (const size of edgeSizes) {
    await t.test(`a blob of ${size} bytes is read as it was written, in chunks of any size`, async () => {
      const { stage, reading } = await newBucket();
      const bytes = sampleBytes(size);
      const chunkSizes =
        size > blockBytes * 2 ? [65_521, 1_000_003, size] : [7, 4099, blockBytes, blockBytes + 1];
      for (const chunkSize of chunkSizes) {
        const blob = await stage(bytes, chunkSize);
        assert.equal(blob.size, size);
        const reader = await reading(blob);
        assertBytes(await collect(reader.read(blob, { offset: 0, length: size })), bytes);
      }
    });
  }

  await t.test("a blob written in empty chunks and chunks of one byte is stored correctly", async () => {
    const { bucket, reading } = await newBucket();
    const empty = new Uint8Array(0);
    const bytes = sampleBytes(300);
    async function* source() {
      yield empty;
      for await (const chunk of inChunks(bytes, 1)) {
        yield chunk;
        yield empty;
      }
    }
    const blob = await blobs.stage(bucket, source());
    assert.equal(blob.size, 300);
    const reader = await reading(blob);
    assertBytes(await collect(reader.read(blob, { offset: 0, length: 300 })), bytes);
  });

  await t.test(
    "reading a range returns exactly its bytes at every block boundary and at both ends of the blob",
    async () => {
      const { stage, reading } = await newBucket();
      for (const size of edgeSizes) {
        const bytes = sampleBytes(size);
        const blob = await stage(bytes, 100_000);
        const reader = await reading(blob);
        for (const [offset, length] of rangesOf(size)) {
          const found = await collect(reader.read(blob, { offset, length }));
          assertBytes(found, bytes.subarray(offset, offset + length), `${length} at ${offset} of ${size}`);
        }
      }
    },
  );

  await t.test(
    "reading into the caller's buffer places each chunk at its offset within the requested range",
    async () => {
      const { stage, reading } = await newBucket();
      const bytes = sampleBytes(3 * 1024 * 1024 + 17);
      const blob = await stage(bytes, 100_000);
      const reader = await reading(blob);
      for (const [offset, length] of rangesOf(bytes.length)) {
        const into = new Uint8Array(length);
        let filled = 0;
        for await (const chunk of reader.read(blob, { offset, length }, into)) {
          if (chunk.buffer === into.buffer) assert.equal(chunk.byteOffset, filled);
          else into.set(chunk, filled);
          filled += chunk.length;
        }
        assert.equal(filled, length);
        assertBytes(into, bytes.subarray(offset, offset + length), `${length} at ${offset}`);
      }
    },
  );

  await t.test("reading a random range of a blob returns exactly the bytes of the range", async () => {
    const { stage, reading } = await newBucket();
    const bytes = sampleBytes(5 * blockBytes + 123);
    const blob = await stage(bytes, 77_777);
    const reader = await reading(blob);
    const range = fc
      .tuple(fc.nat(bytes.length), fc.nat(bytes.length))
      .map(([a, b]) => ({ offset: Math.min(a, b), length: Math.abs(a - b) }));
    await fc.assert(
      fc.asyncProperty(range, async ({ offset, length }) => {
        const found = await collect(reader.read(blob, { offset, length }));
        assertBytes(found, bytes.subarray(offset, offset + length));
      }),
      { numRuns: 60 },
    );
  });

  await t.test("one reader can be used for sequential, concurrent and abandoned reads", async () => {
    const { stage, reading } = await newBucket();
    const bytes = sampleBytes(10 * blockBytes);
    const blob = await stage(bytes, blockBytes);
    const reader = await reading(blob);
    for await (const chunk of reader.read(blob, { offset: 0, length: bytes.length })) {
      assertBytes(chunk, bytes.subarray(0, chunk.length));
      break;
    }
    const whole = { offset: 0, length: bytes.length };
    const all = await Promise.all([1, 2, 3].map(() => collect(reader.read(blob, whole))));
    for (const found of all) assertBytes(found, bytes);
  });

  await t.test("a reader opened for several blobs can read each of them", async () => {
    const { stage, reading } = await newBucket();
    const bodies = [sampleBytes(0), sampleBytes(70_000), sampleBytes(1), sampleBytes(65_536)];
    const group = await Promise.all(bodies.map((bytes) => stage(bytes)));
    const reader = await reading(...group);
    for (const [i, blob] of group.entries()) {
      const whole = { offset: 0, length: blob.size };
      assertBytes(await collect(reader.read(blob, whole)), bodies[i]!);
    }
    const last = group[3]!;
    assert.deepEqual(
      await collect(reader.read(last, { offset: 65_530, length: 6 })),
      bodies[3]!.subarray(-6),
    );
  });
};

/** Returns ranges at both ends of the blob and on both sides of every block boundary. */
function rangesOf(size: number): [offset: number, length: number][] {
  const marks = [0, 1, blockBytes - 1, blockBytes, blockBytes + 1, 2 * blockBytes, size - 1, size];
  const inside = [...new Set(marks)].filter((mark) => mark >= 0 && mark <= size);
  return inside.flatMap((from) =>
    inside.filter((to) => to >= from).map((to): [number, number] => [from, to - from]),
  );
}
