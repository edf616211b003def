// Engine contract: sweeps abort overdue uploads. The test controls the clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertBytes, sampleBytes } from "../../support/bytes.ts";
import {
  blobsLeft,
  bucket,
  clock,
  contentOf,
  day,
  exists,
  failsWith,
  type OpenEngine,
  openBucket,
  uploadParts,
} from "./setup.ts";

const nothing = {
  objectsExpired: 0,
  objectsMoved: 0,
  versionsExpired: 0,
  uploadsAborted: 0,
  uploadsForgotten: 0,
  blobsRemoved: 0,
};

export function expiry(open: OpenEngine): void {
  test("an upload can be completed within seven days of its creation and not afterwards", async (t) => {
    const time = clock();
    const { engine } = await openBucket(open, t, time);
    const [inTime, late] = [await engine.createUpload(bucket, "a"), await engine.createUpload(bucket, "b")];
    time.time += 7 * day - 1;
    const parts = await uploadParts(engine, inTime, { 1: sampleBytes(5) });
    await uploadParts(engine, late, { 1: sampleBytes(5) });
    assert.deepEqual({ ...(await engine.sweep()) }, nothing);
    await engine.completeUpload(bucket, inTime, parts);
    time.time += 1;
    await assert.rejects(engine.uploadPart(bucket, late, 1, sampleBytes(5)), failsWith("NoSuchUpload"));
    await assert.rejects(engine.completeUpload(bucket, late, parts), failsWith("NoSuchUpload"));
    assert.deepEqual([await exists(engine, "a"), await exists(engine, "b")], [true, false]);
  });

  test("a sweep aborts overdue uploads, frees their bytes, and reports their number", async (t) => {
    const time = clock();
    const opened = await openBucket(open, t, time);
    const { engine } = opened;
    assert.deepEqual({ ...(await engine.sweep()) }, nothing);
    const overdue = [await engine.createUpload(bucket, "a"), await engine.createUpload(bucket, "b")];
    for (const upload of overdue)
      await uploadParts(engine, upload, { 1: sampleBytes(5000), 2: sampleBytes(1) });
    time.time += day;
    const young = await engine.createUpload(bucket, "c");
    const parts = await uploadParts(engine, young, { 1: sampleBytes(9000) });
    time.time += 6 * day;
    assert.deepEqual({ ...(await engine.sweep()) }, { ...nothing, uploadsAborted: 2, blobsRemoved: 4 });
    assert.deepEqual({ ...(await engine.sweep()) }, nothing);
    assert.equal(await blobsLeft(opened), 1);
    for (const upload of overdue) await engine.abortUpload(bucket, upload);
    await engine.completeUpload(bucket, young, parts);
    assertBytes(await contentOf(engine, "c"), sampleBytes(9000));
  });

  test("the record of an ended upload is removed after seven days, and its object stays", async (t) => {
    const time = clock();
    const opened = await openBucket(open, t, time);
    const { engine } = opened;
    const completed = await engine.createUpload(bucket, "a");
    const parts = await uploadParts(engine, completed, { 1: sampleBytes(9000), 2: sampleBytes(9000) });
    const aborted = await engine.createUpload(bucket, "b");
    const expired = await engine.createUpload(bucket, "c");
    time.time += day;
    await engine.completeUpload(bucket, completed, parts);
    await engine.abortUpload(bucket, aborted);
    const forgotten = { key: "a", id: completed.id };
    time.time += 6 * day;
    assert.deepEqual({ ...(await engine.sweep()) }, { ...nothing, uploadsAborted: 1 });
    time.time += day - 1;
    assert.deepEqual({ ...(await engine.sweep()) }, nothing);
    for (const upload of [forgotten, aborted, expired]) await engine.abortUpload(bucket, upload);
    time.time += 1;
    assert.deepEqual({ ...(await engine.sweep()) }, { ...nothing, uploadsForgotten: 2 });
    for (const upload of [forgotten, aborted]) {
      await assert.rejects(engine.abortUpload(bucket, upload), failsWith("NoSuchUpload"));
    }
    await engine.abortUpload(bucket, expired);
    time.time += 6 * day;
    assert.deepEqual({ ...(await engine.sweep()) }, { ...nothing, uploadsForgotten: 1 });
    await assert.rejects(engine.abortUpload(bucket, expired), failsWith("NoSuchUpload"));
    assert.equal((await contentOf(engine, "a")).length, 18_000);
    assert.equal(await blobsLeft(opened), 2);
  });

  test("one sweep aborts all overdue uploads of all buckets", async (t) => {
    const time = clock();
    const { engine, blobs } = await openBucket(open, t, time);
    await engine.createBucket("second");
    const uploads = await Promise.all(
      Array.from({ length: 300 }, (_, i) => engine.createUpload(bucket, `k${i}`)),
    );
    await Promise.all(
      uploads.slice(0, 20).map((upload) => engine.uploadPart(bucket, upload, 1, sampleBytes(1))),
    );
    const other = await engine.createUpload("second", "k");
    await engine.uploadPart("second", other, 1, sampleBytes(1));
    time.time += 7 * day;
    const report = await engine.sweep();
    assert.deepEqual({ ...report }, { ...nothing, uploadsAborted: 301, blobsRemoved: 21 });
    for (const name of [bucket, "second"]) {
      for await (const id of blobs.all(name)) assert.fail(`blob ${id} is left`);
    }
    time.time += 7 * day;
    assert.deepEqual({ ...(await engine.sweep()) }, { ...nothing, uploadsForgotten: 301 });
  });

  test("objects do not expire without a lifecycle rule", async (t) => {
    const time = clock();
    const { engine } = await openBucket(open, t, time);
    await engine.put(bucket, "a", sampleBytes(5000));
    time.time += 10_000 * day;
    assert.deepEqual({ ...(await engine.sweep()) }, nothing);
    assertBytes(await contentOf(engine, "a"), sampleBytes(5000));
  });
}
