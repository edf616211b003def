// binding.md, the error table: one test for every row that a call of the binding can bring about, each
// with the proof that nothing changed. Rows of uploads and parts stand in error-table-uploads.ts.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FixedLengthStream, type StoreStorageClass } from "../../../src/index.ts";
import { limits } from "../../../src/model/limits.ts";
import type { Implementation } from "../../support/stores.ts";
import { messageOf } from "./reason-table.ts";
import {
  digest,
  furnish,
  openBucket,
  otherSecret,
  rejection,
  type Scene,
  secret,
  textOf,
  watchedStream,
} from "./scene.ts";

/** A test of one row, on a furnished bucket whose upload in flight must live on. */
export function row(implementation: Implementation, name: string, body: (scene: Scene) => Promise<void>) {
  test(name, async (t) => {
    const scene = await furnish(t, implementation);
    await body(scene);
    await scene.completesOngoing();
  });
}

export function errorTableContract(implementation: Implementation): void {
  describe("error table: buckets", () => {
    row(
      implementation,
      "10005 InvalidBucketName: not 3-63 of a-z 0-9 . -, alphanumeric at both ends, or two dots together, or an IP address",
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
          (await store.listBuckets()).map(({ name }) => name),
          [...valid, "bucket"].sort(),
        );
      },
    );

    row(
      implementation,
      "10006 NoSuchBucket: every operation in a bucket that does not exist",
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
      "10006 NoSuchBucket: a bucket that was deleted, until it is created again",
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
      "10008 BucketNotEmpty: a bucket that holds an object is not deleted",
      async ({ store, refuses }) => {
        await refuses({ code: 10008, action: "deleteBucket", message: messageOf(10008) }, () =>
          store.deleteBucket("bucket"),
        );
      },
    );

    row(implementation, "10073 BucketConflict: bucket name taken", async ({ store, refuses }) => {
      await refuses({ code: 10073, action: "createBucket" }, () => store.createBucket("bucket"));
      await refuses({ code: 10073, action: "createBucket" }, () =>
        store.createBucket("bucket", { storageClass: "InfrequentAccess" }),
      );
    });
  });

  describe("error table: reading", () => {
    row(implementation, "10003 AccessDenied: wrong SSE-C key", async ({ bucket, refuses }) => {
      const expected = { code: 10003, action: "get", message: messageOf(10003) };
      await refuses(expected, () => bucket.get("sealed", { ssecKey: otherSecret }));
      await refuses(expected, () =>
        bucket.get("sealed", { ssecKey: otherSecret, range: { offset: 1, length: 1 } }),
      );
    });

    row(implementation, "10007 NoSuchKey: null in the binding", async ({ bucket, unchangedBy }) => {
      assert.equal(await unchangedBy(() => bucket.head("missing")), null);
      assert.equal(await unchangedBy(() => bucket.get("missing")), null);
      assert.equal(await unchangedBy(() => bucket.delete("missing")), undefined);
    });

    row(implementation, "10022 InvalidMaxKeys: list limit negative or not a number", async (scene) => {
      const expected = { code: 10022, action: "list", message: messageOf(10022) };
      for (const limit of [-1, -1000, Number.NEGATIVE_INFINITY, Number.NaN, "ten", {}]) {
        await scene.refuses(expected, () => scene.loose.list({ limit }));
      }
    });

    row(implementation, "10029 InvalidRequest: invalid cursor", async ({ bucket, refuses }) => {
      const { cursor } = await bucket.list({ limit: 1 });
      assert.ok(cursor);
      const foreign = ["foreign", "kept", "-1", "0", `${cursor}A`, cursor.slice(1), `${cursor}=`, "💥", "\0"];
      for (const cursor of foreign) {
        await refuses({ code: 10029, action: "list" }, () => bucket.list({ cursor }));
      }
    });

    row(
      implementation,
      "10029 InvalidRequest: SSE-C key missing or not applicable",
      async ({ bucket, refuses }) => {
        await refuses({ code: 10029, action: "get" }, () => bucket.get("sealed"));
        await refuses({ code: 10029, action: "get" }, () => bucket.get("kept", { ssecKey: secret }));
        await refuses({ code: 10029, action: "get" }, () => bucket.get("larger", { ssecKey: secret }));
      },
    );

    row(
      implementation,
      "10031 PreconditionFailed: mapped to null / body-less object in the binding",
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
      "10039 InvalidRange: the range has no byte of the object",
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

  describe("error table: writing", () => {
    row(
      implementation,
      "10012 MetadataTooLarge: custom metadata over 8,192 UTF-8 bytes, names + values",
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
      "10013 IncompleteBody: body ended before its declared length",
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
      "10020 InvalidObjectName: key over 1,024 UTF-8 bytes, or with a lone surrogate",
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
      "10027 (delete batch): delete of more than 1000 keys",
      async ({ bucket, refuses }) => {
        const expected = { code: 10027, action: "delete", message: messageOf(10027) };
        const keys = ["kept", "sealed", ...Array.from({ length: 999 }, (_, i) => `missing-${i}`)];
        assert.equal(keys.length, 1001);
        await refuses(expected, () => bucket.delete(keys));
        await refuses(expected, () => bucket.delete(new Array<string>(1001).fill("kept")));
      },
    );

    row(implementation, "10037 BadDigest: checksum mismatch", async ({ bucket, refuses }) => {
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
          assert.match(lines[0] ?? "", new RegExp(`^put: The ${name} checksum you specified did not match`));
          assert.match(lines[0] ?? "", /checksum you specified did not match what we received\.$/);
          assert.ok(lines[1]?.endsWith(given), lines[1]);
          assert.ok(lines[2]?.endsWith(`${digest(algorithm, "value")} (10037)`), lines[2]);
        }
      }
    });

    row(
      implementation,
      "10062 InvalidStorageClass: neither Standard nor InfrequentAccess",
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
      "100100 EntityTooLarge: single put or part over 5,363,466,240 B",
      async ({ bucket, upload, refuses }) => {
        assert.equal(limits.singleWriteBytes, 5_363_466_240);
        const message = messageOf(100100);
        for (const [action, act] of [
          ["put", (body: ReadableStream) => bucket.put("kept", body)],
          ["uploadPart", (body: ReadableStream) => upload.uploadPart(1, body)],
        ] as const) {
          for (const declared of [limits.singleWriteBytes + 1, Number.MAX_SAFE_INTEGER]) {
            const { readable, writable } = new FixedLengthStream(declared);
            // Its write is only ever taken by somebody who reads the other side.
            const taken = Promise.allSettled([writable.getWriter().write(new Uint8Array(1024))]);
            await refuses({ code: 100100, action, message }, () => act(readable));
            assert.equal((await taken)[0].status, "rejected", "the stream was read, not cancelled");
          }
        }
      },
    );
  });

  test("a body declared at the limit itself is not refused for its size", async (t) => {
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
