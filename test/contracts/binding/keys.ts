// Tests "Arguments" of binding.md: a key is 0 to 1,024 UTF-8 bytes, ordered as bytes, not
// normalised and not used as a path.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreBucket } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import { openBucket, textOf } from "./scene.ts";

/** Keys that differ as bytes; code that treats keys as paths or normalises them would fail. */
const strangeKeys: readonly string[] = [
  "",
  ".",
  "..",
  "/",
  "//",
  "a",
  "A",
  "b",
  "a/b",
  "a/../b",
  "a/./b",
  "a//b",
  "a/b/",
  "/a/b",
  "./a",
  "../a",
  "../../../../tmp/a",
  "a\\b",
  "C:\\a",
  "con",
  "%2e%2e",
  "%61",
  "a%",
  "a_b",
  "a*",
  "a?b#c",
  "'; DROP TABLE objects; --",
  " ",
  "a ",
  "a.",
  "\n",
  "\0",
  "a\0",
  "a\0b",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "é",
  "e\u0301",
  "\u00df",
  "ss",
  "\ufeff",
  "\ufeffa",
  "\uffff",
  "\ue000",
  "\u{10000}",
  "\u{10ffff}",
  "😀",
  "k".repeat(1024),
  "é".repeat(512),
  "😀".repeat(256),
  `${"d/".repeat(511)}xy`,
];

export function keysContract(implementation: Implementation): void {
  describe("keys are arbitrary strings of up to 1,024 UTF-8 bytes", () => {
    test("keys of 0 to 1,024 UTF-8 bytes with any content are valid and distinct", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await putAll(bucket, strangeKeys);
      for (const key of strangeKeys) {
        assert.equal((await bucket.head(key))?.key, key);
        assert.equal(await textOf(bucket, key), `value of ${key}`);
      }
      assert.deepEqual(await pagedKeys(bucket, 1000), inByteOrder(strangeKeys));
    });

    test("keys are ordered as UTF-8 bytes, also across pages", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const keys = [
        "\uffff",
        "\u{10000}",
        "\ue000",
        "\ud7ff",
        "\u{1f600}",
        "z",
        "é",
        "",
        "\0",
        "\u007f",
        "Z",
      ];
      await putAll(bucket, keys);
      const expected = [
        "",
        "\0",
        "Z",
        "z",
        "\u007f",
        "é",
        "\ud7ff",
        "\ue000",
        "\uffff",
        "\u{10000}",
        "\u{1f600}",
      ];
      assert.deepEqual(inByteOrder(keys), expected);
      for (const limit of [1000, 4, 1]) assert.deepEqual(await pagedKeys(bucket, limit), expected);
    });

    test("list finds keys of any content by prefix and by startAfter, in byte order", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await putAll(bucket, strangeKeys);
      const ordered = inByteOrder(strangeKeys);
      for (const key of strangeKeys) {
        const expected = ordered.filter((other) => other.startsWith(key));
        const found = await bucket.list({ prefix: key });
        assert.deepEqual(
          found.objects.map((object) => object.key),
          expected,
        );
        const later = await bucket.list({ startAfter: key });
        assert.deepEqual(
          later.objects.map((object) => object.key),
          ordered.slice(ordered.indexOf(key) + 1),
        );
      }
    });

    test("keys are not normalised: deleting a key keeps other keys that look like it", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await putAll(bucket, strangeKeys);
      const left = new Set(strangeKeys);
      for (const key of strangeKeys.filter((_, i) => i % 2 === 0)) {
        await bucket.delete(key);
        left.delete(key);
        assert.equal(await bucket.head(key), null);
        assert.equal((await bucket.list()).objects.length, left.size);
      }
      assert.deepEqual(await pagedKeys(bucket, 1000), inByteOrder([...left]));
      await bucket.delete(strangeKeys as string[]);
      assert.deepEqual(await pagedKeys(bucket, 1000), []);
    });

    test("multipart uploads accept the same keys as put", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const keys = ["", ".", "..", "a/../b", "\0", "__proto__", "\u{10000}", "\uffff", "k".repeat(1024)];
      for (const key of keys) {
        const upload = await bucket.createMultipartUpload(key);
        assert.equal(upload.key, key);
        const resumed = bucket.resumeMultipartUpload(key, upload.uploadId);
        const object = await resumed.complete([await resumed.uploadPart(1, `value of ${key}`)]);
        assert.equal(object.key, key);
      }
      for (const key of keys) assert.equal(await textOf(bucket, key), `value of ${key}`);
    });

    test("the key of a large object is not used as a file path", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const keys = ["", ".", "..", "../../x", "/x", "x/", "x", "\0", "é", "e\u0301", "k".repeat(1024)];
      await Promise.all(keys.map((key) => bucket.put(key, key.padEnd(20_000, "-"))));
      for (const key of keys) assert.equal(await textOf(bucket, key), key.padEnd(20_000, "-"));
      assert.deepEqual(await pagedKeys(bucket, 3), inByteOrder(keys));
    });

    test("a key of 1,024 UTF-8 bytes is accepted, and a key of 1,025 bytes is refused", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      for (const unit of ["k", "é", "€", "😀"]) {
        const width = Buffer.byteLength(unit);
        const longest = unit.repeat(Math.floor(1024 / width)) + "k".repeat(1024 % width);
        assert.equal(Buffer.byteLength(longest), 1024);
        assert.equal((await bucket.put(longest, "value")).key, longest);
        await assert.rejects(bucket.put(`${longest}k`, "value"), { code: 10020 });
        await assert.rejects(bucket.head(`${longest}k`), { code: 10020 });
      }
    });
  });
}

async function putAll(bucket: StoreBucket, keys: readonly string[]): Promise<void> {
  await Promise.all(keys.map((key) => bucket.put(key, `value of ${key}`)));
}

function inByteOrder(keys: readonly string[]): string[] {
  return [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

async function pagedKeys(bucket: StoreBucket, limit: number): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await bucket.list({ limit, cursor });
    keys.push(...page.objects.map((object) => object.key));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return keys;
}
