// Spec 2.11 and the storageClass options of 2.12: the storage class of an object.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Implementation } from "../../support/stores.ts";
import { mustGet, mustHead, mustList, putInParts, refused, sharedBucket } from "./support.ts";

export function storageClassSentences(implementation: Implementation): void {
  describe("storage classes behave as the spec states", () => {
    const open = sharedBucket(implementation);

    for (const storageClass of ["Standard", "InfrequentAccess"] as const) {
      test(`spec 2.11: ${storageClass} is an allowed storage class, and the object reports it`, async () => {
        const { bucket } = await open();
        const put = await bucket.put("key", "value", { storageClass });
        const completed = await putInParts(bucket, "in parts", ["value"], { storageClass });
        const found = [await mustHead(bucket, "key"), await mustGet(bucket, "in parts")];
        for (const object of [put, completed, ...found, await mustList(bucket, "key")]) {
          assert.equal(object.storageClass, storageClass);
        }
      });

      test(`spec 2.12: an object put without a storageClass has the bucket's default: ${storageClass}`, async () => {
        const { store } = await open();
        const name = `default-${storageClass.toLowerCase()}`;
        await store.createBucket(name, { storageClass });
        const bucket = store.bucket(name);
        assert.equal((await bucket.put("key", "value")).storageClass, storageClass);
        assert.equal((await bucket.put("key", "value", {})).storageClass, storageClass);
        assert.equal((await putInParts(bucket, "in parts", ["value"])).storageClass, storageClass);
        assert.equal((await mustHead(bucket, "key")).storageClass, storageClass);
        assert.equal((await mustHead(bucket, "in parts")).storageClass, storageClass);
      });
    }

    test("spec 2.12: the default storage class of a bucket created without one is Standard", async () => {
      const { bucket } = await open();
      assert.equal((await bucket.put("key", "value")).storageClass, "Standard");
      assert.equal((await putInParts(bucket, "in parts", ["value"])).storageClass, "Standard");
    });

    test("spec 2.11: a put with an unknown storage class is refused and stores nothing", async () => {
      const { bucket } = await open();
      for (const other of ["", "standard", "STANDARD", "Glacier"]) {
        const storageClass = other as "Standard";
        await refused(bucket.put("key", "value", { storageClass }), "put", 10062);
        await refused(bucket.createMultipartUpload("key", { storageClass }), "createMultipartUpload", 10062);
      }
      assert.equal(await bucket.head("key"), null);
    });
  });
}
