// Copies of a store with quotas: a bucket that is above its quota is copied whole, and each later run
// too.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createCopyContext } from "../../src/copy/context.ts";
import { copyBucket } from "../../src/copy/copy-bucket.ts";
import { copyAll } from "../../src/copy/copy-store.ts";
import { createEngine } from "../../src/engine/create.ts";
import { createMemoryBlobs } from "../../src/memory/blobs.ts";
import { createMemoryRecords } from "../../src/memory/records.ts";

function store() {
  const ports = { records: createMemoryRecords(), blobs: createMemoryBlobs() };
  return { ...ports, engine: createEngine(ports) };
}

test("a bucket above its quota is copied with its quota, and so is a later run", async () => {
  const [from, to] = [store(), store()];
  const bucket = "photos";
  const quota = { bytes: 5, objects: 1 };
  await from.engine.createBucket(bucket);
  await from.engine.put(bucket, "a", Buffer.from("0123456789"));
  await from.engine.put(bucket, "b", Buffer.from("0123456789"));
  await from.engine.changeSettings(bucket, { quota });
  // As a run that is interrupted later does.
  const context = createCopyContext(from, to, { work: {}, now: Date.now, concurrency: 4 });
  for (const body of ["second", "first"]) {
    await from.engine.put(bucket, "b", Buffer.from(body));
    await copyBucket(context, (await from.records.bucket(bucket))!);
    assert.deepEqual((await to.engine.bucket(bucket))?.settings, { quota });
    assert.equal((await to.engine.head(bucket, "b"))?.size, body.length);
  }
  await assert.rejects(to.engine.put(bucket, "c", Buffer.from("1")), { reason: "QuotaExceeded" });
});

test("a copy of a store has the quotas of its accounts", async () => {
  const [from, to] = [store(), store()];
  await from.engine.createBucket("photos");
  await from.engine.put("photos", "a", Buffer.from("0123456789"));
  await from.engine.quotas.setAccountQuota("default", { objects: 1 });
  await copyAll(from, to, { source: "the source", onFinding: async () => assert.fail() });
  assert.deepEqual(await to.engine.quotas.accountQuotas(), [{ account: "default", quota: { objects: 1 } }]);
});
