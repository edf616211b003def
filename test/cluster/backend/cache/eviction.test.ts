// The limits of the body cache: the least recently used extents are evicted, leftovers are removed.
import assert from "node:assert/strict";
import { mkdir, stat, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { test } from "node:test";
import type { BackendBlob } from "../../../../src/cluster/backend/backend.ts";
import { read, write } from "../../../contracts/blob-backend/setup.ts";
import { sampleBytes } from "../../../support/bytes.ts";
import { bytesOf, extent, MiB, openCacheScene } from "./scene.ts";

test("the cache stays below its size, and evicts what was not used for the longest time", async (t) => {
  const scene = await openCacheScene(t);
  const size = 4 * MiB;
  const bytes = sampleBytes(extent / 4);
  const cached = scene.open({ size, folders: 1 });
  const blobs: BackendBlob[] = [];
  for (let i = 0; i < 40; i++) {
    const blob = await write(cached, bytes);
    blobs.push(blob);
    await read(cached, blob);
    // Used after every other blob, so that it stays.
    await utimesOfFirst();
    assert.ok(bytesOf(scene.files()) <= size, `${scene.files().length} files after ${i + 1} bodies`);
  }
  await cached.close();
  const kept = scene.files().map((file) => basename(file).slice(0, 32));
  assert.ok(kept.length >= 8, `${kept.length} files`);
  const expected = [blobs[0]!, ...blobs.slice(1 - kept.length)].map(({ name }) => name);
  assert.deepEqual(kept.sort(), expected.sort());
  assert.equal(scene.metric("store_body_cache_evictions_total"), 40 - kept.length);

  /** A hit records the use once a minute, so the test sets the time of the file. */
  async function utimesOfFirst(): Promise<void> {
    const file = scene.files().find((name) => basename(name).startsWith(blobs[0]!.name));
    if (file !== undefined) await utimes(file, Date.now() / 1000 + 60, Date.now() / 1000 + 60);
  }
});

test("a body of many extents fits a cache of its size several times, however it is divided", async (t) => {
  const scene = await openCacheScene(t);
  const cached = scene.open({ size: 256 * MiB, folders: 64 });
  const bytes = Buffer.alloc(24 * extent, 7);
  const blob = await write(cached, bytes);
  await read(cached, blob);
  await read(cached, blob);
  assert.equal(scene.metric("store_body_cache_lookups_total miss"), 24);
  assert.equal(scene.metric("store_body_cache_lookups_total hit"), 24);
  assert.equal(scene.metric("store_body_cache_evictions_total"), 0);
});

test("a hit records the time of its use", async (t) => {
  const scene = await openCacheScene(t);
  const first = scene.open();
  const blob = await write(first, sampleBytes(5000));
  await read(first, blob);
  await first.close();
  const [file] = scene.files();
  await utimes(file!, 1000, 1000);
  const second = scene.open();
  await read(second, blob);
  await second.close();
  assert.ok((await stat(file!)).mtimeMs > 2_000_000);
});

test("opening a cache removes leftovers of crashed processes and what exceeds a reduced size, nothing else", async (t) => {
  const scene = await openCacheScene(t);
  const first = scene.open({ folders: 1 });
  const bytes = sampleBytes(extent / 4);
  for (let i = 0; i < 12; i++) await read(first, await write(first, bytes));
  await first.close();
  assert.equal(scene.files().length, 12);
  const folder = join(scene.directory, "bodies", "00");
  await mkdir(folder, { recursive: true });
  const name = `${"0".repeat(32)}-0-100`;
  const [old, fresh, foreign] = [`${name}.00000001.tmp`, `${name}.00000002.tmp`, "notes.txt"];
  for (const file of [old, fresh, foreign]) await writeFile(join(folder, file), "x");
  await utimes(join(folder, old), 1000, 1000);
  await utimes(join(folder, foreign), 1000, 1000);
  await scene.open({ size: 2 * MiB, folders: 1 }).close();
  const names = scene.files().map((file) => basename(file));
  assert.ok(!names.includes(old));
  assert.ok(names.includes(fresh) && names.includes(foreign));
  assert.ok(bytesOf(scene.files()) <= 2 * MiB);
});
