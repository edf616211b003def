// Spec 1: capabilities of a bucket, and strong consistency of writes and deletes.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Implementation } from "../../support/stores.ts";
import {
  assertBytes,
  contentOf,
  fewSizes,
  keysIn,
  mustHead,
  mustList,
  pattern,
  sharedBucket,
  textOf,
  uploadParts,
} from "./support.ts";

export function serviceSentences(implementation: Implementation): void {
  describe("the operations and consistency of a bucket are as the spec states", () => {
    const open = sharedBucket(implementation);

    test("spec 1.3: a bucket can read, list, write and delete objects, and supports multipart uploads", async () => {
      const { bucket } = await open();
      await bucket.put("written", "value");
      assert.equal(await textOf(bucket, "written"), "value");
      assert.deepEqual(await keysIn(bucket), ["written"]);
      await bucket.delete("written");
      assert.deepEqual(await keysIn(bucket), []);
      const upload = await bucket.createMultipartUpload("in parts");
      await upload.complete(await uploadParts(upload, ["one", "two"]));
      assert.equal(await textOf(bucket, "in parts"), "onetwo");
    });

    test("spec 1.5, spec 4: put is strongly consistent: once its promise resolves, all later reads everywhere see the written key and value", async () => {
      const { store, bucket } = await open();
      const elsewhere = store.bucket("bucket");
      for (const size of fewSizes) {
        const value = pattern(size, size);
        const written = await bucket.put(`size ${size}`, value);
        for (const reader of [elsewhere, bucket]) {
          assertBytes(await contentOf(reader, `size ${size}`), value);
          assert.equal((await mustHead(reader, `size ${size}`)).version, written.version);
          assert.equal((await mustList(reader, `size ${size}`)).version, written.version);
        }
      }
    });

    test("spec 1.5, spec 4: put is strongly consistent: once its promise resolves, no later read sees the value it replaced", async () => {
      const { store, bucket } = await open();
      const elsewhere = store.bucket("bucket");
      for (const size of [...fewSizes, ...[...fewSizes].reverse()]) {
        const value = pattern(size, size + 1);
        const written = await bucket.put("same key", value);
        const reads = await Promise.all([elsewhere, bucket].map((reader) => contentOf(reader, "same key")));
        for (const read of reads) assertBytes(read, value);
        assert.equal((await mustHead(elsewhere, "same key")).version, written.version);
        assert.equal((await mustList(elsewhere, "same key")).version, written.version);
      }
    });

    test("spec 1.5: each of several concurrent puts is visible to reads after it resolves", async () => {
      const { store, bucket } = await open();
      const elsewhere = store.bucket("bucket");
      const keys = Array.from({ length: 40 }, (_, i) => `key ${i}`);
      await Promise.all(
        keys.map(async (key, i) => {
          await bucket.put(key, `value ${i}`);
          assert.equal(await textOf(elsewhere, key), `value ${i}`);
          await mustList(elsewhere, key);
          await bucket.delete(key);
          assert.equal(await elsewhere.get(key), null);
        }),
      );
      assert.deepEqual(await keysIn(elsewhere), []);
    });

    test("spec 1.5, spec 4: delete is strongly consistent: once its promise resolves, all later reads everywhere see the absence of the deleted key", async () => {
      const { store, bucket } = await open();
      const elsewhere = store.bucket("bucket");
      for (const size of fewSizes) {
        await bucket.put("gone", pattern(size));
        await bucket.delete("gone");
        for (const reader of [elsewhere, bucket]) {
          assert.equal(await reader.get("gone"), null);
          assert.equal(await reader.head("gone"), null);
          assert.deepEqual(await keysIn(reader), []);
        }
      }
    });

    test("spec 1.5, spec 4: delete of many keys is strongly consistent: once its promise resolves, all later reads see none of them", async () => {
      const { store, bucket } = await open();
      const elsewhere = store.bucket("bucket");
      const keys = Array.from({ length: 20 }, (_, i) => `key ${i}`);
      await Promise.all([...keys, "stays"].map((key) => bucket.put(key, key)));
      await bucket.delete(keys);
      const reads = await Promise.all(keys.flatMap((key) => [elsewhere.get(key), elsewhere.head(key)]));
      assert.ok(reads.every((read) => read === null));
      assert.deepEqual(await keysIn(elsewhere), ["stays"]);
    });

    test("spec 1.5: a stored value does not change when the caller changes its buffers afterwards", async () => {
      const { bucket } = await open();
      for (const size of fewSizes.slice(1)) {
        const given = pattern(size);
        const customMetadata = { name: "before" };
        const httpMetadata = { contentType: "text/before", cacheExpiry: new Date(0) };
        await bucket.put("key", given, { customMetadata, httpMetadata });
        given.fill(0xee);
        customMetadata.name = "after";
        httpMetadata.contentType = "text/after";
        httpMetadata.cacheExpiry.setTime(1);
        const read = await contentOf(bucket, "key");
        assertBytes(read, pattern(size));
        read.fill(0xdd);
        assertBytes(await contentOf(bucket, "key"), pattern(size));
        const { httpMetadata: kept, customMetadata: keptToo } = await mustHead(bucket, "key");
        assert.deepEqual({ ...kept }, { contentType: "text/before", cacheExpiry: new Date(0) });
        assert.deepEqual({ ...keptToo }, { name: "before" });
      }
    });
  });
}
