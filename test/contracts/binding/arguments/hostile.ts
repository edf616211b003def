// Tests "Arguments" of binding.md: values that can only be mistakes are refused before any change.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Implementation } from "../../../support/stores.ts";
import { loose, openBucket } from "../scene.ts";

export function hostileArgumentsContract(implementation: Implementation): void {
  describe("arrays with holes, invalid part numbers and invalid dates are refused", () => {
    test("delete of an array of keys with a hole is refused and deletes nothing", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("kept", "value");
      for (const keys of [new Array(2), ["kept", ...new Array(1)]]) {
        await assert.rejects(loose(bucket).delete(keys), /^TypeError: The argument "key" is missing/);
      }
      assert.notEqual(await bucket.head("kept"), null);
    });

    test("complete with an array of parts with a hole is refused", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const upload = await bucket.createMultipartUpload("key");
      const parts = new Array(1) as Parameters<typeof upload.complete>[0];
      await assert.rejects(upload.complete(parts), /^TypeError: Each uploaded part must be an object/);
    });

    test("uploadPart with an invalid part number is refused with a message that states the given type", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const upload = await bucket.createMultipartUpload("key");
      const rows: [unknown, RegExp][] = [
        [undefined, /not nothing\.$/],
        [Number.NaN, /not number\.$/],
        [0, /not number 0\.$/],
        [{ a: 1 }, /not Object\.$/],
        [{ constructor: { name: Symbol("s") } }, /not an object\.$/],
      ];
      for (const [number, words] of rows) {
        await assert.rejects(upload.uploadPart(number as number, "x"), words);
      }
    });

    test("a cacheExpiry that is not a valid date is refused with a TypeError", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      for (const cacheExpiry of [Number.POSITIVE_INFINITY, 8.64e15 + 1, -1e300, new Date(Number.NaN)]) {
        const options = { httpMetadata: { cacheExpiry } };
        await assert.rejects(
          loose(bucket).put("key", "x", options),
          /^TypeError: "cacheExpiry" must be a valid/,
        );
      }
      assert.equal(await bucket.head("key"), null);
    });
  });
}
