// Tests of the blob backend in a shared directory.
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

test("a missing blob directory is not created, and a directory that was never set up is refused", async (t) => {
  const parent = await temporaryDirectory(t);
  const directory = join(parent, "mount");
  const url = pathToFileURL(directory).href;
  const missing = { reason: "ServiceUnavailable", message: /does not exist: mount it/ };
  await assert.rejects(openBlobBackend(url, { marker: "make" }), missing);
  await assert.rejects(openBlobBackend(url), missing);
  await mkdir(directory);
  await assert.rejects(openBlobBackend(url), { reason: "ServiceUnavailable", message: /store migrate/ });
  await writeFile(join(directory, "store-shelf"), "something else");
  await assert.rejects(openBlobBackend(url), { message: /does not hold the id of a store/ });
});

test("machines that set up a blob directory concurrently agree on its id", async (t) => {
  const url = pathToFileURL(await temporaryDirectory(t)).href;
  const shelves = await Promise.all(
    Array.from({ length: 8 }, () => openBlobBackend(url, { marker: "make" })),
  );
  assert.equal(new Set(shelves.map(({ id }) => id)).size, 1);
});

test("an unmounted or wrong blob directory is reported as unavailable, not as missing blobs", async (t) => {
  const parent = await temporaryDirectory(t);
  const directory = join(parent, "mount");
  await mkdir(directory);
  const backend = await openBlobBackend(pathToFileURL(directory).href, { marker: "make" });
  const blob = await write(backend, sampleBytes(100));
  const work: Record<string, () => Promise<unknown>> = {
    read: () => read(backend, blob),
    has: () => backend.has(blob),
    remove: () => backend.remove(blob),
    removeLeftovers: () => backend.removeLeftovers(blob),
    write: () => write(backend, sampleBytes(100), newPlace()),
    all: () => backend.all(blob.bucket)[Symbol.asyncIterator]().next(),
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
  assert.deepEqual(await read(backend, blob), sampleBytes(100));
});

test("the blob directory never overwrites an existing blob", async (t) => {
  const backend = await openBlobBackend(pathToFileURL(await temporaryDirectory(t)).href, { marker: "make" });
  const blob = await write(backend, sampleBytes(100));
  await assert.rejects(write(backend, sampleBytes(50), blob), {
    reason: "ServiceUnavailable",
    message: /EEXIST/,
  });
  assert.deepEqual(await read(backend, blob), sampleBytes(100));
});

test("a full blob directory is reported as InsufficientStorage, and works again once there is space", async (t) => {
  const disk = mountSmallDisk(await temporaryDirectory(t), 8 * 1024 * 1024);
  try {
    if (disk.isSmall) await fillAndGoOn(pathToFileURL(disk.directory).href);
  } finally {
    disk.remove();
  }
});

async function fillAndGoOn(url: string): Promise<void> {
  const backend = await openBlobBackend(url, { marker: "make" });
  const place = newPlace();
  await assert.rejects(write(backend, sampleBytes(9 * 1024 * 1024), place), {
    reason: "InsufficientStorage",
    message: /is full: delete objects or add space/,
  });
  await backend.removeLeftovers(place);
  const blob = await write(backend, sampleBytes(1024 * 1024), newPlace(place.bucket));
  assert.deepEqual(await read(backend, blob), sampleBytes(1024 * 1024));
}
