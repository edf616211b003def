// Sweeps do not open buckets in which the last sweep found nothing to do and nothing changed since.
import assert from "node:assert/strict";
import { existsSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createEngine } from "../../../src/engine/create.ts";
import { openLocal } from "../../../src/local/open.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const day = 24 * 3600 * 1000;
const longAgo = new Date("2001-01-01");

/** Opens an engine on a directory that counts the buckets whose garbage a sweep reads. */
async function openCounting(t: TestContext) {
  const directory = await temporaryDirectory(t);
  const { records, blobs } = await openLocal(directory);
  const swept: string[] = [];
  const garbage: typeof records.garbage = (bucket, after, limit) => {
    swept.push(bucket);
    return records.garbage(bucket, after, limit);
  };
  const clock = { time: Date.now() };
  const engine = createEngine({ records: { ...records, garbage }, blobs, now: () => clock.time });
  t.after(() => engine.close());
  for (const name of ["one", "two"]) await engine.createBucket(name);
  return {
    engine,
    clock,
    /** Sweeps as if the last changes of the files were long ago. Returns the opened buckets. */
    async sweep(): Promise<string[]> {
      for (const id of readdirSync(join(directory, "buckets"))) {
        for (const name of ["records.db", "records.db-wal"]) {
          const path = join(directory, "buckets", id, name);
          if (existsSync(path)) utimesSync(path, longAgo, longAgo);
        }
      }
      swept.length = 0;
      await engine.sweep();
      return [...new Set(swept)].sort();
    },
  };
}

test("a bucket in which a sweep found nothing to do is not opened again until it changes", async (t) => {
  const { engine, sweep } = await openCounting(t);
  assert.deepEqual(await sweep(), ["one", "two"]);
  assert.deepEqual(await sweep(), []);
  await engine.put("two", "a", Buffer.from("a"));
  assert.deepEqual(await sweep(), ["two"]);
  assert.deepEqual(await sweep(), []);
  await engine.deleteBucket("one");
  await engine.createBucket("one");
  assert.deepEqual(await sweep(), ["one"]);
});

test("a bucket with an open upload is swept again when the upload expires", async (t) => {
  const { engine, clock, sweep } = await openCounting(t);
  await engine.createUpload("one", "key");
  await sweep();
  assert.deepEqual(await sweep(), []);
  clock.time += 8 * day;
  assert.deepEqual(await sweep(), ["one"]);
  assert.deepEqual((await engine.listUploads("one")).uploads, []);
});

test("the rules of a bucket that does not change still expire its objects", async (t) => {
  const { engine, clock, sweep } = await openCounting(t);
  await engine.put("one", "old", Buffer.from("a"));
  await engine.changeSettings("one", {
    lifecycle: [{ id: "r", prefix: "", isEnabled: true, expire: { days: 1 } }],
  });
  await sweep();
  clock.time += 3 * day;
  assert.deepEqual(await sweep(), ["one"]);
  assert.equal(await engine.head("one", "old"), undefined);
});

test("garbage that a reader uses is removed by a later sweep, although the bucket does not change", async (t) => {
  const { engine, sweep } = await openCounting(t);
  const upload = await engine.createUpload("one", "key");
  const parts = [];
  for (const number of [1, 2, 3])
    parts.push(await engine.uploadPart("one", upload, number, Buffer.alloc(300_000, number)));
  await engine.completeUpload("one", upload, parts);
  const got = await engine.get("one", "key");
  assert.ok(got.outcome === "found");
  await engine.delete("one", ["key"]);
  await sweep();
  await sweep();
  assert.deepEqual(await sweep(), ["one"]);
  await got.bytes.cancel();
  await sweep();
  await sweep();
  assert.deepEqual(await sweep(), []);
});
