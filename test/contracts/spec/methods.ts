// Spec 4: arguments, results and effects of each method of the bucket.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Implementation } from "../../support/stores.ts";
import {
  assertBytes,
  contentOf,
  fewSizes,
  fieldsOf,
  keysIn,
  mustGet,
  mustHead,
  pattern,
  putInParts,
  refused,
  sharedBucket,
  textOf,
  unknownLength,
  wrongArgument,
} from "./support.ts";

export function methodSentences(implementation: Implementation): void {
  describe("methods of a bucket behave as the spec states", () => {
    const open = sharedBucket(implementation);

    test("spec 4: each bucket method except resumeMultipartUpload returns a Promise", async () => {
      const { bucket } = await open();
      const results: unknown[] = [
        bucket.head("key"),
        bucket.get("key"),
        bucket.put("key", "value"),
        bucket.delete("other"),
        bucket.list(),
        bucket.createMultipartUpload("key"),
      ];
      for (const result of results) assert.ok(result instanceof Promise);
      await Promise.all(results);
    });

    test("spec 4: an invalid argument rejects the Promise and is never thrown synchronously", async () => {
      const { bucket } = await open();
      const wrong = Symbol("key") as unknown as string;
      const upload = await bucket.createMultipartUpload("key");
      for (const work of [
        bucket.head(wrong),
        bucket.get(wrong),
        bucket.put(wrong, "value"),
        bucket.delete(wrong),
        bucket.list(5 as never),
        bucket.createMultipartUpload(wrong),
        upload.uploadPart(0, "value"),
        upload.complete(5 as never),
      ]) {
        await wrongArgument(work, TypeError);
      }
    });

    test("spec 4: head returns metadata only", async () => {
      const { bucket } = await open();
      const put = await bucket.put("key", "value");
      const object = await mustHead(bucket, "key");
      assert.deepEqual(fieldsOf(object), fieldsOf(put));
      for (const member of ["body", "bodyUsed", "text", "json", "arrayBuffer", "blob"]) {
        assert.ok(!(member in object), member);
      }
    });

    test("spec 4: head returns null if the key does not exist", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value");
      for (const key of ["other", "ke", "keys", "KEY", "key/", ""])
        assert.equal(await bucket.head(key), null);
    });

    test("spec 4: get returns metadata plus body stream if the key exists", async () => {
      const { bucket } = await open();
      for (const size of fewSizes) {
        const put = await bucket.put("key", pattern(size));
        for (const options of [undefined, null, {}]) {
          const object = await bucket.get("key", options);
          assert.ok(object !== null);
          assert.deepEqual(fieldsOf(object), fieldsOf(put));
          assert.ok(object.body instanceof ReadableStream);
          assertBytes(await object.arrayBuffer(), pattern(size));
        }
      }
    });

    test("spec 4: get returns null if the key does not exist, whatever the options", async () => {
      const { bucket } = await open();
      assert.equal(await bucket.get("key"), null);
      assert.equal(await bucket.get("key", { range: { offset: 5 } }), null);
      assert.equal(await bucket.get("key", { onlyIf: { etagMatches: "x" } }), null);
      assert.equal(await bucket.get("key", { onlyIf: new Headers({ "if-none-match": "*" }) }), null);
      assert.equal(await bucket.get("key", { ssecKey: pattern(32) }), null);
    });

    test("spec 4: if a precondition in options fails, get returns a StoreObject with body undefined", async () => {
      const { bucket } = await open();
      for (const size of fewSizes) {
        const put = await bucket.put("key", pattern(size), { customMetadata: { a: "b" } });
        const object = await bucket.get("key", { onlyIf: { etagDoesNotMatch: put.etag } });
        assert.ok(object !== null);
        assert.deepEqual(fieldsOf(object), fieldsOf(put));
        assert.ok(!("body" in object));
        assert.equal((object as { body?: unknown }).body, undefined);
      }
    });

    test("spec 4: get with a failed precondition does not check the range", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value");
      const object = await bucket.get("key", { onlyIf: { etagMatches: "other" }, range: { offset: 42 } });
      assert.ok(object !== null && !("body" in object));
      await refused(bucket.get("key", { onlyIf: { etagMatches: "*" }, range: { offset: 42 } }), "get", 10039);
    });

    test("spec 4: put stores value and metadata under key, and returns StoreObject on success", async () => {
      const { bucket } = await open();
      for (const size of fewSizes) {
        const value = pattern(size, 3);
        const metadata = { httpMetadata: { contentType: "a/b" }, customMetadata: { size: `${size}` } };
        const put = await bucket.put("key", value, metadata);
        assert.equal(put.key, "key");
        assert.equal(put.size, size);
        assert.ok(!("body" in put));
        const object = await mustGet(bucket, "key");
        assert.deepEqual(fieldsOf(object), fieldsOf(put));
        assert.deepEqual({ ...object.httpMetadata }, metadata.httpMetadata);
        assert.deepEqual({ ...object.customMetadata }, metadata.customMetadata);
        assertBytes(await object.arrayBuffer(), value);
      }
    });

    test("spec 2.12: all options of put are optional", async () => {
      const { bucket } = await open();
      for (const options of [undefined, null, {}]) {
        const put = await bucket.put("key", "value", options);
        assert.deepEqual({ ...put.httpMetadata }, {});
        assert.deepEqual({ ...put.customMetadata }, {});
      }
    });

    test("spec 4: if a precondition fails, put returns null and nothing is stored", async () => {
      const { bucket } = await open();
      for (const size of fewSizes) {
        const before = await bucket.put("key", pattern(size), { customMetadata: { old: "yes" } });
        for (const value of [pattern(size + 1), unknownLength(pattern(size + 1))]) {
          const options = { customMetadata: { new: "yes" }, onlyIf: { etagMatches: "other" } };
          assert.equal(await bucket.put("key", value, options), null);
        }
        assert.deepEqual(fieldsOf(await mustHead(bucket, "key")), fieldsOf(before));
        assertBytes(await contentOf(bucket, "key"), pattern(size));
      }
      assert.equal(await bucket.put("new", "value", { onlyIf: { etagMatches: "other" } }), null);
      assert.deepEqual(await keysIn(bucket), ["key"]);
    });

    test("spec 4: put replaces the previous object with its metadata", async () => {
      const { bucket } = await open();
      await putInParts(bucket, "key", [pattern(70_000), pattern(1)], { customMetadata: { old: "yes" } });
      await bucket.put("key", "new value", { customMetadata: { new: "yes" } });
      const object = await mustGet(bucket, "key");
      assert.deepEqual({ ...object.customMetadata }, { new: "yes" });
      assert.equal(await object.text(), "new value");
    });

    test("spec 4: delete deletes one key and resolves to undefined", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value");
      await putInParts(bucket, "in parts", ["value"]);
      await bucket.put("stays", "value");
      assert.equal(await bucket.delete("key"), undefined);
      assert.equal(await bucket.delete("in parts"), undefined);
      assert.equal(await bucket.head("key"), null);
      assert.deepEqual(await keysIn(bucket), ["stays"]);
    });

    test("spec 4: delete deletes several keys and resolves to undefined", async () => {
      const { bucket } = await open();
      await Promise.all(["a", "b", "c", "d"].map((key) => bucket.put(key, "value")));
      assert.equal(await bucket.delete(["a", "c", "a", "never was"]), undefined);
      assert.deepEqual(await keysIn(bucket), ["b", "d"]);
      assert.equal(await bucket.delete([]), undefined);
      assert.deepEqual(await keysIn(bucket), ["b", "d"]);
    });

    test("spec 4: delete of a key that does not exist is not an error", async () => {
      const { bucket } = await open();
      assert.equal(await bucket.delete("never was"), undefined);
      assert.equal(await bucket.delete("never was"), undefined);
    });

    test("spec 4: delete takes exact keys and keeps a longer key that starts with a deleted key", async () => {
      const { bucket } = await open();
      await Promise.all(["a", "a/b", "ab", "a%", "_"].map((key) => bucket.put(key, key)));
      await bucket.delete(["a", "%", "a/", "_%"]);
      assert.deepEqual(await keysIn(bucket), ["_", "a%", "a/b", "ab"]);
    });

    test("spec 4: createMultipartUpload creates a multipart upload that can be completed", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      assert.equal(upload.key, "key");
      await upload.complete([await upload.uploadPart(1, "value")]);
      assert.equal(await textOf(bucket, "key"), "value");
    });

    test("spec 4: resumeMultipartUpload returns its upload synchronously, not a Promise", async () => {
      const { bucket } = await open();
      const upload = bucket.resumeMultipartUpload("key", "any id");
      assert.ok(!(upload instanceof Promise));
      assert.ok(!("then" in upload));
      assert.equal(upload.uploadId, "any id");
    });
  });
}
