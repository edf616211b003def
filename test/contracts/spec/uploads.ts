// Spec 2.9, 2.10, the multipart options of 2.12 and the upload methods of 4.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import type { StoreMultipartOptions } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import {
  assertBytes,
  contentOf,
  mustHead,
  pattern,
  refused,
  sharedBucket,
  textOf,
  uploadParts,
  wrongArgument,
} from "./support.ts";

export function uploadSentences(implementation: Implementation): void {
  describe("multipart uploads behave as the spec states", () => {
    const open = sharedBucket(implementation);

    test("spec 2.9: key of a multipart upload is the key given to createMultipartUpload", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("a/b c");
      assert.equal(upload.key, "a/b c");
      assert.equal(bucket.resumeMultipartUpload("a/b c", upload.uploadId).key, "a/b c");
    });

    test("spec 2.9: uploadId is a unique, non-empty string, also on a resumed upload", async () => {
      const { bucket } = await open();
      const uploads = await Promise.all(
        Array.from({ length: 10 }, (_, i) => bucket.createMultipartUpload(i < 5 ? "same" : `key ${i}`)),
      );
      for (const { key, uploadId } of uploads) {
        assert.equal(typeof uploadId, "string");
        assert.notEqual(uploadId, "");
        assert.equal(bucket.resumeMultipartUpload(key, uploadId).uploadId, uploadId);
      }
      assert.equal(new Set(uploads.map((upload) => upload.uploadId)).size, uploads.length);
    });

    test("spec 2.9: uploads of one key have different uploadIds", async () => {
      const { bucket } = await open();
      const [one, two] = [
        await bucket.createMultipartUpload("key"),
        await bucket.createMultipartUpload("key"),
      ];
      const parts = await uploadParts(one, ["one"]);
      const otherParts = await uploadParts(two, ["two"]);
      await one.complete(parts);
      assert.equal(await textOf(bucket, "key"), "one");
      await two.complete(otherParts);
      assert.equal(await textOf(bucket, "key"), "two");
    });

    test("spec 2.9: an uploadId is valid only with the key and the bucket of its upload", async () => {
      const { store, bucket } = await open();
      await store.createBucket("other");
      const { uploadId } = await bucket.createMultipartUpload("key");
      await refused(
        bucket.resumeMultipartUpload("other key", uploadId).uploadPart(1, "x"),
        "uploadPart",
        10024,
      );
      const elsewhere = store.bucket("other").resumeMultipartUpload("key", uploadId);
      await refused(elsewhere.uploadPart(1, "x"), "uploadPart", 10024);
    });

    test("spec 2.9: an upload has uploadPart, abort and complete, each of which returns a Promise", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      const part = upload.uploadPart(1, "value");
      assert.ok(part instanceof Promise);
      const completed = upload.complete([await part]);
      assert.ok(completed instanceof Promise);
      await completed;
      const aborted = upload.abort();
      assert.ok(aborted instanceof Promise);
      await aborted;
    });

    test("spec 2.10: uploadPart returns the partNumber and the etag of the part", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      for (const partNumber of [1, 2, 7, 10_000]) {
        const part = await upload.uploadPart(partNumber, pattern(500, partNumber));
        const etag = createHash("md5").update(pattern(500, partNumber)).digest("hex");
        assert.deepEqual({ ...part }, { partNumber, etag });
      }
    });

    test("spec 2.10: complete is refused if the list of parts is missing, empty or has a wrong etag or number", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      const [one, two] = await uploadParts(upload, ["one", "two"]);
      assert.ok(one !== undefined && two !== undefined);
      await refused(upload.complete([]), "completeMultipartUpload", 10025);
      await refused(upload.complete([one, { ...two, etag: one.etag }]), "completeMultipartUpload", 10025);
      await refused(upload.complete([one, { ...two, partNumber: 3 }]), "completeMultipartUpload", 10025);
      // @ts-expect-error: the list is required.
      await wrongArgument(upload.complete(), TypeError);
      assert.equal(await bucket.head("key"), null);
      await upload.complete([one, two]);
      assert.equal(await textOf(bucket, "key"), "onetwo");
    });

    test("spec 2.10: the list of parts for complete may be stored as JSON", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      const kept = JSON.stringify(await uploadParts(upload, ["one", "two"]));
      await bucket.resumeMultipartUpload("key", upload.uploadId).complete(JSON.parse(kept));
      assert.equal(await textOf(bucket, "key"), "onetwo");
    });

    test("spec 2.12: createMultipartUpload can be called without options", async () => {
      const { bucket } = await open();
      for (const options of [undefined, null, {}]) {
        const upload = await bucket.createMultipartUpload("key", options);
        const object = await upload.complete(await uploadParts(upload, ["value"]));
        assert.deepEqual({ ...object.httpMetadata }, {});
        assert.deepEqual({ ...object.customMetadata }, {});
      }
    });

    for (const [field, options] of [
      ["httpMetadata", { httpMetadata: { contentType: "video/mp4", contentLanguage: "en" } }],
      ["customMetadata", { customMetadata: { reel: "1", take: "2" } }],
      ["storageClass", { storageClass: "InfrequentAccess" }],
    ] as const) {
      test(`spec 2.12: the object of an upload has the ${field} given to createMultipartUpload`, async () => {
        const { bucket } = await open();
        await bucket.put("key", "before", {
          customMetadata: { old: "yes" },
          httpMetadata: { contentType: "a/b" },
        });
        const upload = await bucket.createMultipartUpload("key", options);
        const completed = await upload.complete(await uploadParts(upload, ["value"]));
        const wanted: StoreMultipartOptions = options;
        for (const object of [completed, await mustHead(bucket, "key")]) {
          assert.deepEqual({ ...object.httpMetadata }, wanted.httpMetadata ?? {});
          assert.deepEqual({ ...object.customMetadata }, wanted.customMetadata ?? {});
          assert.equal(object.storageClass, wanted.storageClass ?? "Standard");
        }
      });
    }

    test("spec 4: uploadPart ignores metadata options: an object has the metadata given to createMultipartUpload", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key", { customMetadata: { by: "create" } });
      const options: StoreMultipartOptions = {
        customMetadata: { by: "part" },
        storageClass: "InfrequentAccess",
      };
      const object = await upload.complete([await upload.uploadPart(1, "value", options)]);
      assert.deepEqual({ ...object.customMetadata }, { by: "create" });
      assert.equal(object.storageClass, "Standard");
    });

    test("spec 4: uploadPart accepts part numbers from 1 to 10000", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      for (const partNumber of [0, -1, 10_001, Number.NaN, Number.POSITIVE_INFINITY]) {
        await wrongArgument(upload.uploadPart(partNumber, "value"), TypeError);
      }
      const parts = [await upload.uploadPart(1, "first "), await upload.uploadPart(10_000, "last")];
      await upload.complete(parts);
      assert.equal(await textOf(bucket, "key"), "first last");
    });

    test("spec 4: complete joins the given parts by part number, in whatever order they are given", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      const values = [pattern(70_000, 1), pattern(70_000, 2), pattern(70_000, 3), pattern(5, 4)];
      const parts = await uploadParts(upload, values);
      const object = await upload.complete([...parts].reverse());
      assert.equal(object.size, 210_005);
      assertBytes(await contentOf(bucket, "key"), new Uint8Array(Buffer.concat(values)));
      const md5s = values.map((value) => createHash("md5").update(value).digest());
      const etag = createHash("md5").update(Buffer.concat(md5s)).digest("hex");
      assert.equal(object.etag, `${etag}-4`);
    });

    test("spec 4: complete uses only the given parts", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      const [first] = await uploadParts(upload, ["one", "two", "six"]);
      const last = await upload.uploadPart(9, "end");
      assert.ok(first !== undefined);
      const object = await upload.complete([first, last]);
      assert.equal(object.size, 6);
      assert.equal(await textOf(bucket, "key"), "oneend");
    });

    test("spec 4: uploading a part number again replaces the part", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      const before = await upload.uploadPart(1, "before");
      const after = await upload.uploadPart(1, "after");
      await refused(upload.complete([before]), "completeMultipartUpload", 10025);
      await upload.complete([after]);
      assert.equal(await textOf(bucket, "key"), "after");
    });

    test("spec 4: complete with a list that contains a part twice is refused", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      const part = await upload.uploadPart(1, "value");
      await refused(upload.complete([part, part]), "completeMultipartUpload", 10048);
    });

    test("spec 4: complete replaces the object of that key atomically", async () => {
      const { bucket } = await open();
      const before = await bucket.put("key", "before");
      const upload = await bucket.createMultipartUpload("key");
      const parts = await uploadParts(upload, ["after"]);
      assert.equal((await mustHead(bucket, "key")).version, before.version);
      const completed = await upload.complete(parts);
      assert.equal((await mustHead(bucket, "key")).version, completed.version);
      assert.equal(await textOf(bucket, "key"), "after");
    });
  });
}
