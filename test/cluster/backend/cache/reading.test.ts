// Reads through the body cache: the same bytes as from the backend, which is asked once.
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { describe, test } from "node:test";
import fc from "fast-check";
import { contents } from "../../../contracts/blob-backend/contents.ts";
import { names } from "../../../contracts/blob-backend/names.ts";
import { read, write } from "../../../contracts/blob-backend/setup.ts";
import { assertBytes, collect, sampleBytes } from "../../../support/bytes.ts";
import { extent, filesIn, MiB, openCacheScene } from "./scene.ts";

describe("a blob backend with a cache fulfils the contract of a blob backend", () => {
  for (const [title, chapter] of Object.entries({ contents, names })) {
    test(`a blob backend with a cache fulfils the contract of ${title}`, async (t) => {
      const scene = await openCacheScene(t);
      await chapter(t, {
        shelf: scene.open(),
        other: scene.open(),
        // Damage of stored bytes is found by reads without the cache, which have tests of their own.
        change: () => Promise.reject(new Error("not supported")),
        left: async (bucket) => {
          const folder = new URL(`${scene.url}/${bucket}`).pathname;
          return filesIn(folder).length;
        },
      });
    });
  }
});

test("a body is read from the backend once, and then from the cache, also after a restart", async (t) => {
  const scene = await openCacheScene(t);
  const bytes = sampleBytes(2 * extent + 12_345);
  const first = scene.open();
  const blob = await write(first, bytes);
  assertBytes(await read(first, blob), bytes);
  assert.equal(scene.backendReads.length, 3);
  assert.equal(scene.metric("store_body_cache_lookups_total hit"), 0);
  assert.equal(scene.metric("store_body_cache_bytes_total written"), bytes.length);
  await rm(scene.blobFile(blob));
  assertBytes(await read(first, blob), bytes);
  await first.close();
  assertBytes(await read(scene.open(), blob), bytes);
  assert.equal(scene.backendReads.length, 3);
  assert.equal(scene.metric("store_body_cache_lookups_total hit"), 6);
  await assert.rejects(collect(first.readUncached(blob, { offset: 0, length: blob.size })), {
    reason: "Damaged",
  });
});

test("a range returns exactly its bytes, from the backend, from the cache, and into a given buffer", async (t) => {
  const scene = await openCacheScene(t);
  const cached = scene.open();
  const bytes = sampleBytes(3 * extent + 70_001);
  const blob = await write(cached, bytes);
  const edges = [0, 1, 65_535, 65_536, extent - 1, extent, extent + 1, 3 * extent, bytes.length];
  const position = fc.oneof(fc.constantFrom(...edges), fc.nat(bytes.length));
  await fc.assert(
    fc.asyncProperty(position, position, fc.boolean(), async (a, b, hasBuffer) => {
      const [offset, end] = [Math.min(a, b), Math.max(a, b)];
      const into = hasBuffer ? Buffer.alloc(end - offset) : undefined;
      const found = await collect(cached.read(blob, { offset, length: end - offset }, into));
      assertBytes(found, bytes.subarray(offset, end));
      if (into !== undefined) assertBytes(into, found);
    }),
    { numRuns: 60 },
  );
});

test("a short range of a long blob copies one extent to the cache, and a very long range none", async (t) => {
  const scene = await openCacheScene(t);
  const bytes = sampleBytes(10 * extent);
  const cached = scene.open({ size: 32 * MiB, folders: 1 });
  const blob = await write(cached, bytes);
  const range = { offset: 5 * extent + 100, length: 1024 };
  assertBytes(await read(cached, blob, range), bytes.subarray(range.offset, range.offset + range.length));
  assert.deepEqual(scene.backendReads, [`${blob.name} ${5 * extent} ${extent}`]);
  assert.equal(scene.files().length, 1);
  assertBytes(await read(cached, blob), bytes);
  assert.equal(scene.files().length, 1, "a range above an eighth of the cache is not cached");
  assert.equal(scene.metric("store_body_cache_lookups_total bypass"), 1);
});

test("a hundred concurrent reads of a body that is not cached read it from the backend once", async (t) => {
  const scene = await openCacheScene(t);
  const cached = scene.open();
  const bytes = sampleBytes(extent);
  const blob = await write(cached, bytes);
  const found = await Promise.all(Array.from({ length: 100 }, () => read(cached, blob)));
  for (const one of found) assertBytes(one, bytes);
  assert.equal(scene.backendReads.length, 1);
});

test("more concurrent misses than the cache copies at a time are read past it", async (t) => {
  const scene = await openCacheScene(t);
  const cached = scene.open();
  const bytes = sampleBytes(5000);
  const blobs = [];
  for (let i = 0; i < 100; i++) blobs.push(await write(cached, bytes));
  const found = await Promise.all(blobs.map((blob) => read(cached, blob)));
  for (const one of found) assertBytes(one, bytes);
  assert.equal(scene.backendReads.length, 100);
  assert.ok(scene.files().length >= 32, `${scene.files().length} files`);
});

test("a reader that stops does not disturb others, and a reader of a lost blob gets the backend's error", async (t) => {
  const scene = await openCacheScene(t);
  const cached = scene.open();
  const bytes = sampleBytes(4 * extent);
  const [blob, lost] = [await write(cached, bytes), await write(cached, bytes)];
  const stopped = cached.read(blob, { offset: 0, length: blob.size });
  const whole = read(cached, blob);
  await stopped.next();
  await stopped.return(undefined);
  assertBytes(await whole, bytes);
  await rm(scene.blobFile(lost));
  await assert.rejects(read(cached, lost), { reason: "Damaged" });
});
