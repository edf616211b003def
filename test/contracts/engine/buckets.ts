// Engine contract: creating and deleting buckets, and operations on missing buckets.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../../../src/engine/engine.ts";
import { assertBytes, sampleBytes } from "../../support/bytes.ts";
import {
  blobsLeft,
  bucket,
  clock,
  contentOf,
  deferred,
  failsWith,
  type OpenEngine,
  openBucket,
  probe,
} from "./setup.ts";

export function buckets(open: OpenEngine): void {
  test("a new bucket has the engine's time as its creation time, and the given storage class", async (t) => {
    const time = clock();
    const { engine } = await open(t, time);
    const created = await engine.createBucket("logs", { storageClass: "InfrequentAccess" });
    assert.deepEqual(created, {
      name: "logs",
      created: time.time,
      storageClass: "InfrequentAccess",
      account: "default",
    });
    assert.deepEqual({ ...(await engine.bucket("logs")) }, { ...created, settings: {} });
    assert.equal((await engine.createBucket("plain")).storageClass, "Standard");
    assert.equal(await engine.bucket("absent"), undefined);
    const listed = await engine.listBuckets();
    assert.deepEqual(
      listed.map(({ name }) => name),
      ["logs", "plain"],
    );
  });

  test("a bucket's name followed by a NUL character does not match that bucket", async (t) => {
    const { engine } = await openBucket(open, t);
    await engine.put(bucket, "key", sampleBytes(5));
    for (const name of [`${bucket}\0`, `${bucket}\0x`]) {
      assert.equal(await engine.bucket(name).catch(() => undefined), undefined);
      await assert.rejects(engine.get(name, "key"), { reason: "NoSuchBucket" });
      await assert.rejects(engine.delete(name, ["key"]), { reason: "NoSuchBucket" });
    }
    assert.equal((await engine.head(bucket, "key"))?.key, "key");
  });

  test("an invalid bucket name or storage class is refused", async (t) => {
    const { engine } = await openBucket(open, t);
    await assert.rejects(engine.createBucket(bucket), {
      ...failsWith("BucketConflict"),
      action: "createBucket",
    });
    for (const name of [
      "",
      "ab",
      "Upper",
      "-ab",
      "a..b",
      "a.-b",
      "a-.b",
      "127.0.0.1",
      "..",
      "a/b",
      "x".repeat(64),
    ]) {
      await assert.rejects(engine.createBucket(name), failsWith("InvalidBucketName"), name);
    }
    await assert.rejects(
      engine.createBucket("cold", { storageClass: "Glacier" }),
      failsWith("InvalidStorageClass"),
    );
    assert.equal((await engine.listBuckets()).length, 1);
  });

  test("objects and uploads get their bucket's storage class by default", async (t) => {
    const { engine } = await open(t);
    await engine.createBucket(bucket, { storageClass: "InfrequentAccess" });
    const put = await engine.put(bucket, "a", sampleBytes(1));
    assert(put.outcome === "stored");
    assert.equal(put.record.storageClass, "InfrequentAccess");
    await engine.put(bucket, "b", sampleBytes(1), { storageClass: "Standard" });
    assert.equal((await engine.head(bucket, "b"))?.storageClass, "Standard");
    assert.equal((await engine.createUpload(bucket, "c")).storageClass, "InfrequentAccess");
  });

  test("a bucket that contains objects is not deleted, and its uploads stay", async (t) => {
    const { engine } = await openBucket(open, t);
    await engine.put(bucket, "a", sampleBytes(1));
    const upload = await engine.createUpload(bucket, "u");
    const part = await engine.uploadPart(bucket, upload, 1, sampleBytes(10));
    await assert.rejects(engine.deleteBucket(bucket), {
      ...failsWith("BucketNotEmpty"),
      action: "deleteBucket",
    });
    await engine.completeUpload(bucket, upload, [part]);
    assertBytes(await contentOf(engine, "u"), sampleBytes(10));
  });

  test("deleting a bucket deletes its uploads in flight and frees their bytes", async (t) => {
    const opened = await openBucket(open, t);
    const { engine } = opened;
    await engine.put(bucket, "a", sampleBytes(5000));
    await engine.delete(bucket, ["a"]);
    const upload = await engine.createUpload(bucket, "u");
    await engine.uploadPart(bucket, upload, 1, sampleBytes(5000));
    await engine.deleteBucket(bucket);
    assert.equal(await engine.bucket(bucket), undefined);
    await assert.rejects(engine.deleteBucket(bucket), failsWith("NoSuchBucket"));
    await engine.createBucket(bucket);
    await assert.rejects(engine.completeUpload(bucket, upload, []), failsWith("NoSuchUpload"));
    assert.equal(await blobsLeft(opened), 0);
  });

  test("every operation on a missing bucket fails with NoSuchBucket and the operation's action", async (t) => {
    const { engine } = await openBucket(open, t);
    for (const name of ["absent", "..", "../bucket", "", "__proto__"]) await failsEverywhere(engine, name);
    const deleting = engine.deleteBucket("absent");
    await assert.rejects(deleting, { ...failsWith("NoSuchBucket"), action: "deleteBucket" });
  });

  test("a put whose bucket is deleted meanwhile fails and leaves no bytes", async (t) => {
    const opened = await openBucket(open, t);
    const { engine } = opened;
    const [begun, goOn] = [deferred(), deferred()];
    const source = probe(sampleBytes(100_000), {
      async gate() {
        begun.resolve();
        await goOn.promise;
      },
    });
    const putting = engine.put(bucket, "a", source);
    await begun.promise;
    await engine.deleteBucket(bucket);
    goOn.resolve();
    await assert.rejects(putting, failsWith("NoSuchBucket"));
    await engine.createBucket(bucket);
    assert.equal(await blobsLeft(opened), 0);
  });

  test("a put whose bucket is deleted and created again meanwhile is stored completely or not at all", async (t) => {
    const opened = await openBucket(open, t);
    const { engine } = opened;
    const [begun, goOn] = [deferred(), deferred()];
    let pulls = 0;
    const bytes = sampleBytes(1_000_000);
    const source = probe(bytes, {
      async gate() {
        if (++pulls < 900) return;
        begun.resolve();
        await goOn.promise;
      },
    });
    const putting = engine.put(bucket, "a", source);
    await begun.promise;
    await engine.deleteBucket(bucket);
    await engine.createBucket(bucket);
    goOn.resolve();
    const [outcome] = await Promise.allSettled([putting]);
    if (outcome.status === "fulfilled") assertBytes(await contentOf(engine, "a"), bytes);
    else assert.equal(await engine.head(bucket, "a"), undefined);
    assert.equal(await blobsLeft(opened), outcome.status === "fulfilled" ? 1 : 0);
  });
}

async function failsEverywhere(engine: Engine, name: string): Promise<void> {
  const upload = { key: "a", id: "0".repeat(32) };
  const calls: Record<string, () => Promise<unknown>> = {
    head: () => engine.head(name, "a"),
    get: () => engine.get(name, "a"),
    put: () => engine.put(name, "a", sampleBytes(1)),
    delete: () => engine.delete(name, ["a"]),
    list: () => engine.list(name),
    createMultipartUpload: () => engine.createUpload(name, "a"),
    uploadPart: () => engine.uploadPart(name, upload, 1, sampleBytes(1)),
    completeMultipartUpload: () => engine.completeUpload(name, upload, [{ number: 1, etag: "" }]),
    abortMultipartUpload: () => engine.abortUpload(name, upload),
  };
  for (const [action, call] of Object.entries(calls)) {
    await assert.rejects(call, { ...failsWith("NoSuchBucket"), action }, `${action} in "${name}"`);
  }
}
