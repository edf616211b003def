// A damaged cache, a full disk and a folder that cannot be written: reads return the right bytes.
import assert from "node:assert/strict";
import { mkdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { read, write } from "../../../contracts/blob-backend/setup.ts";
import { assertBytes, sampleBytes } from "../../../support/bytes.ts";
import { mountSmallDisk } from "../../../support/disk/small-disk.ts";
import { temporaryDirectory } from "../../../support/stores.ts";
import { extent, MiB, openCacheScene } from "./scene.ts";

const flips = [0, 3, 4, 63, 64, 65, 70_000, extent / 2, extent + 63];

test("a damaged cached file is never served: it is removed, and the bytes are read and cached again", async (t) => {
  const scene = await openCacheScene(t);
  const cached = scene.open();
  const bytes = sampleBytes(extent);
  const [blob, other] = [await write(cached, bytes), await write(cached, sampleBytes(extent))];
  await read(cached, other);
  const [otherFile] = scene.files();
  assertBytes(await read(cached, blob), bytes);
  const file = scene.files().find((name) => name !== otherFile)!;
  const intact = await readFile(file);
  const damage: (() => Promise<void>)[] = [
    ...flips.map((position) => async () => {
      const changed = Buffer.from(intact);
      changed[position]! ^= 1;
      await writeFile(file, changed);
    }),
    () => truncate(file, 0),
    () => truncate(file, intact.length - 1),
    () => truncate(file, 30),
    () => writeFile(file, Buffer.alloc(intact.length)),
    async () => writeFile(file, await readFile(otherFile!)),
  ];
  for (const [i, change] of damage.entries()) {
    await change();
    assertBytes(await read(cached, blob), bytes, `damage ${i}`);
    assert.deepEqual(await readFile(file), intact, `damage ${i} is repaired`);
  }
  assert.equal(scene.metric("store_body_cache_lookups_total damaged"), damage.length);
  await truncate(file, 100);
  await rm(scene.blobFile(blob));
  await assert.rejects(read(cached, blob), { reason: "Damaged" });
  assert.deepEqual(scene.warnings, []);
});

test("a full disk of the cache is reported once, and reads continue without it until there is space", async (t) => {
  const disk = mountSmallDisk(await temporaryDirectory(t), 8 * MiB);
  try {
    if (!disk.isSmall) return t.skip("NOT TESTED: mounting a small file system needs root");
    const scene = await openCacheScene(t, disk.directory);
    const cached = scene.open({ suspendMilliseconds: 0 });
    const bytes = sampleBytes(extent);
    const blob = await write(cached, bytes);
    disk.fill(200_000);
    for (let i = 0; i < 3; i++) assertBytes(await read(cached, blob), bytes);
    assert.equal(scene.warnings.length, 1);
    assert.match(scene.warnings[0]!, /^The body cache in .* cannot be written: ENOSPC/);
    assert.deepEqual(scene.files(), [join(disk.directory, "ballast")]);
    disk.empty();
    assertBytes(await read(cached, blob), bytes);
    assert.equal(scene.files().length, 1);
    await cached.close();
  } finally {
    disk.remove();
  }
});

test("a cache that cannot be written is left alone for a while, without reading bodies twice", async (t) => {
  const folder = await temporaryDirectory(t);
  const file = join(folder, "file");
  await writeFile(file, "not a folder");
  const scene = await openCacheScene(t, file);
  const cached = scene.open();
  const bytes = sampleBytes(5000);
  const blob = await write(cached, bytes);
  for (let i = 0; i < 5; i++) assertBytes(await read(cached, blob), bytes);
  assert.equal(scene.warnings.length, 1);
  assert.equal(scene.backendReads.length, 6, "only the first read tries to write the cache");
});

test("a cached folder that was deleted while in use is created again", async (t) => {
  const scene = await openCacheScene(t);
  const cached = scene.open();
  const bytes = sampleBytes(5000);
  const blob = await write(cached, bytes);
  assertBytes(await read(cached, blob), bytes);
  await rm(scene.directory, { recursive: true });
  assertBytes(await read(cached, blob), bytes);
  assert.equal(scene.files().length, 1);
  assert.deepEqual(scene.warnings, []);
  await rm(scene.directory, { recursive: true });
  await mkdir(dirname(scene.directory), { recursive: true });
});
