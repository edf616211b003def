// Tests the error table of binding.md: errors of uploads and parts. Each test also checks that the
// store did not change.
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { StoreUploadedPart } from "../../../../src/index.ts";
import type { Implementation } from "../../../support/stores.ts";
import { digest, otherSecret, type Scene, secret, textOf } from "../scene.ts";
import { row } from "./error-table.ts";
import { messageOf } from "./reason-table.ts";

export function uploadErrorTableContract(implementation: Implementation): void {
  describe("every error of multipart uploads has its documented code and message", () => {
    row(
      implementation,
      "use of an unknown or aborted upload, or of an upload id with another key, is refused with 10024",
      async (scene) => {
        const { bucket, refuses } = scene;
        const message = messageOf(10024);
        const refusesUse = async (key: string, id: string) => {
          const upload = bucket.resumeMultipartUpload(key, id);
          const parts = [{ partNumber: 1, etag: digest("md5", "hello") }];
          await refuses({ code: 10024, action: "uploadPart", message }, () => upload.uploadPart(1, "hello"));
          await refuses({ code: 10024, action: "completeMultipartUpload", message }, () =>
            upload.complete(parts),
          );
        };
        const refusesAbort = async (key: string, id: string) => {
          const upload = bucket.resumeMultipartUpload(key, id);
          await refuses({ code: 10024, action: "abortMultipartUpload", message }, () => upload.abort());
        };

        const id = scene.upload.uploadId;
        const unknown = ["", "unknown", "../../etc/passwd", "\0", `${id}x`, id.slice(1), "x".repeat(10_000)];
        for (const wrong of unknown) {
          await refusesUse("ongoing", wrong);
          await refusesAbort("ongoing", wrong);
        }
        for (const key of ["kept", "Ongoing", "ongoing/", ""]) {
          await refusesUse(key, id);
          await refusesAbort(key, id);
        }

        const aborted = await bucket.createMultipartUpload("kept");
        await aborted.uploadPart(1, "hello");
        await aborted.abort();
        await refusesUse("kept", aborted.uploadId);
        await refusesAbort("other", aborted.uploadId);
      },
    );

    row(
      implementation,
      "uploadPart and complete of a completed upload are refused with 10024 NoSuchUpload",
      async ({ bucket }) => {
        const upload = await bucket.createMultipartUpload("done");
        const part = await upload.uploadPart(1, "hello");
        const done = await upload.complete([part]);
        for (const act of [() => upload.uploadPart(1, "other"), () => upload.complete([part])]) {
          await assert.rejects(act, { name: "StoreError", code: 10024 });
        }
        assert.equal((await bucket.head("done"))?.version, done.version);
        assert.equal(await textOf(bucket, "done"), "hello");
      },
    );

    row(
      implementation,
      "use of an upload in a bucket other than its own is refused with 10024 NoSuchUpload",
      async (scene) => {
        await scene.store.createBucket("other-bucket");
        const elsewhere = scene.store.bucket("other-bucket");
        const upload = elsewhere.resumeMultipartUpload("ongoing", scene.upload.uploadId);
        for (const act of [
          () => upload.uploadPart(1, "other"),
          () => upload.complete([...scene.parts]),
          () => upload.abort(),
        ]) {
          await assert.rejects(act, { name: "StoreError", code: 10024 });
        }
      },
    );

    row(
      implementation,
      "complete with missing parts, wrong etags or an empty list is refused with 10025 InvalidPart",
      async (scene) => {
        const [first, second] = scene.parts as [StoreUploadedPart, StoreUploadedPart];
        const lists: readonly (readonly StoreUploadedPart[])[] = [
          [],
          [first, second, { partNumber: 3, etag: first.etag }],
          [{ partNumber: 10_000, etag: first.etag }],
          [first, { partNumber: 2, etag: first.etag }],
          [{ partNumber: 1, etag: "0".repeat(32) }],
          [{ partNumber: 1, etag: "" }],
          [{ partNumber: 1, etag: "not an etag" }],
        ];
        for (const parts of lists) await refusesComplete(scene, 10025, parts);
        const replaced = await scene.bucket.createMultipartUpload("replaced");
        const old = await replaced.uploadPart(1, "old bytes");
        await replaced.uploadPart(1, "new bytes");
        await assert.rejects(() => replaced.complete([old]), { code: 10025 });
      },
    );

    row(
      implementation,
      "complete with parts of different sizes or duplicate numbers is refused with 10048 InvalidPart",
      async ({ bucket, unchangedBy, refuses }) => {
        const upload = await bucket.createMultipartUpload("kept");
        const of3 = await upload.uploadPart(1, "333");
        const of5 = await upload.uploadPart(2, "55555");
        const of3Again = await upload.uploadPart(3, "333");
        const of4 = await upload.uploadPart(4, "4444");
        const expected = { code: 10048, action: "completeMultipartUpload", message: messageOf(10048) };
        await refuses(expected, () => upload.complete([of3, of5]));
        await refuses(expected, () => upload.complete([of5, of3]));
        await refuses(expected, () => upload.complete([of3, of5, of3Again]));
        await refuses(expected, () => upload.complete([of3, of3Again, of4]));
        await refuses(expected, () => upload.complete([of5, of3Again, of4]));
        await refuses(expected, () => upload.complete([of3, of3]));
        await refuses(expected, () => upload.complete([of3, of3Again, of3]));
        // After a refused complete, parts can still be uploaded.
        await unchangedBy(() => upload.uploadPart(5, "1"));
        const done = await upload.complete([of5, of4]);
        assert.equal(done.size, 9);
        await bucket.delete("kept");
      },
    );

    row(
      implementation,
      "uploadPart with a missing, wrong or unneeded SSE-C key is refused with 10029 InvalidRequest",
      async ({ bucket, upload, refuses }) => {
        const sealed = await bucket.createMultipartUpload("sealed", { ssecKey: secret });
        const expected = { code: 10029, action: "uploadPart" };
        await refuses(expected, () => sealed.uploadPart(1, "hello"));
        await refuses(expected, () => sealed.uploadPart(1, "hello", { ssecKey: otherSecret }));
        await refuses(expected, () => upload.uploadPart(1, "other", { ssecKey: secret }));
        await sealed.abort();
      },
    );
  });
}

async function refusesComplete(scene: Scene, code: number, parts: readonly StoreUploadedPart[]) {
  const expected = { code, action: "completeMultipartUpload", message: messageOf(code) };
  await scene.refuses(expected, () => scene.upload.complete([...parts]));
}
