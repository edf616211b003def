// Blobs contract: staging, keeping, opening and removing blobs.
import assert from "node:assert/strict";
import { assertBytes, collect, inChunks, sampleBytes, toArray } from "../../support/bytes.ts";
import { type Chapter, named, notNamed } from "./setup.ts";

export const lifetimes: Chapter = async (t, { blobs, createBucket, newBucket }) => {
  await t.test("a blob is listed only in its own bucket, both before and after keep is called", async () => {
    const { bucket, stage, left } = await newBucket();
    await createBucket("other");
    assert.deepEqual(await left(), []);
    const kept = await stage(sampleBytes(10));
    const staged = await blobs.stage(bucket, inChunks(sampleBytes(0), 1));
    const elsewhere = await blobs.stage("other", inChunks(sampleBytes(10), 3));
    assert.deepEqual(await left(), [kept.id, staged.id].sort());
    assert.deepEqual(await toArray(blobs.all("other")), [elsewhere.id]);
  });

  await t.test("blobs written concurrently have different ids", async () => {
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

  await t.test("a discarded blob is removed", async () => {
    const { bucket, stage, left } = await newBucket();
    const kept = await stage(sampleBytes(100));
    const staged = await blobs.stage(bucket, inChunks(sampleBytes(70_000), 999));
    await staged.discard();
    assert.deepEqual(await left(), [kept.id]);
    assert.equal(await blobs.open(bucket, [staged], notNamed), undefined);
  });

  await t.test("a stage whose source fails leaves no blob and rejects with the source's error", async () => {
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

  await t.test("a removed blob is not listed, and removing it again succeeds", async () => {
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

  await t.test("opening a missing blob that a record references fails", async () => {
    const { bucket, stage } = await newBucket();
    const [lost, there] = [await stage(sampleBytes(10)), await stage(sampleBytes(10))];
    await blobs.remove(bucket, [lost.id]);
    for (const group of [[lost], [there, lost]]) {
      await assert.rejects(
        async () => {
          const reader = await blobs.open(bucket, group, named);
          assert.notEqual(reader, undefined, "undefined would mean that no record names the blobs");
          await collect(reader!.read(lost, { offset: 0, length: 10 })).finally(() => reader!.close());
        },
        { name: "StoreError" },
      );
    }
  });

  await t.test("an open blob stays readable while it is removed", async () => {
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

  await t.test("no blob of a body is removed while a reader of the body is open", async () => {
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

  await t.test("two blobs stay readable until closed if they are removed meanwhile", async () => {
    const { bucket, stage, reading, left } = await newBucket();
    const bytes = sampleBytes(70_000);
    const group = [await stage(bytes), await stage(bytes)];
    const ids = group.map(({ id }) => id);
    const reader = await reading(...group);
    await blobs.remove(bucket, ids);
    for (const blob of group) {
      assertBytes(await collect(reader.read(blob, { offset: 0, length: blob.size })), bytes);
    }
    await reader.close();
    await blobs.remove(bucket, ids);
    assert.deepEqual(await left(), []);
    assert.equal(await blobs.open(bucket, group, notNamed), undefined);
  });

  // Adapters may open one or two blobs without a lookup if they stay readable, so these have three.
  await t.test("a blob that no record references is not opened and can be removed", async () => {
    const { bucket, stage, left } = await newBucket();
    const group = [await stage(sampleBytes(10)), await stage(sampleBytes(10)), await stage(sampleBytes(10))];
    assert.equal(await blobs.open(bucket, group, notNamed), undefined);
    const ids = group.map(({ id }) => id);
    assert.equal(await blobs.remove(bucket, ids), true);
    assert.equal(await blobs.open(bucket, group, notNamed), undefined);
    assert.deepEqual(await left(), []);
  });

  await t.test("a blob is not removed while open looks up its record", async () => {
    const { bucket, stage } = await newBucket();
    const bytes = sampleBytes(70_000);
    const group = [await stage(bytes), await stage(bytes), await stage(bytes)];
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

  await t.test(
    "open rejects with the error of a failed record lookup, and the blobs can then be removed",
    async () => {
      const { bucket, stage } = await newBucket();
      const group = [
        await stage(sampleBytes(10)),
        await stage(sampleBytes(10)),
        await stage(sampleBytes(10)),
      ];
      const failure = new Error("the records cannot be asked");
      const asking = blobs.open(bucket, group, () => Promise.reject(failure));
      await assert.rejects(asking, (error) => error === failure);
      const ids = group.map(({ id }) => id);
      assert.equal(await blobs.remove(bucket, ids), true);
    },
  );
};
