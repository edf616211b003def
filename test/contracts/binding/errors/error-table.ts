// Tests the error table of binding.md: errors of buckets and reads. Each test also checks that the
// store did not change.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Implementation } from "../../../support/stores.ts";
import { digest, furnish, otherSecret, rejection, type Scene, secret } from "../scene.ts";
import { messageOf } from "./reason-table.ts";

/** Tests one row on a bucket with content, and checks that its upload in flight stays usable. */
export function row(implementation: Implementation, name: string, body: (scene: Scene) => Promise<void>) {
  test(name, async (t) => {
    const scene = await furnish(t, implementation);
    await body(scene);
    await scene.completesOngoing();
  });
}

export function errorTableContract(implementation: Implementation): void {
  describe("every error of a bucket operation has its documented code and message", () => {
    row(
      implementation,
      "createBucket with an invalid name is refused with 10005 InvalidBucketName",
      async ({ store, refuses }) => {
        const names = [
          "",
          "ab",
          "a".repeat(64),
          "Upper",
          "under_score",
          "with space",
          "with/slash",
          "-first",
          "last-",
          ".first",
          "last.",
          "two..dots",
          "192.168.0.1",
          "bücket",
          "new\nline",
          "trailing\n",
          "nul\0nul",
        ];
        for (const name of names) {
          await refuses({ code: 10005, action: "createBucket", message: messageOf(10005) }, () =>
            store.createBucket(name),
          );
        }
        const valid = ["abc", "a".repeat(63), "0-1", "a.b-c.d", "1.2.3", "192.168.0.1.5"];
        for (const name of valid) assert.equal((await store.createBucket(name)).name, name);
        assert.deepEqual(
          (await store.listBuckets()).map(({ name }) => name).filter((name) => valid.includes(name)),
          [...valid].sort(),
        );
      },
    );

    row(
      implementation,
      "every operation on a bucket that does not exist is refused with 10006 NoSuchBucket",
      async ({ store, refuses }) => {
        const bucket = store.bucket("no-such-bucket");
        const upload = bucket.resumeMultipartUpload("key", "id");
        const message = messageOf(10006);
        const parts = [{ partNumber: 1, etag: digest("md5", "hello") }];
        await refuses({ code: 10006, action: "head", message }, () => bucket.head("key"));
        await refuses({ code: 10006, action: "get", message }, () => bucket.get("key"));
        await refuses({ code: 10006, action: "put", message }, () => bucket.put("key", "value"));
        await refuses({ code: 10006, action: "delete", message }, () => bucket.delete("key"));
        await refuses({ code: 10006, action: "list", message }, () => bucket.list());
        await refuses({ code: 10006, action: "createMultipartUpload", message }, () =>
          bucket.createMultipartUpload("key"),
        );
        await refuses({ code: 10006, action: "uploadPart", message }, () => upload.uploadPart(1, "hello"));
        await refuses({ code: 10006, action: "completeMultipartUpload", message }, () =>
          upload.complete(parts),
        );
        await refuses({ code: 10006, action: "abortMultipartUpload", message }, () => upload.abort());
        await refuses({ code: 10006, action: "deleteBucket", message }, () =>
          store.deleteBucket("no-such-bucket"),
        );
      },
    );

    row(
      implementation,
      "use of a deleted bucket is refused with 10006 NoSuchBucket until it is created again",
      async ({ store }) => {
        await store.createBucket("short-lived");
        const bucket = store.bucket("short-lived");
        await bucket.put("key", "value");
        await bucket.delete("key");
        await store.deleteBucket("short-lived");
        const error = await rejection(() => bucket.put("key", "value"));
        assert.equal((error as { code?: number }).code, 10006);
        await store.createBucket("short-lived");
        assert.equal(await bucket.head("key"), null);
      },
    );

    row(
      implementation,
      "deleting a bucket that contains an object is refused with 10008 BucketNotEmpty",
      async ({ store, name, refuses }) => {
        await refuses({ code: 10008, action: "deleteBucket", message: messageOf(10008) }, () =>
          store.deleteBucket(name),
        );
      },
    );

    row(
      implementation,
      "creating a bucket that exists is refused with 10073 BucketConflict",
      async ({ store, name, refuses }) => {
        await refuses({ code: 10073, action: "createBucket" }, () => store.createBucket(name));
        await refuses({ code: 10073, action: "createBucket" }, () =>
          store.createBucket(name, { storageClass: "InfrequentAccess" }),
        );
      },
    );
  });

  describe("every error of a read has its documented code and message", () => {
    row(
      implementation,
      "get with a wrong SSE-C key is refused with 10003 AccessDenied",
      async ({ bucket, refuses }) => {
        const expected = { code: 10003, action: "get", message: messageOf(10003) };
        await refuses(expected, () => bucket.get("sealed", { ssecKey: otherSecret }));
        await refuses(expected, () =>
          bucket.get("sealed", { ssecKey: otherSecret, range: { offset: 1, length: 1 } }),
        );
      },
    );

    row(
      implementation,
      "head and get of a missing key return null instead of 10007 NoSuchKey",
      async ({ bucket, unchangedBy }) => {
        assert.equal(await unchangedBy(() => bucket.head("missing")), null);
        assert.equal(await unchangedBy(() => bucket.get("missing")), null);
        assert.equal(await unchangedBy(() => bucket.delete("missing")), undefined);
      },
    );

    row(
      implementation,
      "a list limit that is negative or not a number is refused with 10022 InvalidMaxKeys",
      async (scene) => {
        const expected = { code: 10022, action: "list", message: messageOf(10022) };
        for (const limit of [
          -1,
          -1000,
          Number.NEGATIVE_INFINITY,
          Number.NaN,
          "ten",
          "2 keys",
          "0x2",
          "-1",
          {},
        ]) {
          await scene.refuses(expected, () => scene.loose.list({ limit }));
        }
      },
    );

    row(
      implementation,
      "an invalid list cursor is refused with 10029 InvalidRequest",
      async ({ bucket, refuses }) => {
        const { cursor } = await bucket.list({ limit: 1 });
        assert.ok(cursor);
        const foreign = [
          "foreign",
          "kept",
          "-1",
          "0",
          `${cursor}A`,
          cursor.slice(1),
          `${cursor}=`,
          "💥",
          "\0",
        ];
        for (const cursor of foreign) {
          await refuses({ code: 10029, action: "list" }, () => bucket.list({ cursor }));
        }
      },
    );

    row(
      implementation,
      "get of an encrypted object without a key, or of a plain object with a key, is refused with 10029",
      async ({ bucket, refuses }) => {
        await refuses({ code: 10029, action: "get" }, () => bucket.get("sealed"));
        await refuses({ code: 10029, action: "get" }, () => bucket.get("kept", { ssecKey: secret }));
        await refuses({ code: 10029, action: "get" }, () => bucket.get("larger", { ssecKey: secret }));
      },
    );

    row(
      implementation,
      "if a condition fails, put returns null and get an object without a body instead of error 10031",
      async ({ bucket, unchangedBy }) => {
        const onlyIf = { etagMatches: "0".repeat(32) };
        assert.equal(await unchangedBy(() => bucket.put("kept", "value", { onlyIf })), null);
        assert.equal(await unchangedBy(() => bucket.put("missing", "value", { onlyIf })), null);
        const refused = await unchangedBy(() => bucket.get("kept", { onlyIf }));
        assert.equal(refused?.key, "kept");
        assert.equal("body" in refused, false);
      },
    );

    row(
      implementation,
      "get of a range that contains no byte of the object is refused with 10039 InvalidRange",
      async ({ bucket, refuses }) => {
        const expected = { code: 10039, action: "get", message: messageOf(10039) };
        for (const range of [{ offset: 14 }, { offset: 1, length: 0 }, { length: 0 }, { suffix: 0 }]) {
          await refuses(expected, () => bucket.get("kept", { range }));
        }
        await refuses(expected, () => bucket.get("empty", { range: { offset: 0 } }));
        await refuses(expected, () => bucket.get("sealed", { range: { offset: 16 }, ssecKey: secret }));
      },
    );
  });
}
