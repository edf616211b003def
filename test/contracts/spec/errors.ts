// Spec 7: results and errors of failures, and the common shape of all errors.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Implementation } from "../../support/stores.ts";
import {
  fieldsOf,
  keysIn,
  mustHead,
  pattern,
  refused,
  sharedBucket,
  textOf,
  unknownLength,
} from "./support.ts";

export function errorSentences(implementation: Implementation): void {
  describe("errors behave as the spec states", () => {
    const open = sharedBucket(implementation);

    test("spec 7: head of a missing key returns null", async () => {
      const { bucket } = await open();
      assert.equal(await bucket.head("missing"), null);
      await bucket.put("missing", "value");
      await bucket.delete("missing");
      assert.equal(await bucket.head("missing"), null);
    });

    test("spec 7: get of a missing key returns null", async () => {
      const { bucket } = await open();
      assert.equal(await bucket.get("missing"), null);
      await bucket.put("missing", "value");
      await bucket.delete("missing");
      assert.equal(await bucket.get("missing"), null);
    });

    test("spec 7: get with a failed precondition returns a StoreObject with body undefined", async () => {
      const { bucket } = await open();
      const put = await bucket.put("key", "value");
      for (const onlyIf of [{ etagMatches: "other" }, new Headers({ "If-None-Match": put.httpEtag })]) {
        const object = await bucket.get("key", { onlyIf });
        assert.ok(object !== null && !("body" in object));
        assert.deepEqual(fieldsOf(object), fieldsOf(put));
        assert.equal(typeof object.writeHttpMetadata, "function");
      }
    });

    test("spec 7: put with a failed precondition returns null and stores nothing", async () => {
      const { bucket } = await open();
      const before = await bucket.put("key", "before");
      const onlyIf = { etagDoesNotMatch: before.etag };
      assert.equal(await bucket.put("key", "after", { onlyIf }), null);
      assert.equal(await bucket.put("new", "value", { onlyIf: { etagMatches: before.etag } }), null);
      assert.equal((await mustHead(bucket, "key")).version, before.version);
      assert.equal(await textOf(bucket, "key"), "before");
      assert.deepEqual(await keysIn(bucket), ["key"]);
    });

    test("spec 7: put with a failed precondition cancels the given stream without waiting for its end", async () => {
      const { bucket } = await open();
      await bucket.put("key", "before");
      const onlyIf = { etagMatches: "other" };
      await new Promise<void>((cancelled, failed) => {
        let chunks = 0;
        // The stream never ends, so a put that waits for its end would never return.
        const stalling = new ReadableStream<Uint8Array>({
          pull: (controller) => (chunks++ < 5 ? controller.enqueue(pattern(1000)) : new Promise(() => {})),
          cancel: () => cancelled(),
        });
        bucket.put("key", stalling, { onlyIf }).then((result) => assert.equal(result, null), failed);
      });
      assert.equal(await textOf(bucket, "key"), "before");
    });

    test("spec 7: resumeMultipartUpload with an invalid uploadId does not throw", async () => {
      const { bucket } = await open();
      for (const uploadId of ["", "invalid", "x".repeat(100_000)]) {
        assert.doesNotThrow(() => bucket.resumeMultipartUpload("key", uploadId));
      }
    });

    test("spec 7: every failure rejects with a StoreError that has the action and the code", async () => {
      const { store } = await open();
      const missing = store.bucket("no-such-bucket");
      const upload = missing.resumeMultipartUpload("key", "id");
      const parts = [{ partNumber: 1, etag: "x" }];
      await refused(missing.head("key"), "head", 10006);
      await refused(missing.get("key"), "get", 10006);
      await refused(missing.put("key", "value"), "put", 10006);
      await refused(missing.put("key", unknownLength(pattern(10_000))), "put", 10006);
      await refused(missing.delete("key"), "delete", 10006);
      await refused(missing.list(), "list", 10006);
      await refused(missing.createMultipartUpload("key"), "createMultipartUpload", 10006);
      await refused(upload.uploadPart(1, "value"), "uploadPart", 10006);
      await refused(upload.complete(parts), "completeMultipartUpload", 10006);
      await refused(upload.abort(), "abortMultipartUpload", 10006);
    });

    test("spec 7: an invalid key is refused by every method", async () => {
      const { bucket } = await open();
      for (const key of ["k".repeat(1025), "€".repeat(342), "\ud800"]) {
        await refused(bucket.head(key), "head", 10020);
        await refused(bucket.get(key), "get", 10020);
        await refused(bucket.put(key, "value"), "put", 10020);
        await refused(bucket.delete(key), "delete", 10020);
        await refused(bucket.delete(["key", key]), "delete", 10020);
        await refused(bucket.createMultipartUpload(key), "createMultipartUpload", 10020);
      }
    });
  });
}
