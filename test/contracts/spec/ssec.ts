// Spec 2.12 and 8, the ssecKey of get, put and multipart uploads: 32 bytes, as bytes or as hex.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import type { StoreGetOptions } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import {
  arrayBufferOf,
  assertBytes,
  contentOf,
  fewSizes,
  fieldsOf,
  mustGet,
  mustHead,
  pattern,
  putInParts,
  refused,
  sharedBucket,
  textOf,
  unknownLength,
  uploadParts,
  wrongArgument,
} from "./support.ts";

type Key = NonNullable<StoreGetOptions["ssecKey"]>;

const bytes = pattern(32, 21);
const hex = Buffer.from(bytes).toString("hex");
const md5 = createHash("md5").update(bytes).digest("hex");
const otherKey = pattern(32, 22);

/** The same key in every accepted form. */
const forms: readonly (readonly [string, Key])[] = [
  ["an ArrayBuffer", arrayBufferOf(bytes)],
  ["a hex-encoded string", hex],
  ["a hex-encoded string in capitals", hex.toUpperCase()],
  ["a view", bytes],
  ["a view with a byteOffset", Buffer.concat([Buffer.alloc(9), bytes, Buffer.alloc(9)]).subarray(9, 41)],
];

const wrongLengths: readonly Key[] = [
  ...["", hex.slice(2), hex.slice(1), `${hex}00`, `${hex.slice(1)}g`, "x".repeat(32), ` ${hex}`],
  ...[0, 16, 31, 33, 64].flatMap((length) => [arrayBufferOf(pattern(length)), pattern(length)]),
];

