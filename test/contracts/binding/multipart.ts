// Tests "multipart" of binding.md: uploading parts and completing an upload.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { StoreUploadedPart } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import {
  digest,
  furnish,
  looseUpload,
  MiB,
  openBucket,
  patterned,
  rejectsWith,
  secret,
  textOf,
  watchedStream,
} from "./scene.ts";

export function multipartContract(implementation: Implementation): void {
  describe("parts of a multipart upload can be uploaded in any order", () => {
    test("a part number from 1 to 10000 is accepted and truncated to an integer", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      for (const [given, number] of [
        [1, 1],
        [1.9, 1],
        [2.5, 2],
        [9999.999, 9999],
        [10_000, 10_000],
        [10_000.9, 10_000],
      ] as const) {
        const upload = await bucket.createMultipartUpload("key");
        const part = await upload.uploadPart(given, "hello");
        assert.deepEqual({ ...part }, { partNumber: number, etag: digest("md5", "hello") });
        await upload.complete([part]);
      }
    });

    test("a part number outside 1 to 10000 is refused with a TypeError", async (t) => {
      const scene = await furnish(t, implementation);
      const wrong = [
        0,
        0.9,
        -0,
        -1,
        10_001,
        1e9,
        Number.NaN,
        Number.POSITIVE_INFINITY,
        Number.NEGATIVE_INFINITY,
      ];
      for (const number of wrong) {
        await scene.refusesArgument({}, () => scene.upload.uploadPart(number, "hello"));
      }
      for (const number of [undefined, null, "one", {}, Symbol("1")]) {
        await scene.refusesArgument({}, () => looseUpload(scene.upload).uploadPart(number, "hello"));
      }
      await scene.completesOngoing();
    });

    test("uploading a part number again replaces the part", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const upload = await bucket.createMultipartUpload("key");
      const first = await upload.uploadPart(1, "first");
      await upload.uploadPart(2, "xxxxx");
      const again = await upload.uploadPart(1, "again");
      const second = await upload.uploadPart(2, "2");
      await rejectsWith({ code: 10025, action: "completeMultipartUpload" }, () =>
        upload.complete([first, second]),
      );
      await upload.complete([again, second]);
      assert.equal(await textOf(bucket, "key"), "again2");
    });

    test("the etag of a part is its hex MD5, for every type of value", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const upload = await bucket.createMultipartUpload("key");
      const bytes = patterned(5000);
      const etag = digest("md5", bytes);
      for (const value of [bytes, bytes.buffer, new Blob([bytes]), watchedStream([bytes]).stream]) {
        assert.deepEqual({ ...(await upload.uploadPart(1, value)) }, { partNumber: 1, etag });
      }
      assert.equal((await upload.uploadPart(2, "")).etag, digest("md5", ""));
      assert.equal((await upload.uploadPart(2, "é")).etag, digest("md5", "é"));
    });

    test("parts may be uploaded concurrently and in any order", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const upload = await bucket.createMultipartUpload("key");
      const values = Array.from({ length: 10 }, (_, i) => patterned(1000, i + 1));
      const parts = await Promise.all(values.map((value, i) => upload.uploadPart(10 - i, value)));
      await upload.complete(parts);
      const object = await bucket.get("key");
      assert.ok(Buffer.from(await object!.arrayBuffer()).equals(Buffer.concat([...values].reverse())));
    });
  });

  describe("complete creates the object from the given parts", () => {
    test("complete accepts the parts in any order and joins them by part number", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const orders = [
        [0, 1, 2],
        [2, 1, 0],
        [1, 2, 0],
      ];
      for (const order of orders) {
        const upload = await bucket.createMultipartUpload("key");
        const parts: StoreUploadedPart[] = [];
        for (const [i, value] of ["one", "two", "3"].entries())
          parts.push(await upload.uploadPart(i + 1, value));
        const object = await upload.complete(order.map((i) => parts[i]!));
        assert.equal(object.size, 7);
        assert.equal(await textOf(bucket, "key"), "onetwo3");
      }
    });

    test("complete accepts gaps in part numbers and a subset of the parts", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const upload = await bucket.createMultipartUpload("key");
      const parts = new Map<number, StoreUploadedPart>();
      for (const number of [3, 7, 8, 42, 10_000])
        parts.set(number, await upload.uploadPart(number, `${number % 10}`));
      const object = await upload.complete([7, 42, 10_000].map((number) => parts.get(number)!));
      assert.equal(object.size, 3);
      assert.equal(await textOf(bucket, "key"), "720");
      assert.match(object.etag, /-3$/);
    });

    test('the etag of an object whose only part is "hello" is 62109206880d38a4010a98e11243924a-1', async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const upload = await bucket.createMultipartUpload("key");
      const object = await upload.complete([await upload.uploadPart(1, "hello")]);
      assert.equal(object.etag, "62109206880d38a4010a98e11243924a-1");
      assert.equal(object.httpEtag, '"62109206880d38a4010a98e11243924a-1"');
      assert.equal((await bucket.head("key"))?.etag, object.etag);
    });

    test("the etag of a multipart object is the MD5 of its parts' MD5s and their number, and it has no checksums", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const upload = await bucket.createMultipartUpload("key");
      const values = ["hello", "world", "!"];
      const parts: StoreUploadedPart[] = [];
      for (const value of values) parts.push(await upload.uploadPart(parts.length + 1, value));
      const object = await upload.complete(parts);
      const raw = Buffer.concat(values.map((value) => Buffer.from(digest("md5", value), "hex")));
      assert.equal(object.etag, `${digest("md5", raw)}-3`);
      const [listed] = (await bucket.list()).objects;
      for (const seen of [object, await bucket.head("key"), await bucket.get("key"), listed]) {
        assert.equal(seen?.etag, object.etag);
        assert.deepEqual({ ...seen?.checksums.toJSON() }, {});
        for (const name of ["md5", "sha1", "sha256", "sha384", "sha512"] as const) {
          assert.equal(seen?.checksums[name], undefined);
        }
      }
    });

    test("parts of an upload have no minimum size and may be empty", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      for (const values of [[""], ["a", "b"], ["a", ""], ["", ""]]) {
        const upload = await bucket.createMultipartUpload("key");
        const parts: StoreUploadedPart[] = [];
        for (const value of values) parts.push(await upload.uploadPart(parts.length + 1, value));
        await upload.complete(parts);
        assert.equal(await textOf(bucket, "key"), values.join(""));
      }
    });

    test("all parts given to complete must have the same size, except the last, which may be smaller", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const upload = await bucket.createMultipartUpload("key");
      const parts: StoreUploadedPart[] = [];
      for (const value of ["55555", "1", "55555", "333", "7777777"]) {
        parts.push(await upload.uploadPart(parts.length + 1, value));
      }
      const [five, one, alsoFive, three, seven] = parts as [
        StoreUploadedPart,
        StoreUploadedPart,
        StoreUploadedPart,
        StoreUploadedPart,
        StoreUploadedPart,
      ];
      const expected = {
        code: 10048,
        action: "completeMultipartUpload",
        message: "All non-trailing parts must have the same length.",
      };
      for (const named of [
        parts,
        [five, one, alsoFive],
        [five, alsoFive, seven],
        [one, three],
        [five, five],
      ]) {
        await rejectsWith(expected, () => upload.complete(named));
      }
      await upload.complete([five, alsoFive, three]);
      assert.equal(await textOf(bucket, "key"), "5555555555333");
    });

    test("a completed object has the metadata given to createMultipartUpload", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const httpMetadata = { contentType: "text/plain", cacheExpiry: new Date(1_900_000_000_000) };
      const options = {
        httpMetadata,
        customMetadata: { a: "b" },
        storageClass: "InfrequentAccess" as const,
        ssecKey: secret,
      };
      await bucket.put("key", "old", {
        httpMetadata: { cacheControl: "old" },
        customMetadata: { old: "old" },
      });
      const upload = await bucket.createMultipartUpload("key", options);
      const object = await upload.complete([await upload.uploadPart(1, "hello", { ssecKey: secret })]);
      for (const seen of [object, await bucket.head("key")]) {
        assert.equal(seen?.key, "key");
        assert.deepEqual({ ...seen?.httpMetadata }, httpMetadata);
        assert.deepEqual({ ...seen?.customMetadata }, { a: "b" });
        assert.equal(seen?.storageClass, "InfrequentAccess");
        assert.equal(seen?.ssecKeyMd5, digest("md5", Buffer.from(secret, "hex")));
      }
    });

    test("complete replaces the old object atomically", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", patterned(10_000));
      const old = await bucket.head("key");
      const upload = await bucket.createMultipartUpload("key");
      const parts = [
        await upload.uploadPart(1, patterned(MiB, 2)),
        await upload.uploadPart(2, patterned(10, 3)),
      ];
      assert.equal((await bucket.head("key"))?.version, old?.version);
      let completed = false;
      const completing = upload.complete(parts).then((object) => {
        completed = true;
        return object;
      });
      const seen = new Set<string>();
      while (!completed) {
        const object = await bucket.get("key");
        const length = (await object!.bytes()).length;
        assert.equal(length, object!.version === old?.version ? 10_000 : MiB + 10);
        seen.add(object!.version);
        await setImmediate();
      }
      const { version, size } = await completing;
      assert.equal(size, MiB + 10);
      assert.equal((await bucket.head("key"))?.version, version);
      for (const one of seen) assert.ok(one === old?.version || one === version);
    });

    test("exactly one of two concurrent completes succeeds, and the other is refused", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const upload = await bucket.createMultipartUpload("key");
      const part = await upload.uploadPart(1, "hello");
      const outcomes = await Promise.allSettled([upload.complete([part]), upload.complete([part])]);
      const statuses = outcomes.map(({ status }) => status).sort();
      assert.deepEqual(statuses, ["fulfilled", "rejected"]);
      const codes = outcomes.flatMap((outcome) =>
        outcome.status === "rejected" ? [outcome.reason.code] : [],
      );
      assert.deepEqual(codes, [10024]);
      assert.equal(await textOf(bucket, "key"), "hello");
    });

    test("complete with an argument that is not a list of parts is refused with a TypeError", async (t) => {
      const scene = await furnish(t, implementation);
      const upload = looseUpload(scene.upload);
      const { etag } = scene.parts[0]!;
      const wrong = [
        null,
        "parts",
        42,
        {},
        [null],
        ["part"],
        [{}],
        [{ partNumber: 1 }],
        [{ etag }],
        [{ partNumber: "one", etag }],
        [{ partNumber: 1, etag: 42 }],
      ];
      for (const parts of wrong) await scene.refusesArgument({}, () => upload.complete(parts));
      await scene.completesOngoing();
    });
  });
}
