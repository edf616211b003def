// Contract: namespaces are created, listed and deleted, and are never buckets.
import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreError } from "../../../src/index.ts";
import { namespace, type Scenes, start } from "./scene.ts";

function failsWith(reason: string) {
  return (error: unknown) => error instanceof StoreError && error.reason === reason;
}

export function namespacesContract(scenes: Scenes): void {
  test("namespaces are listed with their creation times, ordered by name", async (t) => {
    const { store } = await scenes.own(t);
    await store.createKvNamespace("a");
    const created = new Date(start * 1000 + 500);
    assert.deepEqual(await store.listKvNamespaces(), [
      { name: namespace, created },
      { name: "a", created },
    ]);
  });

  test("creating a namespace that exists is refused", async (t) => {
    const { store, kv } = await scenes.own(t);
    await kv.put("key", "value");
    await assert.rejects(store.createKvNamespace(namespace), failsWith("BucketConflict"));
    assert.equal(await kv.get("key"), "value");
  });

  test("creating a namespace with an invalid name is refused", async (t) => {
    const { store } = await scenes.own(t);
    for (const name of ["", "a b", "kv:a", "a/b", "é", "a\0", "x".repeat(129)]) {
      await assert.rejects(store.createKvNamespace(name), failsWith("InvalidBucketName"), name);
    }
    await store.createKvNamespace("x".repeat(128));
  });

  test("a namespace can be deleted only if it has no keys", async (t) => {
    const { store, kv, clock } = await scenes.own(t);
    await kv.put("kept", "value");
    await kv.put("expiring", "value", { expirationTtl: 60 });
    await assert.rejects(store.deleteKvNamespace(namespace), failsWith("BucketNotEmpty"));
    await kv.delete("kept");
    await assert.rejects(store.deleteKvNamespace(namespace), failsWith("BucketNotEmpty"));
    clock.time += 60_000;
    await store.deleteKvNamespace(namespace);
    assert.deepEqual(await store.listKvNamespaces(), []);
    await assert.rejects(store.deleteKvNamespace(namespace), failsWith("NoSuchBucket"));
  });

  test("operations on a missing namespace fail with an error that names it", async (t) => {
    const { store } = await scenes.own(t);
    const kv = store.kv("missing");
    const message = (method: string) => ({
      message: `KV ${method} failed: 404 There is no key-value namespace "missing".`,
    });
    await assert.rejects(kv.get("key"), message("GET"));
    await assert.rejects(kv.put("key", "value"), message("PUT"));
    await assert.rejects(kv.delete("key"), message("DELETE"));
    await assert.rejects(kv.list(), message("GET"));
  });

  test("a namespace is not listed as a bucket and cannot be accessed by bucket operations", async (t) => {
    const { store, kv } = await scenes.own(t);
    await kv.put("key", "value");
    assert.deepEqual(await store.listBuckets(), []);
    const bucket = store.bucket(`kv:${namespace}`);
    const missing = failsWith("NoSuchBucket");
    await assert.rejects(bucket.head("key"), missing);
    await assert.rejects(bucket.get("key"), missing);
    await assert.rejects(bucket.put("key", "other"), missing);
    await assert.rejects(bucket.delete("key"), missing);
    await assert.rejects(bucket.list(), missing);
    await assert.rejects(bucket.createMultipartUpload("key"), missing);
    await assert.rejects(store.deleteBucket(`kv:${namespace}`), missing);
    await assert.rejects(store.createBucket("kv:other"), failsWith("InvalidBucketName"));
    assert.equal(await kv.get("key"), "value");
  });

  test("a bucket and a namespace may have the same name", async (t) => {
    const { store } = await scenes.own(t);
    await store.createBucket("photos");
    await store.createKvNamespace("photos");
    await store.bucket("photos").put("key", "object");
    await store.kv("photos").put("key", "value");
    assert.equal(await (await store.bucket("photos").get("key"))?.text(), "object");
    assert.equal(await store.kv("photos").get("key"), "value");
    await store.bucket("photos").delete("key");
    await store.deleteBucket("photos");
    assert.equal(await store.kv("photos").get("key"), "value");
  });
}
