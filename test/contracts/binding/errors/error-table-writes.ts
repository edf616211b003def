// Tests the error table of binding.md: errors of writes. Each test also checks that the store did
// not change.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FixedLengthStream, type StoreStorageClass } from "../../../../src/index.ts";
import { limits } from "../../../../src/model/limits.ts";
import type { Implementation } from "../../../support/stores.ts";
import { digest, openBucket, rejection, textOf, watchedStream } from "../scene.ts";
import { row } from "./error-table.ts";
import { messageOf } from "./reason-table.ts";

export function writeErrorTableContract(implementation: Implementation): void {
  describe("every error of a write has its documented code and message", () => {
    row(
      implementation,
      "custom metadata of more than 8,192 UTF-8 bytes in total is refused with 10012 MetadataTooLarge",
      async ({ bucket, refuses }) => {
        const tooLarge = [
          { a: "b".repeat(8192) },
          { ["n".repeat(8192)]: "v" },
          { a: "é".repeat(4096) },
          { one: "1".repeat(4096), two: "2".repeat(4091) },
        ];
        for (const customMetadata of tooLarge) {
          await refuses({ code: 10012, action: "put", message: messageOf(10012) }, () =>
            bucket.put("kept", "value", { customMetadata }),
          );
          await refuses({ code: 10012, action: "createMultipartUpload", message: messageOf(10012) }, () =>
            bucket.createMultipartUpload("kept", { customMetadata }),
          );
        }
        const fitting = [
          { a: "b".repeat(8191) },
          { é: "é".repeat(4095) },
          { one: "1".repeat(4096), two: "2".repeat(4090) },
        ];
        for (const customMetadata of fitting) {
          const stored = await bucket.put("other", "value", { customMetadata });
          assert.deepEqual({ ...stored.customMetadata }, customMetadata);
        }
      },
    );

    row(
      implementation,
      "a body that ends before its declared length is refused with 10013 IncompleteBody",
      async ({ bucket, upload, refuses }) => {
        for (const size of [0, 5, 9, 9000]) {
          const declared = size < 10 ? 10 : 10_000;
          for (const [action, act] of [
            ["put", (body: ReadableStream) => bucket.put("kept", body)],
            ["uploadPart", (body: ReadableStream) => upload.uploadPart(1, body)],
          ] as const) {
            const { readable, writable } = new FixedLengthStream(declared);
            const writer = writable.getWriter();
            const sent = Promise.allSettled([writer.write(new Uint8Array(size)), writer.close()]);
            await refuses({ code: 10013, action }, () => act(readable));
            await sent;
          }
        }
      },
    );

    row(
      implementation,
      "a key over 1,024 UTF-8 bytes or with a lone surrogate is refused with 10020 InvalidObjectName",
      async ({ bucket, refuses }) => {
        const message = messageOf(10020);
        const wrong = [
          "k".repeat(1025),
          "é".repeat(513),
          "😀".repeat(257),
          "\ud800",
          "a\udc00b",
          "\ude00\ud83d",
        ];
        for (const key of wrong) {
          await refuses({ code: 10020, action: "head", message }, () => bucket.head(key));
          await refuses({ code: 10020, action: "get", message }, () => bucket.get(key));
          await refuses({ code: 10020, action: "put", message }, () => bucket.put(key, "value"));
          await refuses({ code: 10020, action: "delete", message }, () => bucket.delete(key));
          await refuses({ code: 10020, action: "delete", message }, () => bucket.delete(["kept", key]));
          await refuses({ code: 10020, action: "createMultipartUpload", message }, () =>
            bucket.createMultipartUpload(key),
          );
        }
      },
    );

    row(
      implementation,
      "delete of more than 1000 keys in one call is refused with 10027",
      async ({ bucket, refuses }) => {
        const expected = { code: 10027, action: "delete", message: messageOf(10027) };
        const keys = ["kept", "sealed", ...Array.from({ length: 999 }, (_, i) => `missing-${i}`)];
        assert.equal(keys.length, 1001);
        await refuses(expected, () => bucket.delete(keys));
        await refuses(expected, () => bucket.delete(new Array<string>(1001).fill("kept")));
      },
    );

    row(
      implementation,
      "a put whose checksum does not match is refused with 10037 BadDigest",
      async ({ bucket, refuses }) => {
        for (const [algorithm, name] of [
          ["md5", "MD5"],
          ["sha1", "SHA-1"],
          ["sha256", "SHA-256"],
          ["sha384", "SHA-384"],
          ["sha512", "SHA-512"],
        ] as const) {
          const given = digest(algorithm, "something else");
          const bodies = ["value", watchedStream(["val", "ue"]).stream];
          for (const body of bodies) {
            const error = await refuses({ code: 10037, action: "put" }, () =>
              bucket.put("kept", body, { [algorithm]: given }),
            );
            const lines = error.message.split("\n");
            assert.equal(lines.length, 3);
            assert.match(
              lines[0] ?? "",
              new RegExp(`^put: The ${name} checksum you specified did not match`),
            );
            assert.match(lines[0] ?? "", /checksum you specified did not match what we received\.$/);
            assert.ok(lines[1]?.endsWith(given), lines[1]);
            assert.ok(lines[2]?.endsWith(`${digest(algorithm, "value")} (10037)`), lines[2]);
          }
        }
      },
    );

    row(
      implementation,
      "a storage class other than Standard or InfrequentAccess is refused with 10062 InvalidStorageClass",
      async ({ store, bucket, refuses }) => {
        for (const wrong of ["", "standard", "STANDARD", "Glacier", "__proto__"]) {
          const storageClass = wrong as StoreStorageClass;
          const message = messageOf(10062);
          await refuses({ code: 10062, action: "put", message }, () =>
            bucket.put("kept", "value", { storageClass }),
          );
          await refuses({ code: 10062, action: "createMultipartUpload", message }, () =>
            bucket.createMultipartUpload("kept", { storageClass }),
          );
          await refuses({ code: 10062, action: "createBucket", message }, () =>
            store.createBucket("other", { storageClass }),
          );
        }
      },
    );

    row(
      implementation,
      "a single put or part over 5,363,466,240 bytes is refused with 100100 EntityTooLarge",
      async ({ bucket, upload, refuses }) => {
        assert.equal(limits.singleWriteBytes, 5_363_466_240);
        const message = messageOf(100100);
        for (const [action, act] of [
          ["put", (body: ReadableStream) => bucket.put("kept", body)],
          ["uploadPart", (body: ReadableStream) => upload.uploadPart(1, body)],
        ] as const) {
          for (const declared of [limits.singleWriteBytes + 1, Number.MAX_SAFE_INTEGER]) {
            const { readable, writable } = new FixedLengthStream(declared);
            // This write resolves only when the readable side is read.
            const taken = Promise.allSettled([writable.getWriter().write(new Uint8Array(1024))]);
            await refuses({ code: 100100, action, message }, () => act(readable));
            assert.equal((await taken)[0].status, "rejected", "the stream was read, not cancelled");
          }
        }
      },
    );
  });

  test("a body whose declared length is exactly the maximum size is not refused as too large", async (t) => {
    const { bucket } = await openBucket(t, implementation);
    await bucket.put("kept", "before");
    const { readable, writable } = new FixedLengthStream(limits.singleWriteBytes);
    const writer = writable.getWriter();
    const put = rejection(() => bucket.put("kept", readable));
    await writer.write(new Uint8Array(1024));
    const fault = new Error("enough");
    await writer.abort(fault);
    assert.equal(await put, fault);
    assert.equal(await textOf(bucket, "kept"), "before");
  });
}
