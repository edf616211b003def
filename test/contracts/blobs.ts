// The contract of the Blobs port: bytes written once, read by range, removed, for any implementation.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import type { BlobReader, Blobs, StagedBlob, StoredBlob } from "../../src/engine/blobs.ts";
import { assertBytes, collect, inChunks, sampleBytes, toArray } from "../support/bytes.ts";

export interface OpenedBlobs {
  readonly blobs: Blobs;
  /** Bytes have a place once their bucket exists. */
  createBucket(name: string): Promise<void>;
}

const blockBytes = 65_536;
const edgeSizes = [0, 1, blockBytes - 1, blockBytes, blockBytes + 1, 3 * 1024 * 1024 + 17];
const named = async () => true;
const notNamed = async () => false;

export function blobsContract(name: string, open: (t: TestContext) => Promise<OpenedBlobs>): void {
  test(`blobs in ${name}`, async (t) => {
    const readers: BlobReader[] = [];
    // Asked for before the blobs are opened, so that it comes before they are closed.
    t.after(() => Promise.all(readers.map((reader) => reader.close())));
    const { blobs, createBucket } = await open(t);
    let buckets = 0;

    /** A bucket of its own for each test, with what most of them do in it. */
    async function newBucket() {
      const bucket = `bucket-${++buckets}`;
      await createBucket(bucket);
      return {
        bucket,
        async stage(bytes: Uint8Array, chunkSize = 1000): Promise<StagedBlob> {
          const staged = await blobs.stage(bucket, inChunks(bytes, chunkSize));
          staged.keep();
          return staged;
        },
        /** A reader of blobs that are there, closed at the end. */
        async reading(...group: StoredBlob[]): Promise<BlobReader> {
          const reader = await blobs.open(bucket, group, named);
          assert(reader !== undefined, "the blobs are there");
          readers.push(reader);
          return reader;
        },
        left: async () => (await toArray(blobs.all(bucket))).sort(),
      };
    }

    for (const size of edgeSizes) {
      await t.test(
        `a blob of ${size} bytes is read as it was written, in whatever chunks it came`,
        async () => {
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
        },
      );
    }

    await t.test("empty chunks and single bytes make no difference", async () => {
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

    await t.test("a range gives exactly its bytes, at every edge of a block and of the blob", async () => {
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
    });

    await t.test("any range gives exactly its bytes", async () => {
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

    await t.test(
      "one reader serves many reads, one after another and at once, also ones left early",
      async () => {
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
      },
    );

    await t.test("blobs that are one body are read through one reader, each by itself", async () => {
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

    await t.test("every blob there is is listed, kept or not, in its own bucket", async () => {
      const { bucket, stage, left } = await newBucket();
      await createBucket("other");
      assert.deepEqual(await left(), []);
      const kept = await stage(sampleBytes(10));
      const staged = await blobs.stage(bucket, inChunks(sampleBytes(0), 1));
      const elsewhere = await blobs.stage("other", inChunks(sampleBytes(10), 3));
      assert.deepEqual(await left(), [kept.id, staged.id].sort());
      assert.deepEqual(await toArray(blobs.all("other")), [elsewhere.id]);
    });

    await t.test("blobs written at once have names of their own", async () => {
      const { stage, reading, left } = await newBucket();
      const bodies = Array.from({ length: 30 }, (_, i) => sampleBytes(i * 1000));
      const staged = await Promise.all(bodies.map((bytes) => stage(bytes)));
      assert.equal(new Set(staged.map(({ id }) => id)).size, 30);
      assert.equal((await left()).length, 30);
      for (const [i, blob] of staged.entries()) {
        const reader = await reading(blob);
        assertBytes(await collect(reader.read(blob, { offset: 0, length: blob.size })), bodies[i]!);
      }
    });

    await t.test("a discarded blob is gone", async () => {
      const { bucket, stage, left } = await newBucket();
      const kept = await stage(sampleBytes(100));
      const staged = await blobs.stage(bucket, inChunks(sampleBytes(70_000), 999));
      await staged.discard();
      assert.deepEqual(await left(), [kept.id]);
      assert.equal(await blobs.open(bucket, [staged], notNamed), undefined);
    });

    await t.test("a source that fails leaves nothing behind, and its own error is told", async () => {
      const { bucket, left } = await newBucket();
      for (const size of [0, 1, 65_536, 3_000_000]) {
        const failure = new Error(`The sender broke off after ${size} bytes`);
        async function* source() {
          yield* inChunks(sampleBytes(size), 50_000);
          throw failure;
        }
        await assert.rejects(blobs.stage(bucket, source()), (error) => error === failure);
        assert.deepEqual(await left(), []);
      }
    });

    await t.test("a removed blob is gone, and removing it again is as good", async () => {
      const { bucket, stage, left } = await newBucket();
      const blob = await stage(sampleBytes(70_000));
      const other = await stage(sampleBytes(70_000));
      assert.equal(await blobs.remove(bucket, [blob.id]), true);
      assert.deepEqual(await left(), [other.id]);
      assert.equal(await blobs.open(bucket, [blob], notNamed), undefined);
      assert.equal(await blobs.remove(bucket, [blob.id]), true);
      const group = [await stage(sampleBytes(1)), blob, await stage(sampleBytes(1))];
      assert.equal(
        await blobs.remove(
          bucket,
          group.map(({ id }) => id),
        ),
        true,
      );
      assert.deepEqual(await left(), [other.id]);
    });

    await t.test(
      "blobs that the records name but that are not there are an error, never an absence",
      async () => {
        const { bucket, stage } = await newBucket();
        const [lost, there] = [await stage(sampleBytes(10)), await stage(sampleBytes(10))];
        await blobs.remove(bucket, [lost.id]);
        for (const group of [[lost], [there, lost]]) {
          await assert.rejects(
            async () => {
              const reader = await blobs.open(bucket, group, named);
              assert.notEqual(reader, undefined, "undefined says that no record names them");
              await collect(reader!.read(lost, { offset: 0, length: 10 })).finally(() => reader!.close());
            },
            { name: "StoreError" },
          );
        }
      },
    );

    await t.test("what is opened stays readable whatever is removed meanwhile", async () => {
      const { bucket, stage, reading, left } = await newBucket();
      const bytes = sampleBytes(3_000_000);
      const blob = await stage(bytes, 100_000);
      const reader = await reading(blob);
      const begun = reader.read(blob, { offset: 0, length: bytes.length })[Symbol.asyncIterator]();
      const first = await begun.next();
      assert(first.done !== true);
      await blobs.remove(bucket, [blob.id]);
      const rest = await collect({ [Symbol.asyncIterator]: () => begun });
      assertBytes(Buffer.concat([first.value, rest]), bytes);
      assertBytes(await collect(reader.read(blob, { offset: 5, length: 5 })), bytes.subarray(5, 10));
      await reader.close();
      assert.equal(await blobs.remove(bucket, [blob.id]), true);
      assert.deepEqual(await left(), []);
    });

    await t.test("a group is not removed while a reader holds it", async () => {
      const { bucket, stage, reading, left } = await newBucket();
      const bytes = sampleBytes(70_000);
      const group = [await stage(bytes), await stage(bytes), await stage(bytes)];
      const ids = group.map(({ id }) => id);
      const [one, two] = [await reading(...group), await reading(...group)];
      assert.equal(await blobs.remove(bucket, ids), false);
      await one.close();
      await one.close();
      assert.equal(await blobs.remove(bucket, ids), false);
      for (const blob of group) {
        assertBytes(await collect(two.read(blob, { offset: 0, length: blob.size })), bytes);
      }
      await two.close();
      assert.equal(await blobs.remove(bucket, ids), true);
      assert.deepEqual(await left(), []);
    });

    await t.test("a group that no record names any more is not opened, and not held", async () => {
      const { bucket, stage, left } = await newBucket();
      const group = [await stage(sampleBytes(10)), await stage(sampleBytes(10))];
      assert.equal(await blobs.open(bucket, group, notNamed), undefined);
      const ids = group.map(({ id }) => id);
      assert.equal(await blobs.remove(bucket, ids), true);
      assert.equal(await blobs.open(bucket, group, notNamed), undefined);
      assert.deepEqual(await left(), []);
    });

    await t.test("a group is held for its reader from the moment the records are asked", async () => {
      const { bucket, stage } = await newBucket();
      const bytes = sampleBytes(70_000);
      const group = [await stage(bytes), await stage(bytes)];
      const ids = group.map(({ id }) => id);
      const removals: boolean[] = [];
      const reader = await blobs.open(bucket, group, async () => {
        removals.push(await blobs.remove(bucket, ids));
        return true;
      });
      assert.deepEqual(removals, [false]);
      assert(reader !== undefined);
      assertBytes(await collect(reader.read(group[1]!, { offset: 0, length: 70_000 })), bytes);
      await reader.close();
      assert.equal(await blobs.remove(bucket, ids), true);
    });

    await t.test("when asking the records fails the error is told and nothing stays held", async () => {
      const { bucket, stage } = await newBucket();
      const group = [await stage(sampleBytes(10)), await stage(sampleBytes(10))];
      const failure = new Error("the records cannot be asked");
      const asking = blobs.open(bucket, group, () => Promise.reject(failure));
      await assert.rejects(asking, (error) => error === failure);
      const ids = group.map(({ id }) => id);
      assert.equal(await blobs.remove(bucket, ids), true);
    });
  });
}

/** Offsets and lengths around the first and last byte and both sides of every block's edge. */
function rangesOf(size: number): [offset: number, length: number][] {
  const marks = [0, 1, blockBytes - 1, blockBytes, blockBytes + 1, 2 * blockBytes, size - 1, size];
  const inside = [...new Set(marks)].filter((mark) => mark >= 0 && mark <= size);
  return inside.flatMap((from) =>
    inside.filter((to) => to >= from).map((to): [number, number] => [from, to - from]),
  );
}
