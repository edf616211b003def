// Spec 3: the table of the multipart upload life cycle.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreBucket, StoreMultipartUpload, StoreUploadedPart } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import {
  assertBytes,
  contentOf,
  day,
  fieldsOf,
  keysIn,
  mustHead,
  mustList,
  openBucket,
  pattern,
  refused,
  sharedBucket,
  stoppedClock,
  textOf,
  uploadParts,
} from "./support.ts";

/** Checks that this handle and a resumed handle refuse uploadPart and complete. */
async function isOver(
  bucket: StoreBucket,
  upload: StoreMultipartUpload,
  parts: StoreUploadedPart[],
): Promise<void> {
  for (const handle of [upload, bucket.resumeMultipartUpload(upload.key, upload.uploadId)]) {
    await refused(handle.uploadPart(1, "more"), "uploadPart", 10024);
    await refused(handle.complete(parts), "completeMultipartUpload", 10024);
  }
}

export function lifeCycleSentences(implementation: Implementation): void {
  describe("the life cycle of an upload is as the spec states", () => {
    const open = sharedBucket(implementation);

    test("spec 3: createMultipartUpload always creates an active upload", async () => {
      const { bucket } = await open();
      await bucket.put("taken", "value");
      for (const key of ["new", "taken", "new", ""]) {
        const upload = await bucket.createMultipartUpload(key);
        await upload.uploadPart(1, "value");
      }
    });

    test("spec 3: a new upload can immediately be used through any binding of its bucket", async () => {
      const { store, bucket } = await open();
      const { key, uploadId } = await bucket.createMultipartUpload("key");
      const elsewhere = store.bucket("bucket");
      const part = await elsewhere.resumeMultipartUpload(key, uploadId).uploadPart(1, "value");
      await store.bucket("bucket").resumeMultipartUpload(key, uploadId).complete([part]);
      assert.equal(await textOf(bucket, "key"), "value");
    });

    test("spec 3: an active upload is not visible as an object", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      await upload.uploadPart(1, "value");
      assert.equal(await bucket.head("key"), null);
      assert.equal(await bucket.get("key"), null);
      assert.deepEqual(await keysIn(bucket), []);
    });

    test("spec 3: resumeMultipartUpload returns a handle for any uploadId", async () => {
      const { bucket } = await open();
      for (const uploadId of ["", "nonsense", "\0", "../..", "0".repeat(5000)]) {
        const upload = bucket.resumeMultipartUpload("key", uploadId);
        assert.equal(upload.key, "key");
        assert.equal(upload.uploadId, uploadId);
      }
    });

    test("spec 3: resumeMultipartUpload checks neither its arguments nor whether an active upload exists", async () => {
      const { store, bucket } = await open();
      const ended = await bucket.createMultipartUpload("key");
      await ended.abort();
      const handles = [
        bucket.resumeMultipartUpload("key", ended.uploadId),
        bucket.resumeMultipartUpload("key", "never was"),
        store.bucket("no-such-bucket").resumeMultipartUpload("key", "never was"),
        bucket.resumeMultipartUpload("k".repeat(5000), "never was"),
      ];
      for (const handle of handles) assert.equal(typeof handle.uploadPart, "function");
    });

    test("spec 3: using a handle without an active upload fails with NoSuchUpload", async () => {
      const { bucket } = await open();
      const handle = bucket.resumeMultipartUpload("key", "never was");
      await refused(handle.uploadPart(1, "value"), "uploadPart", 10024);
      await refused(handle.complete([{ partNumber: 1, etag: "x" }]), "completeMultipartUpload", 10024);
      await refused(handle.abort(), "abortMultipartUpload", 10024);
    });

    test("spec 3: a resumed upload supports all operations of the upload that createMultipartUpload returned", async () => {
      const { bucket } = await open();
      const created = await bucket.createMultipartUpload("key");
      const resumed = bucket.resumeMultipartUpload("key", created.uploadId);
      const parts = [await created.uploadPart(1, "one "), await resumed.uploadPart(2, "two")];
      await resumed.complete(parts);
      assert.equal(await textOf(bucket, "key"), "one two");
      const other = await bucket.createMultipartUpload("other");
      await bucket.resumeMultipartUpload("other", other.uploadId).abort();
      await isOver(bucket, other, parts);
    });

    test("spec 3: uploadPart returns etag and partNumber, and the upload stays active", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      const parts: StoreUploadedPart[] = [];
      for (const partNumber of [1, 2, 3]) {
        const part = await upload.uploadPart(partNumber, `part ${partNumber}`);
        assert.deepEqual(Object.keys(part).sort(), ["etag", "partNumber"]);
        assert.equal(part.partNumber, partNumber);
        assert.match(part.etag, /^[0-9a-f]{32}$/);
        parts.push(part);
      }
      await upload.complete(parts);
      assert.equal(await textOf(bucket, "key"), "part 1part 2part 3");
    });

    test("spec 3: a failed uploadPart keeps the upload active and its other parts unchanged", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      const part = await upload.uploadPart(1, "value");
      const failing = new ReadableStream({
        pull: (controller) => controller.error(new Error("the sender is gone")),
      });
      await assert.rejects(upload.uploadPart(1, failing), /the sender is gone/);
      await upload.complete([part]);
      assert.equal(await textOf(bucket, "key"), "value");
    });

    test("spec 3: complete returns a StoreObject, and the object is immediately readable globally", async () => {
      const { store, bucket } = await open();
      const elsewhere = store.bucket("bucket");
      const values = [pattern(70_000, 1), pattern(70_000, 2), pattern(9, 3)];
      const upload = await bucket.createMultipartUpload("key");
      const completed = await upload.complete(await uploadParts(upload, values));
      assert.ok(!("body" in completed));
      assert.equal(completed.size, 140_009);
      for (const reader of [elsewhere, bucket]) {
        assert.deepEqual(fieldsOf(await mustHead(reader, "key")), fieldsOf(completed));
        assert.deepEqual(fieldsOf(await mustList(reader, "key")), fieldsOf(completed));
        assertBytes(await contentOf(reader, "key"), new Uint8Array(Buffer.concat(values)));
      }
    });

    test("spec 3: a completed upload is no longer active", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      const parts = await uploadParts(upload, ["value"]);
      const completed = await upload.complete(parts);
      await isOver(bucket, upload, parts);
      await upload.abort();
      assert.equal((await mustHead(bucket, "key")).version, completed.version);
      assert.equal(await textOf(bucket, "key"), "value");
    });

    test("spec 3: exactly one of several concurrent completes succeeds", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      const parts = await uploadParts(upload, ["value"]);
      const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => upload.complete(parts)));
      const versions = outcomes.flatMap((each) => (each.status === "fulfilled" ? [each.value.version] : []));
      assert.equal(versions.length, 1);
      assert.equal((await mustHead(bucket, "key")).version, versions[0]);
    });

    test("spec 3: abort resolves to undefined when it has succeeded", async () => {
      const { store, bucket } = await open();
      await bucket.put("key", "before");
      const upload = await bucket.createMultipartUpload("key");
      const parts = await uploadParts(upload, [pattern(10_000), pattern(10_000)]);
      assert.equal(await upload.abort(), undefined);
      await isOver(store.bucket("bucket"), upload, parts);
      assert.equal(await textOf(bucket, "key"), "before");
      assert.deepEqual(await keysIn(bucket), ["key"]);
    });

    test("spec 3: an aborted upload may be aborted again", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      await upload.abort();
      assert.equal(await upload.abort(), undefined);
      assert.equal(await bucket.resumeMultipartUpload("key", upload.uploadId).abort(), undefined);
    });

    test("spec 3: aborting an upload does not affect other uploads of the key", async () => {
      const { bucket } = await open();
      const [one, two] = [
        await bucket.createMultipartUpload("key"),
        await bucket.createMultipartUpload("key"),
      ];
      const parts = await uploadParts(two, ["two"]);
      await uploadParts(one, ["one"]);
      await one.abort();
      await two.complete(parts);
      assert.equal(await textOf(bucket, "key"), "two");
    });

    for (const swept of ["even before a sweep", "by the sweep"]) {
      test(`spec 3, spec 8: an upload that is not completed within 7 days is automatically aborted, ${swept}`, async (t) => {
        const clock = stoppedClock();
        const { store, bucket } = await openBucket(implementation, t, { now: clock.now });
        const upload = await bucket.createMultipartUpload("key");
        const parts = await uploadParts(upload, [pattern(10_000, 1), pattern(10_000, 2)]);
        clock.advance(7 * day);
        if (swept === "by the sweep") {
          const report = await store.sweep();
          assert.equal(report.uploadsAborted, 1);
          assert.equal(report.blobsRemoved, 2, "the bytes of both parts are freed");
        }
        await isOver(bucket, upload, parts);
        assert.equal(await bucket.head("key"), null);
      });
    }

    test("spec 3: an upload is active until 7 days after its creation", async (t) => {
      const clock = stoppedClock();
      const { store, bucket } = await openBucket(implementation, t, { now: clock.now });
      const upload = await bucket.createMultipartUpload("key");
      const first = await upload.uploadPart(1, "one ");
      clock.advance(7 * day - 1);
      assert.equal((await store.sweep()).uploadsAborted, 0);
      const second = await upload.uploadPart(2, "two");
      await upload.complete([first, second]);
      assert.equal(await textOf(bucket, "key"), "one two");
    });

    test("spec 3: the 7 days start at the creation of the upload; uploading parts does not extend them", async (t) => {
      const clock = stoppedClock();
      const { store, bucket } = await openBucket(implementation, t, { now: clock.now });
      const upload = await bucket.createMultipartUpload("key");
      clock.advance(6 * day);
      const parts = await uploadParts(upload, ["value"]);
      const younger = await bucket.createMultipartUpload("younger");
      clock.advance(day);
      assert.equal((await store.sweep()).uploadsAborted, 1);
      await isOver(bucket, upload, parts);
      await younger.complete(await uploadParts(younger, ["value"]));
    });

    test("spec 3: the object of a completed upload still exists after 7 days", async (t) => {
      const clock = stoppedClock();
      const { store, bucket } = await openBucket(implementation, t, { now: clock.now });
      const values = [pattern(10_000, 1), pattern(10_000, 2)];
      const upload = await bucket.createMultipartUpload("key");
      await upload.complete(await uploadParts(upload, values));
      for (let week = 0; week < 3; week++) {
        clock.advance(7 * day);
        assert.equal((await store.sweep()).uploadsAborted, 0);
      }
      assertBytes(await contentOf(bucket, "key"), new Uint8Array(Buffer.concat(values)));
    });
  });
}
