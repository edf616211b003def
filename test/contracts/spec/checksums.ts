// Spec 2.5 and the hash options of 2.12: checksums that are verified on put and stored with the
// object.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import type { StoreChecksums, StorePutOptions, StoreValue } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import {
  arrayBufferOf,
  assertBytes,
  fewSizes,
  knownLength,
  mustGet,
  mustHead,
  mustList,
  pattern,
  putInParts,
  refused,
  sharedBucket,
  textOf,
  unknownLength,
  wrongArgument,
} from "./support.ts";

const algorithms = [
  ["md5", "MD5", 16],
  ["sha1", "SHA-1", 20],
  ["sha256", "SHA-256", 32],
  ["sha384", "SHA-384", 48],
  ["sha512", "SHA-512", 64],
] as const;

type Algorithm = (typeof algorithms)[number][0];

function digest(algorithm: Algorithm, value: Uint8Array | string): Buffer {
  return createHash(algorithm).update(value).digest();
}

function option(
  algorithm: Algorithm,
  value: ArrayBuffer | Uint8Array | string,
): StorePutOptions & { onlyIf?: null } {
  return { [algorithm]: value };
}

/** Checks that each expected checksum is an ArrayBuffer of its bytes and that others are absent. */
function assertChecksums(checksums: StoreChecksums, expected: Partial<Record<Algorithm, Uint8Array>>): void {
  for (const [algorithm] of algorithms) {
    const [actual, wanted] = [checksums[algorithm], expected[algorithm]];
    if (wanted === undefined) {
      assert.equal(actual, undefined, `no ${algorithm}`);
    } else {
      assert.ok(actual instanceof ArrayBuffer, algorithm);
      assertBytes(actual, wanted, algorithm);
    }
  }
  const hex = Object.entries(expected).map(([name, bytes]) => [name, Buffer.from(bytes).toString("hex")]);
  assert.deepEqual({ ...checksums.toJSON() }, Object.fromEntries(hex));
}

export function checksumSentences(implementation: Implementation): void {
  describe("checksums behave as the spec states", () => {
    const open = sharedBucket(implementation);

    for (const [algorithm, name, length] of algorithms) {
      test(`spec 2.5: if ${algorithm} was supplied on put, it is available under checksums as an ArrayBuffer`, async () => {
        const { bucket } = await open();
        for (const size of fewSizes) {
          const value = pattern(size);
          const sum = digest(algorithm, value);
          const expected = { md5: digest("md5", value), [algorithm]: sum };
          for (const given of [
            sum.toString("hex"),
            sum.toString("hex").toUpperCase(),
            arrayBufferOf(sum),
            sum,
          ]) {
            const put = await bucket.put("key", value, option(algorithm, given));
            assertChecksums(put.checksums, expected);
          }
          assertChecksums((await mustHead(bucket, "key")).checksums, expected);
          assertChecksums((await mustGet(bucket, "key")).checksums, expected);
          assertChecksums((await mustList(bucket, "key")).checksums, expected);
        }
      });

      test(`spec 2.12: put verifies a given ${algorithm} checksum, for every kind of value`, async () => {
        const { bucket } = await open();
        for (const size of fewSizes) {
          const value = pattern(size);
          const given = option(algorithm, digest(algorithm, value));
          const values: StoreValue[] = [value, unknownLength(value), knownLength(value), new Blob([value])];
          for (const kind of values) assert.equal((await bucket.put("key", kind, given)).size, size);
        }
      });

      test(`spec 2.12: a put whose ${algorithm} does not match stores nothing and keeps the previous object`, async () => {
        const { bucket } = await open();
        const before = await bucket.put("key", "before");
        for (const size of fewSizes) {
          const value = pattern(size);
          const wrong = option(algorithm, digest(algorithm, "another value"));
          for (const kind of [value, unknownLength(value), knownLength(value), new Blob([value])]) {
            await refused(bucket.put("key", kind, wrong), "put", 10037);
            await refused(bucket.put("new", pattern(size), wrong), "put", 10037);
          }
        }
        assert.equal((await mustHead(bucket, "key")).version, before.version);
        assert.equal(await textOf(bucket, "key"), "before");
        assert.equal(await bucket.head("new"), null);
      });

      test(`spec 2.12: the error of a ${algorithm} that does not match contains both values`, async () => {
        const { bucket } = await open();
        const [wrong, actual] = [digest(algorithm, "other"), digest(algorithm, "value")];
        await assert.rejects(bucket.put("key", "value", option(algorithm, wrong)), (error: Error) => {
          const lines = error.message.split("\n");
          assert.equal(lines.length, 3);
          assert.equal(lines[0], `put: The ${name} checksum you specified did not match what we received.`);
          assert.ok(lines[1]?.includes(wrong.toString("hex")));
          assert.ok(lines[2]?.includes(actual.toString("hex")));
          return true;
        });
      });

      test(`spec 2.12: put refuses a ${algorithm} that is not ${length} bytes as binary data or a hex string`, async () => {
        const { bucket } = await open();
        const hex = "a".repeat(length * 2);
        const wrong = [
          "",
          hex.slice(2),
          `${hex}aa`,
          `${hex.slice(1)}g`,
          pattern(length - 1),
          pattern(length + 1),
        ];
        for (const value of wrong) {
          await wrongArgument(bucket.put("key", "value", option(algorithm, value)), TypeError);
        }
        for (const value of [5, {}, true]) {
          await wrongArgument(bucket.put("key", "value", { [algorithm]: value }), TypeError);
        }
        await wrongArgument(
          bucket.put("key", "value", option(algorithm, pattern(length - 1))),
          TypeError,
          new RegExp(`\\b${length}\\b`),
        );
        assert.equal(await bucket.head("key"), null);
      });
    }

    test("spec 2.5: an MD5 checksum is included by default for non-multipart objects", async () => {
      const { bucket } = await open();
      for (const size of fewSizes) {
        const expected = { md5: digest("md5", pattern(size)) };
        for (const value of [pattern(size), unknownLength(pattern(size))]) {
          assertChecksums((await bucket.put("key", value)).checksums, expected);
        }
        assertChecksums((await mustHead(bucket, "key")).checksums, expected);
      }
    });

    test("spec 2.5: every checksum field is optional; an object uploaded in parts has no checksum", async () => {
      const { bucket } = await open();
      assertChecksums((await putInParts(bucket, "key", ["value"])).checksums, {});
      assertChecksums((await mustHead(bucket, "key")).checksums, {});
    });

    test("spec 2.5: an overwritten object does not keep the checksums of the previous object", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value", { sha512: digest("sha512", "value") });
      await bucket.put("key", "value");
      assertChecksums((await mustHead(bucket, "key")).checksums, { md5: digest("md5", "value") });
    });

    test("spec 2.12: a put with more than one checksum is refused", async () => {
      const { bucket } = await open();
      const both = { md5: digest("md5", "value"), sha1: digest("sha1", "value") };
      const message = /^You cannot specify multiple hashing algorithms\.$/;
      await wrongArgument(bucket.put("key", "value", both), TypeError, message);
      assert.equal(await bucket.head("key"), null);
    });
  });
}
