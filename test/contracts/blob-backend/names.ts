// Blob backend contract: which blobs exist, their removal, and the leftovers of failed writes.
import assert from "node:assert/strict";
import { assertBytes, sampleBytes, toArray } from "../../support/bytes.ts";
import { block, type Chapter, newBucket, newPlace, read, write } from "./setup.ts";

export const names: Chapter = async (t, { shelf, other, left }) => {
  await t.test("two processes that open the same blob backend see the same backend id", () => {
    assert.match(shelf.id, /^[0-9a-f]{32}$/);
    assert.equal(shelf.id, other.id);
  });

  await t.test(
    "a removed blob is missing in all processes, other blobs stay, and removing it again succeeds",
    async () => {
      const bucket = newBucket();
      for (const size of [10, 9 * block]) {
        const bytes = sampleBytes(size);
        const gone = await write(shelf, bytes, newPlace(bucket));
        const stays = await write(shelf, bytes, newPlace(bucket));
        assert.equal(await other.has(gone), true);
        await shelf.remove(gone);
        await other.remove(gone);
        assert.equal(await shelf.has(gone), false);
        assert.equal(await other.has(gone), false);
        await assert.rejects(read(other, gone), /The stored data is damaged: .* is missing/);
        assertBytes(await read(other, stays), bytes);
        await shelf.remove(stays);
      }
      assert.equal(await left(bucket), 0);
    },
  );

  await t.test(
    "a write whose source fails rejects with the source's error, and its leftovers can be removed",
    async () => {
      for (const size of [10, 9 * block]) {
        const bucket = newBucket();
        const place = newPlace(bucket);
        const failure = new Error("the source failed");
        async function* source() {
          yield sampleBytes(size);
          throw failure;
        }
        await assert.rejects(shelf.write(place, source()), (error) => error === failure);
        await other.removeLeftovers(place);
        assert.equal(await left(bucket), 0);
        await other.removeLeftovers(place);
      }
    },
  );

  await t.test(
    "removeLeftovers removes a complete blob by bucket and name, and keeps other blobs",
    async () => {
      const bucket = newBucket();
      const kept = await write(shelf, sampleBytes(5 * block), newPlace(bucket));
      const blob = await write(shelf, sampleBytes(5 * block), newPlace(bucket));
      await shelf.removeLeftovers({ bucket: blob.bucket, name: blob.name });
      assert.equal(await shelf.has(blob), false);
      assert.equal(await shelf.has(kept), true);
    },
  );

  await t.test("a listing of a bucket contains all its blobs and no blobs of other buckets", async () => {
    const bucket = newBucket();
    assert.deepEqual(await toArray(shelf.all(bucket)), []);
    const sizes = [0, 1, block, 5 * block + 1, 2 * block, 700, 8 * block];
    const written = [];
    for (const size of sizes) written.push(await write(shelf, sampleBytes(size), newPlace(bucket)));
    await write(shelf, sampleBytes(9), newPlace(`${bucket}0`));
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
    const found = await toArray(other.all(bucket));
    assert.deepEqual(found.sort(byName), written.sort(byName));
  });

  await t.test("removeBucket removes an empty bucket and keeps a bucket with blobs", async () => {
    const bucket = newBucket();
    const blob = await write(shelf, sampleBytes(10), newPlace(bucket));
    await shelf.removeBucket(bucket);
    assertBytes(await read(other, blob), sampleBytes(10));
    await shelf.remove(blob);
    await shelf.removeBucket(bucket);
    await shelf.removeBucket(bucket);
    assert.deepEqual(await toArray(other.all(bucket)), []);
    const again = await write(shelf, sampleBytes(10), newPlace(bucket));
    assert.equal(await other.has(again), true);
  });
};
