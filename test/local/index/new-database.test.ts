// Databases of new buckets: complete files of their own, made without using up descriptors.
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openEngine } from "../../../src/open.ts";
import { temporaryDirectory } from "../../support/stores.ts";

/** Lists the open descriptors of this process, on Linux and on macOS. */
const descriptors = "/dev/fd";

test("creating many buckets leaves no descriptors open", async (t) => {
  const { engine } = await openEngine(await temporaryDirectory(t));
  t.after(() => engine.close());
  await engine.createBucket("first");
  const before = readdirSync(descriptors).length;
  const names = Array.from({ length: 100 }, (_, index) => `bucket-${index}`);
  await Promise.all(names.map((name) => engine.createBucket(name)));
  const opened = readdirSync(descriptors).length - before;
  assert.ok(opened < 20, `${opened} descriptors more for 100 buckets`);
});

test("every new bucket has a private database of its own, and no other file", async (t) => {
  const directory = await temporaryDirectory(t);
  const { engine } = await openEngine(directory);
  t.after(() => engine.close());
  for (const name of ["bucket-one", "bucket-two"]) await engine.createBucket(name);
  const folders = readdirSync(join(directory, "buckets")).map((id) => join(directory, "buckets", id));
  assert.equal(folders.length, 2);
  for (const folder of folders) {
    const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    assert.deepEqual(
      files.map(({ name }) => name).filter((name) => !/-(wal|shm)$/.test(name)),
      ["records.db"],
    );
    assert.equal(statSync(join(folder, "records.db")).mode & 0o777, 0o600);
  }
  await engine.put("bucket-one", "key", Buffer.from("one"));
  assert.equal(await engine.head("bucket-two", "key"), undefined);
  assert.equal((await engine.head("bucket-one", "key"))?.size, 3);
});
