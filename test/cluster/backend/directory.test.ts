// The shelf in a directory that machines share.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { openBlobBackend } from "../../../src/cluster/open-backend.ts";
import { newPlace, read, write } from "../../contracts/blob-backend/setup.ts";
import { shelfContract } from "../../contracts/blob-backend.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { mountSmallDisk } from "../../support/disk/small-disk.ts";
import { temporaryDirectory } from "../../support/stores.ts";

shelfContract("a directory", async (t) => {
  const directory = await temporaryDirectory(t);
  const url = pathToFileURL(directory).href;
  return {
    shelf: await openBlobBackend(url, { marker: "make" }),
    other: await openBlobBackend(url),
    async change({ bucket, name }, _piece, how) {
      const path = join(directory, bucket, name.slice(0, 2), name);
      const changed = how(await readFile(path));
      await (changed === undefined ? rm(path) : writeFile(path, changed));
    },
    left: async (bucket) => filesIn(join(directory, bucket)),
  };
});

function filesIn(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}

test("a directory that is missing is never made, and one that was never set up is not taken for empty", async (t) => {
  const parent = await temporaryDirectory(t);
  const directory = join(parent, "mount");
  const url = pathToFileURL(directory).href;
  const missing = { reason: "ServiceUnavailable", message: /must exist and does not: mount it/ };
  await assert.rejects(openBlobBackend(url, { marker: "make" }), missing);
  await assert.rejects(openBlobBackend(url), missing);
  await mkdir(directory);
  await assert.rejects(openBlobBackend(url), { reason: "ServiceUnavailable", message: /store migrate/ });
  await writeFile(join(directory, "store-shelf"), "something else");
  await assert.rejects(openBlobBackend(url), { message: /does not hold the id of a store/ });
});

test("machines that set a directory up at once agree on its id", async (t) => {
  const url = pathToFileURL(await temporaryDirectory(t)).href;
  const shelves = await Promise.all(
    Array.from({ length: 8 }, () => openBlobBackend(url, { marker: "make" })),
  );
  assert.equal(new Set(shelves.map(({ id }) => id)).size, 1);
});

test("a mount that is away, or another one in its place, is told and never taken for missing bytes", async (t) => {
  const parent = await temporaryDirectory(t);
  const directory = join(parent, "mount");
  await mkdir(directory);
  const shelf = await openBlobBackend(pathToFileURL(directory).href, { marker: "make" });
  const blob = await write(shelf, sampleBytes(100));
  const work: Record<string, () => Promise<unknown>> = {
    read: () => read(shelf, blob),
    has: () => shelf.has(blob),
    remove: () => shelf.remove(blob),
    removeRemains: () => shelf.removeLeftovers(blob),
    write: () => write(shelf, sampleBytes(100), newPlace()),
    all: () => shelf.all(blob.bucket)[Symbol.asyncIterator]().next(),
  };
  async function assertAway(how: string): Promise<void> {
    for (const [what, run] of Object.entries(work)) {
      await assert.rejects(run(), { reason: "ServiceUnavailable" }, `${what}, ${how}`);
    }
  }
  await rename(directory, join(parent, "away"));
  await assertAway("gone");
  await mkdir(directory);
  await assertAway("the empty folder under a mount");
  await openBlobBackend(pathToFileURL(directory).href, { marker: "make" });
  await assertAway("the directory of another store");
  assert.deepEqual(readdirSync(directory), ["store-shelf"], "nothing was written there");
  await rm(directory, { recursive: true });
  await rename(join(parent, "away"), directory);
  assert.deepEqual(await read(shelf, blob), sampleBytes(100));
});

test("a name that is taken is never written over", async (t) => {
  const shelf = await openBlobBackend(pathToFileURL(await temporaryDirectory(t)).href, { marker: "make" });
  const blob = await write(shelf, sampleBytes(100));
  await assert.rejects(write(shelf, sampleBytes(50), blob), {
    reason: "ServiceUnavailable",
    message: /EEXIST/,
  });
  assert.deepEqual(await read(shelf, blob), sampleBytes(100));
});

test("a full disk is told as such, and the shelf goes on once there is room", async (t) => {
  const disk = mountSmallDisk(await temporaryDirectory(t), 8 * 1024 * 1024);
  try {
    if (disk.isSmall) await fillAndGoOn(pathToFileURL(disk.directory).href);
  } finally {
    disk.remove();
  }
});

async function fillAndGoOn(url: string): Promise<void> {
  const shelf = await openBlobBackend(url, { marker: "make" });
  const place = newPlace();
  await assert.rejects(write(shelf, sampleBytes(9 * 1024 * 1024), place), {
    reason: "InsufficientStorage",
    message: /is full: delete objects or add space/,
  });
  await shelf.removeLeftovers(place);
  const blob = await write(shelf, sampleBytes(1024 * 1024), newPlace(place.bucket));
  assert.deepEqual(await read(shelf, blob), sampleBytes(1024 * 1024));
}
