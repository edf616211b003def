// Spec 8: the table of limits, except entries per list and the seven days, which are in the suites
// of list and of the upload life cycle.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Implementation } from "../../support/stores.ts";
import {
  assertBytes,
  contentOf,
  keysIn,
  pattern,
  refused,
  sharedBucket,
  textOf,
  uploadParts,
} from "./support.ts";

const uniform: readonly (readonly number[])[] = [
  [5],
  [0],
  [100_000],
  [5, 5],
  [5, 4],
  [5, 1],
  [5, 0],
  [70_000, 70_000, 70_000],
  [70_000, 70_000, 1],
];

const uneven: readonly (readonly number[])[] = [
  [4, 5],
  [0, 1],
  [5, 4, 5],
  [5, 4, 4],
  [5, 5, 6],
  [5, 6, 5, 5],
  [70_000, 69_999, 70_000],
];

export function limitSentences(implementation: Implementation): void {
  describe("delete and complete enforce the limits of the spec", () => {
    const open = sharedBucket(implementation);

    test("spec 4, spec 8: delete takes at most 1000 keys per call", async (t) => {
      const { bucket } = await open();
      const keys = Array.from({ length: 1001 }, (_, i) => `key ${String(i).padStart(4, "0")}`);
      await Promise.all(keys.map((key) => bucket.put(key, "")));

      await t.test("spec 8: delete of 1001 keys is refused, and nothing is deleted", async () => {
        await refused(bucket.delete(keys), "delete", 10027);
        await refused(bucket.delete(Array.from(keys, () => "key 0000")), "delete", 10027);
        const first = await bucket.list();
        const rest = await bucket.list({ cursor: first.cursor });
        assert.equal(first.objects.length + rest.objects.length, 1001);
      });

      await t.test("spec 8: delete removes 1000 keys in one call", async () => {
        await bucket.delete(keys.slice(0, 1000));
        assert.deepEqual(await keysIn(bucket), ["key 1000"]);
      });
    });

    for (const sizes of uniform) {
      test(`spec 4, spec 8: complete accepts parts of uniform size with an equal or smaller final part: ${sizes.join(", ")}`, async () => {
        const { bucket } = await open();
        const upload = await bucket.createMultipartUpload("key");
        const values = sizes.map((size, i) => pattern(size, i));
        const object = await upload.complete(await uploadParts(upload, values));
        const whole = new Uint8Array(Buffer.concat(values));
        assert.equal(object.size, whole.byteLength);
        assertBytes(await contentOf(bucket, "key"), whole);
      });
    }

    for (const sizes of uneven) {
      test(`spec 4, spec 8: complete refuses parts that are not uniform in size: ${sizes.join(", ")}`, async () => {
        const { bucket } = await open();
        const upload = await bucket.createMultipartUpload("key");
        const parts = await uploadParts(
          upload,
          sizes.map((size, i) => pattern(size, i)),
        );
        await refused(upload.complete(parts), "completeMultipartUpload", 10048);
        await refused(upload.complete([...parts].reverse()), "completeMultipartUpload", 10048);
        assert.equal(await bucket.head("key"), null);
      });
    }

    test("spec 8: the final part is the part with the highest number, not the part uploaded last", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      const final = await upload.uploadPart(3, "c");
      const parts = [final, await upload.uploadPart(2, "bb"), await upload.uploadPart(1, "aa")];
      await upload.complete(parts);
      assert.equal(await textOf(bucket, "key"), "aabbc");
    });

    test("spec 8: only the parts given to complete must be uniform in size", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      const [one, , three] = await uploadParts(upload, ["aa", "odd one", "b"]);
      assert.ok(one !== undefined && three !== undefined);
      await upload.complete([one, three]);
      assert.equal(await textOf(bucket, "key"), "aab");
    });

    test("spec 8: an upload whose complete was refused for its part sizes completes after the wrong part is replaced", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      const [one, two] = await uploadParts(upload, ["a", "bb"]);
      assert.ok(one !== undefined && two !== undefined);
      await refused(upload.complete([one, two]), "completeMultipartUpload", 10048);
      await upload.complete([await upload.uploadPart(1, "aa"), two]);
      assert.equal(await textOf(bucket, "key"), "aabb");
    });
  });
}
