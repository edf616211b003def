// A backup or restore onto a full disk fails with a clear message and never leaves an incomplete
// result as valid.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openStore } from "../../../src/index.ts";
import { backUpStore, restoreStore, verifyBackup } from "../../../src/maintenance.ts";
import { BackupError } from "../../../src/model/backup.ts";
import { KiB, MiB } from "../../support/bodies.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { mountSmallDisk, type SmallDisk } from "../../support/disk/small-disk.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { everythingIn, openPlaces } from "./scene.ts";

async function onSmallDisk(t: TestContext, work: (disk: SmallDisk) => Promise<void>): Promise<void> {
  const disk = mountSmallDisk(await realpath(await temporaryDirectory(t)));
  try {
    if (disk.isSmall) await work(disk);
    else t.skip("no small disk can be mounted here");
  } finally {
    disk.remove();
  }
}

async function fill(data: string): Promise<void> {
  const store = await openStore(data);
  await store.createBucket("bucket");
  const bucket = store.bucket("bucket");
  const keys = Array.from({ length: 200 }, (_, i) => `${i}`);
  await Promise.all(keys.map((key) => bucket.put(`inline/${key}`, sampleBytes(4000))));
  await Promise.all(keys.map((key) => bucket.put(`file/${key}`, sampleBytes(20_000))));
  await store.close();
}

const isFull = (error: unknown) =>
  error instanceof BackupError && /The disk of .* is full/.test(error.message);

test("a backup onto a full disk fails with a clear message and keeps the previous backup", (t) =>
  onSmallDisk(t, async (disk) => {
    const { data, restored } = await openPlaces(t);
    const place = join(disk.directory, "backup");
    await fill(data);
    // Free space that is too small for the records, for the files, or for the last file.
    for (const room of [100 * KiB, 2 * MiB, 3 * MiB]) {
      disk.fill(room);
      await assert.rejects(backUpStore(data, place), isFull);
      await assert.rejects(restoreStore(place, restored), /never finished/);
      disk.empty();
      await rm(place, { recursive: true });
    }
    await backUpStore(data, place);
    const expected = await everythingIn(data);
    const store = await openStore(data);
    for (let i = 0; i < 50; i++) await store.bucket("bucket").put(`file/${i}`, sampleBytes(100_000));
    await store.close();
    disk.fill(3 * MiB);
    await assert.rejects(backUpStore(data, place), isFull);
    assert.deepEqual((await verifyBackup(place)).damages, []);
    await restoreStore(place, restored);
    assert.deepEqual(await everythingIn(restored), expected);
    disk.empty();
    const { copiedFiles } = await backUpStore(data, place);
    assert.ok(copiedFiles < 50, "files that were already copied are not copied again");
  }));

test("the directory of a restore that filled the disk cannot be opened until the restore is resumed", (t) =>
  onSmallDisk(t, async (disk) => {
    const { data, backup } = await openPlaces(t);
    const target = join(disk.directory, "data");
    await fill(data);
    await backUpStore(data, backup);
    for (const room of [300 * KiB, 3 * MiB]) {
      disk.fill(room);
      await assert.rejects(restoreStore(backup, target), isFull);
      assert.ok(existsSync(join(target, "restore.unfinished")));
      await assert.rejects(openStore(target), /was not finished/);
      disk.empty();
    }
    await restoreStore(backup, target);
    assert.deepEqual(await everythingIn(target), await everythingIn(data));
  }));
