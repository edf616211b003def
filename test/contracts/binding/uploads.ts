// Tests "multipart" of binding.md: the life cycle of an upload from creation to removal.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Implementation } from "../../support/stores.ts";
import { day, furnish, MiB, openBucket, patterned, rejectsWith, textOf } from "./scene.ts";
import { sweptStore } from "./shared-stores.ts";

const gone = { code: 10024, message: "The specified multipart upload does not exist." };

export function uploadsContract(implementation: Implementation): void {
  describe("a multipart upload can be resumed by key and id", () => {
    test("a multipart upload object has the key and the upload id", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const upload = await bucket.createMultipartUpload("key");
      assert.equal(upload.key, "key");
      assert.equal(typeof upload.uploadId, "string");
      assert.notEqual(upload.uploadId, "");
      const other = await bucket.createMultipartUpload("key");
      assert.notEqual(other.uploadId, upload.uploadId);
    });

    test("resumeMultipartUpload returns synchronously and does not check the upload", async (t) => {
      const store = await implementation.open(t);
      for (const [key, id] of [
        ["key", "no-such-upload"],
        ["key", ""],
        ["k".repeat(2000), "id"],
        ["\ud800", "id"],
      ] as const) {
        const upload = store.bucket("no-such-bucket").resumeMultipartUpload(key, id);
        assert.equal(upload.key, key);
        assert.equal(upload.uploadId, id);
      }
    });

    test("a resumed upload supports uploadPart, complete and abort", async (t) => {
      const { store, name, bucket } = await openBucket(t, implementation);
      const created = await bucket.createMultipartUpload("key", { customMetadata: { a: "b" } });
      const first = await created.uploadPart(1, "hello");
      const resumed = store.bucket(name).resumeMultipartUpload("key", created.uploadId);
      const second = await resumed.uploadPart(2, "world");
      const object = await resumed.complete([first, second]);
      assert.deepEqual({ ...object.customMetadata }, { a: "b" });
      assert.equal(await textOf(bucket, "key"), "helloworld");
      const aborted = await bucket.createMultipartUpload("key");
      await bucket.resumeMultipartUpload("key", aborted.uploadId).abort();
      await rejectsWith({ ...gone, action: "uploadPart" }, () => aborted.uploadPart(1, "hello"));
    });

    test("uploads of the same key are independent", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const one = await bucket.createMultipartUpload("key");
      const two = await bucket.createMultipartUpload("key");
      const partOfOne = await one.uploadPart(1, "of one");
      const partOfTwo = await two.uploadPart(1, "of two");
      await rejectsWith({ code: 10025, action: "completeMultipartUpload" }, () => one.complete([partOfTwo]));
      await one.complete([partOfOne]);
      assert.equal(await textOf(bucket, "key"), "of one");
      await bucket.delete("key");
      await two.complete([partOfTwo]);
      assert.equal(await textOf(bucket, "key"), "of two");
    });

    test("the object of an upload is not visible before the upload is completed", async (t) => {
      const scene = await furnish(t, implementation);
      await scene.unchangedBy(async () => {
        const upload = await scene.bucket.createMultipartUpload("kept");
        await upload.uploadPart(1, "hello");
        await upload.abort();
        await scene.bucket.createMultipartUpload("new");
      });
    });
  });

  describe("an upload accepts nothing after complete or abort", () => {
    test("uploadPart and complete after complete or abort are refused with 10024", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      for (const end of ["complete", "abort"] as const) {
        const upload = await bucket.createMultipartUpload("key");
        const part = await upload.uploadPart(1, "hello");
        await (end === "complete" ? upload.complete([part]) : upload.abort());
        for (const handle of [upload, bucket.resumeMultipartUpload("key", upload.uploadId)]) {
          await rejectsWith({ ...gone, action: "uploadPart" }, () => handle.uploadPart(2, "world"));
          await rejectsWith({ ...gone, action: "completeMultipartUpload" }, () => handle.complete([part]));
        }
      }
      assert.equal(await textOf(bucket, "key"), "hello");
    });

    test("abort twice, or after complete, succeeds and changes nothing", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const completed = await bucket.createMultipartUpload("key");
      const { version } = await completed.complete([await completed.uploadPart(1, "hello")]);
      assert.equal(await completed.abort(), undefined);
      assert.equal(await completed.abort(), undefined);
      const aborted = await bucket.createMultipartUpload("key");
      await aborted.uploadPart(1, "other");
      assert.equal(await aborted.abort(), undefined);
      assert.equal(await aborted.abort(), undefined);
      assert.equal((await bucket.head("key"))?.version, version);
      assert.equal(await textOf(bucket, "key"), "hello");
    });

    test("abort of an unknown id is refused with 10024", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const upload = await bucket.createMultipartUpload("key");
      const expected = { ...gone, action: "abortMultipartUpload" };
      await rejectsWith(expected, () => bucket.resumeMultipartUpload("key", "never-was").abort());
      await rejectsWith(expected, () => bucket.resumeMultipartUpload("other", upload.uploadId).abort());
      await upload.abort();
      await rejectsWith(expected, () => bucket.resumeMultipartUpload("other", upload.uploadId).abort());
    });

    test("a part uploaded while its upload is completed or aborted is stored completely or refused", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      for (const end of ["complete", "abort"] as const) {
        const upload = await bucket.createMultipartUpload("key");
        const part = await upload.uploadPart(1, "hello");
        const late = upload.uploadPart(1, "later");
        const ending = end === "complete" ? upload.complete([part]) : upload.abort();
        const [lateOutcome, endOutcome] = await Promise.allSettled([late, ending]);
        if (lateOutcome.status === "rejected") assert.equal(lateOutcome.reason.code, 10024);
        if (endOutcome.status === "rejected") assert.equal(endOutcome.reason.code, 10025);
        else if (end === "complete") assert.equal(await textOf(bucket, "key"), "hello");
        await bucket.resumeMultipartUpload("key", upload.uploadId).abort();
        await bucket.delete("key");
      }
    });

    test("a bucket that contains only uploads in flight can be deleted together with them", async (t) => {
      const { store, name, bucket } = await openBucket(t, implementation);
      const upload = await bucket.createMultipartUpload("key");
      await upload.uploadPart(1, "hello");
      await store.deleteBucket(name);
      await rejectsWith({ code: 10006, action: "uploadPart" }, () => upload.uploadPart(2, "world"));
      await store.createBucket(name);
      await rejectsWith({ ...gone, action: "uploadPart" }, () => upload.uploadPart(2, "world"));
    });
  });

  describe("an incomplete upload is aborted after seven days", () => {
    test("an upload that is not completed 7 days after its creation is aborted", async (t) => {
      const created = Date.parse("2024-05-06T07:08:09Z");
      let now = created;
      const { store, bucket } = await openBucket(t, implementation, { now: () => now });
      await bucket.put("key", "old");
      const upload = await bucket.createMultipartUpload("key");
      const part = await upload.uploadPart(1, patterned(MiB));
      now = created + 6.9 * day;
      // Neither uploading a part nor a sweep changes when the upload expires.
      const late = await upload.uploadPart(2, patterned(MiB, 2));
      assert.equal((await store.sweep()).uploadsAborted, 0);
      now = created + 7 * day - 1;
      await upload.uploadPart(3, patterned(MiB, 3));
      now = created + 7 * day;
      await rejectsWith({ ...gone, action: "uploadPart" }, () => upload.uploadPart(4, "late"));
      await rejectsWith({ ...gone, action: "completeMultipartUpload" }, () => upload.complete([part, late]));
      assert.equal(await textOf(bucket, "key"), "old");
      assert.equal(await upload.abort(), undefined);
    });

    test("the bytes of an upload that was aborted after 7 days are freed", async (t) => {
      let now = Date.parse("2024-05-06T07:08:09Z");
      const { store, bucket } = await openBucket(t, implementation, { now: () => now });
      const upload = await bucket.createMultipartUpload("key");
      await upload.uploadPart(1, patterned(MiB));
      await upload.uploadPart(2, patterned(MiB, 2));
      const young = await bucket.createMultipartUpload("young");
      now += 3 * day;
      const youngest = await bucket.createMultipartUpload("youngest");
      const part = await youngest.uploadPart(1, patterned(MiB, 3));
      assert.equal((await store.sweep()).blobsRemoved, 0);
      now += 4 * day;
      const report = await store.sweep();
      assert.equal(report.uploadsAborted, 2);
      assert.equal(report.blobsRemoved, 2);
      await rejectsWith({ ...gone, action: "uploadPart" }, () => upload.uploadPart(1, "late"));
      await rejectsWith({ ...gone, action: "uploadPart" }, () => young.uploadPart(1, "late"));
      assert.equal(await upload.abort(), undefined);
      assert.equal((await youngest.complete([part])).size, MiB);
    });

    test("abort of a completed or aborted upload succeeds for 7 days and is refused afterwards", async (t) => {
      let now = Date.parse("2024-05-06T07:08:09Z");
      const { store, bucket } = await openBucket(t, implementation, { now: () => now });
      const completed = await bucket.createMultipartUpload("key");
      await completed.complete([await completed.uploadPart(1, "hello")]);
      const aborted = await bucket.createMultipartUpload("key");
      await aborted.abort();
      now += 7 * day - 1;
      assert.equal((await store.sweep()).uploadsForgotten, 0);
      await completed.abort();
      await aborted.abort();
      now += 1;
      assert.equal((await store.sweep()).uploadsForgotten, 2);
      for (const upload of [completed, aborted]) {
        await rejectsWith({ ...gone, action: "abortMultipartUpload" }, () => upload.abort());
      }
      assert.equal(await textOf(bucket, "key"), "hello");
    });

    test("complete frees the parts that it did not use and keeps the bytes of the object", async (t) => {
      const { store, bucket } = await openBucket(t, implementation, sweptStore);
      const upload = await bucket.createMultipartUpload("key");
      await upload.uploadPart(1, patterned(MiB, 1));
      const replaced = await upload.uploadPart(1, patterned(MiB, 2));
      await upload.uploadPart(2, patterned(MiB, 3));
      await upload.complete([replaced]);
      await store.sweep();
      const object = await bucket.get("key");
      assert.ok(Buffer.from(await object!.arrayBuffer()).equals(patterned(MiB, 2)));
    });
  });
}
