// Blob backend contract: a read returns the written bytes, for any range.
import assert from "node:assert/strict";
import fc from "fast-check";
import { assertBytes, collect, inChunks, sampleBytes } from "../../support/bytes.ts";
import { block, type Chapter, newPlace, read, write } from "./setup.ts";

const edgeSizes = [0, 1, block - 1, block, block + 1, 2 * block, 4 * block + 1, 3 * 1024 * 1024 + 17];

export const contents: Chapter = async (t, { shelf, other }) => {
  for (const size of edgeSizes) {
    await t.test(`a blob of ${size} bytes is read as it was written, also by another process`, async () => {
      const bytes = sampleBytes(size);
      const chunkSizes = size > 3 * block ? [65_521, 1_000_003] : [977, block, block + 1];
      for (const chunkSize of chunkSizes) {
        const blob = await write(shelf, bytes, newPlace(), chunkSize);
        assert.equal(blob.size, size);
        assertBytes(await read(shelf, blob), bytes);
        assertBytes(await read(other, blob), bytes);
      }
    });
  }

  await t.test(
    "reading a range returns exactly its bytes at every block boundary and at both ends of the blob",
    async () => {
      for (const size of [1, block, block + 1, 4 * block + 1]) {
        const bytes = sampleBytes(size);
        const blob = await write(shelf, bytes);
        for (const [offset, length] of rangesOf(size)) {
          const found = await read(shelf, blob, { offset, length });
          assertBytes(found, bytes.subarray(offset, offset + length), `${length} at ${offset} of ${size}`);
        }
      }
    },
  );

  await t.test("a read into a given buffer fills it with exactly the bytes of the range", async () => {
    const sizes = fc.integer({ min: 1, max: 6 * block });
    await fc.assert(
      fc.asyncProperty(
        sizes,
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 1, max: 2 * block }),
        async (...given) => {
          const [size, from, upTo, chunkSize] = given;
          const bytes = sampleBytes(size);
          const blob = await write(shelf, bytes, newPlace(), Math.max(chunkSize, size >> 6));
          const offset = from % size;
          const length = 1 + (upTo % (size - offset));
          const into = new Uint8Array(length);
          let at = 0;
          for await (const chunk of shelf.read(blob, { offset, length }, into)) {
            assert.equal(chunk.buffer, into.buffer);
            assert.equal(chunk.byteOffset, at);
            at += chunk.length;
          }
          assert.equal(at, length);
          assertBytes(into, bytes.subarray(offset, offset + length));
        },
      ),
      { numRuns: 25 },
    );
  });

  await t.test("a blob written in empty chunks and chunks of one byte is stored correctly", async () => {
    const bytes = sampleBytes(300);
    async function* source() {
      yield new Uint8Array();
      for await (const chunk of inChunks(bytes, 1)) {
        yield chunk;
        yield new Uint8Array();
      }
    }
    const blob = await shelf.write(newPlace(), source());
    assertBytes(await read(shelf, blob), bytes);
  });

  await t.test("a source may reuse a chunk's memory after two more chunks were requested", async () => {
    const bytes = sampleBytes(40 * block + 5);
    async function* source() {
      // Chunks may be in memory that other threads share.
      const turns = [new SharedArrayBuffer(50_000), new SharedArrayBuffer(50_000)].map((one) =>
        Buffer.from(one),
      );
      let turn = 0;
      for await (const chunk of inChunks(bytes, 50_000)) {
        const place = turns[turn++ % 2]!;
        place.fill(0xee);
        place.set(chunk);
        yield place.subarray(0, chunk.length);
      }
    }
    const blob = await shelf.write(newPlace(), source());
    assertBytes(await read(shelf, blob), bytes);
  });

  await t.test("a buffer that a reader released is never used by two readers at the same time", async () => {
    const bytes = sampleBytes(24 * block);
    const blob = await write(shelf, bytes);
    const reading = Array.from({ length: 4 }, async () => {
      let at = 0;
      for await (const chunk of shelf.read(blob, { offset: 0, length: bytes.length })) {
        await Promise.resolve();
        assertBytes(chunk, bytes.subarray(at, at + chunk.length));
        at += chunk.length;
        shelf.release(chunk);
      }
      assert.equal(at, bytes.length);
    });
    await Promise.all(reading);
  });

  await t.test("a reader of a blob may stop at any chunk without affecting other readers", async () => {
    const bytes = sampleBytes(40 * block);
    const blob = await write(shelf, bytes);
    const staying = collect(shelf.read(blob, { offset: 0, length: bytes.length }));
    for (let stop = 0; stop < 3; stop++) {
      const leaving = shelf.read(blob, { offset: 0, length: bytes.length });
      for (let seen = 0; seen < stop; seen++) await leaving.next();
      await leaving.return(undefined);
      assert.equal((await leaving.next()).done, true);
    }
    assertBytes(await staying, bytes);
  });
};

function rangesOf(size: number): [number, number][] {
  const edges = [0, 1, block - 1, block, block + 1, 2 * block, size - 1, size].filter(
    (at) => at >= 0 && at <= size,
  );
  return edges.flatMap((from) =>
    edges.filter((to) => to > from).map((to): [number, number] => [from, to - from]),
  );
}