export function ssecSentences(implementation: Implementation): void {
  describe("SSE-C behaves as the spec states", () => {
    const open = sharedBucket(implementation);

    for (const [form, ssecKey] of forms) {
      test(`spec 2.12: put, get and multipart uploads accept an ssecKey of 32 bytes as ${form}`, async () => {
        const { bucket } = await open();
        assert.equal((await bucket.put("single", "value", { ssecKey })).ssecKeyMd5, md5);
        assert.equal((await putInParts(bucket, "in parts", ["val", "ue"], { ssecKey })).ssecKeyMd5, md5);
        for (const key of ["single", "in parts"]) {
          for (const [, again] of forms) assert.equal(await textOf(bucket, key, { ssecKey: again }), "value");
        }
      });
    }

    test("spec 8: get, put and multipart uploads refuse an SSE-C key that is not 32 bytes long", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value", { ssecKey: bytes });
      const upload = await bucket.createMultipartUpload("other", { ssecKey: bytes });
      for (const ssecKey of wrongLengths) {
        const message = /^SSE-C Key /;
        await wrongArgument(bucket.get("key", { ssecKey }), TypeError, message);
        await wrongArgument(bucket.put("other", "value", { ssecKey }), TypeError, message);
        await wrongArgument(bucket.createMultipartUpload("other", { ssecKey }), TypeError, message);
        await wrongArgument(upload.uploadPart(1, "value", { ssecKey }), TypeError, message);
      }
      assert.equal(await bucket.head("other"), null);
      assert.equal(await textOf(bucket, "key", { ssecKey: bytes }), "value");
    });

    test("spec 2.12: get with the ssecKey given to put returns the value, for every size and kind of value", async () => {
      const { bucket } = await open();
      for (const size of fewSizes) {
        for (const value of [pattern(size), unknownLength(pattern(size))]) {
          const put = await bucket.put("key", value, { ssecKey: bytes });
          assert.equal(put.size, size);
          assertBytes(await contentOf(bucket, "key", { ssecKey: bytes }), pattern(size));
        }
      }
    });

    test("spec 2.12: the object of an upload created with an ssecKey is read with that ssecKey", async () => {
      const { bucket } = await open();
      const values = [pattern(70_000, 1), pattern(70_000, 2), pattern(1, 3)];
      await putInParts(bucket, "key", values, { ssecKey: bytes });
      const whole = new Uint8Array(Buffer.concat(values));
      assertBytes(await contentOf(bucket, "key", { ssecKey: bytes }), whole);
    });

    test("spec 2.12: a part without its upload's ssecKey or with another ssecKey is refused", async () => {
      const { bucket } = await open();
      const sealed = await bucket.createMultipartUpload("sealed", { ssecKey: bytes });
      await refused(sealed.uploadPart(1, "value"), "uploadPart", 10029);
      await refused(sealed.uploadPart(1, "value", { ssecKey: otherKey }), "uploadPart", 10029);
      const plain = await bucket.createMultipartUpload("plain");
      await refused(plain.uploadPart(1, "value", { ssecKey: bytes }), "uploadPart", 10029);
      await sealed.complete(await uploadParts(sealed, ["value"], { ssecKey: bytes }));
      assert.equal(await textOf(bucket, "sealed", { ssecKey: bytes }), "value");
    });

    test("spec 2.12: get without the ssecKey or with another ssecKey returns no byte of the object", async () => {
      const { bucket } = await open();
      for (const size of fewSizes) {
        await bucket.put("single", pattern(size), { ssecKey: bytes });
        await putInParts(bucket, "in parts", [pattern(size)], { ssecKey: bytes });
        for (const key of ["single", "in parts"]) {
          await refused(bucket.get(key), "get", 10029);
          await refused(bucket.get(key, { ssecKey: otherKey }), "get", 10003);
        }
      }
    });

    test("spec 2.12: get with an ssecKey is refused for an object stored without one", async () => {
      const { bucket } = await open();
      await bucket.put("single", "value");
      await putInParts(bucket, "in parts", ["value"]);
      for (const key of ["single", "in parts"]) {
        await refused(bucket.get(key, { ssecKey: bytes }), "get", 10029);
        assert.equal(await textOf(bucket, key), "value");
      }
    });

    test("spec 2.2: head needs no ssecKey and returns the MD5 of the key that get needs", async () => {
      const { bucket } = await open();
      const put = await bucket.put("key", "value", { ssecKey: bytes });
      const object = await mustHead(bucket, "key");
      assert.equal(object.ssecKeyMd5, md5);
      assert.deepEqual(fieldsOf(object), { ...fieldsOf(put), checksums: {} });
    });

    test("spec 2.12: range and onlyIf can be combined with ssecKey", async () => {
      const { bucket } = await open();
      const { etag } = await bucket.put("key", pattern(200_000), { ssecKey: bytes });
      const range = { offset: 65_530, length: 70_000 };
      const part = await mustGet(bucket, "key", { ssecKey: bytes, range });
      assertBytes(await part.arrayBuffer(), pattern(200_000).slice(65_530, 135_530));
      const refusal = await bucket.get("key", { ssecKey: bytes, onlyIf: { etagDoesNotMatch: etag } });
      assert.ok(refusal !== null && !("body" in refusal));
      assert.equal(refusal.ssecKeyMd5, md5);
    });

    test("spec 2.12: checksums of a put with ssecKey are verified against the plain value", async () => {
      const { bucket } = await open();
      for (const size of fewSizes) {
        const sha256 = createHash("sha256").update(pattern(size)).digest();
        const put = await bucket.put("key", pattern(size), { ssecKey: bytes, sha256 });
        assert.equal(put.checksums.toJSON().sha256, sha256.toString("hex"));
        await refused(
          bucket.put("key", pattern(size, 1), { ssecKey: bytes, sha256: otherKey }),
          "put",
          10037,
        );
      }
    });

    test("spec 2.12: overwriting an encrypted object without an ssecKey stores an unencrypted object", async () => {
      const { bucket } = await open();
      await bucket.put("key", "sealed", { ssecKey: bytes });
      assert.equal((await bucket.put("key", "plain")).ssecKeyMd5, undefined);
      assert.equal(await textOf(bucket, "key"), "plain");
    });
  });
}
