// Tests SSE-C of binding.md in get, put and multipart uploads. A missing, unneeded or wrong key is
// refused before the first byte.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreBucket } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import { digest, MiB, openBucket, otherSecret, patterned, rejectsWith, secret } from "./scene.ts";

const keyMd5 = digest("md5", Buffer.from(secret, "hex"));

async function multipart(
  bucket: StoreBucket,
  key: string,
  ssecKey: string,
  values: readonly (string | Uint8Array)[],
) {
  const upload = await bucket.createMultipartUpload(key, { ssecKey });
  const parts = [];
  for (const value of values) parts.push(await upload.uploadPart(parts.length + 1, value, { ssecKey }));
  return upload.complete(parts);
}

export function ssecContract(implementation: Implementation): void {
  describe("objects put with an SSE-C key are encrypted and need the key to be read", () => {
    test("get with the SSE-C key returns the decrypted bytes of an object of any size", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      for (const size of [0, 1, 4096, 4097, 64 * 1024, 64 * 1024 + 1, MiB]) {
        const bytes = patterned(size);
        const stored = await bucket.put("key", bytes, { ssecKey: secret });
        assert.equal(stored.size, size);
        assert.match(stored.etag, /^[0-9a-f]{32}$/);
        assert.notEqual(stored.etag, digest("md5", bytes));
        assert.equal(stored.ssecKeyMd5, keyMd5);
        const object = await bucket.get("key", { ssecKey: secret.toUpperCase() });
        assert.ok(Buffer.from(await object!.arrayBuffer()).equals(bytes));
      }
    });

    test("ssecKeyMd5 is the hex MD5 of the key on every result, and undefined on a plain object", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const put = await bucket.put("a", "value", { ssecKey: secret });
      const completed = await multipart(bucket, "b", secret, ["hello"]);
      const heads = [await bucket.head("a"), await bucket.head("b")];
      const gets = [await bucket.get("a", { ssecKey: secret }), await bucket.get("b", { ssecKey: secret })];
      const refused = await bucket.get("a", { ssecKey: secret, onlyIf: { etagMatches: "other" } });
      const listed = (await bucket.list()).objects;
      for (const object of [put, completed, ...heads, ...gets, refused, ...listed]) {
        assert.equal(object?.ssecKeyMd5, keyMd5);
      }
      const plain = await bucket.put("a", "value");
      assert.equal(plain.ssecKeyMd5, undefined);
      assert.equal((await bucket.head("a"))?.ssecKeyMd5, undefined);
    });

    const sizes = [0, 5, 4096, 100_000];
    test("get of an encrypted object without a key is refused with 10029", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      for (const size of sizes) {
        await bucket.put("key", patterned(size), { ssecKey: secret });
        await rejectsWith({ code: 10029, action: "get" }, () => bucket.get("key"));
      }
      await bucket.put("key", "value", { ssecKey: secret });
      await rejectsWith({ code: 10029, action: "get" }, () => bucket.get("key", { range: { offset: 1 } }));
      await multipart(bucket, "parts", secret, ["hello", "world"]);
      await rejectsWith({ code: 10029, action: "get" }, () => bucket.get("parts"));
    });

    test("get of a plain object with a key is refused with 10029", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      for (const size of sizes) {
        await bucket.put("key", patterned(size));
        await rejectsWith({ code: 10029, action: "get" }, () => bucket.get("key", { ssecKey: secret }));
      }
      const upload = await bucket.createMultipartUpload("parts");
      await upload.complete([await upload.uploadPart(1, "hello")]);
      await rejectsWith({ code: 10029, action: "get" }, () => bucket.get("parts", { ssecKey: secret }));
    });

    test("get with a wrong key is refused with 10003 before the first byte, also for a range", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const expected = { code: 10003, action: "get", message: "Access Denied." };
      const wrong = [otherSecret, `${secret.slice(0, 62)}ee`, new Uint8Array(32)];
      for (const size of sizes) {
        await bucket.put("key", patterned(size), { ssecKey: secret });
        for (const ssecKey of wrong) {
          await rejectsWith(expected, () => bucket.get("key", { ssecKey }));
          if (size > 0) {
            const range = { offset: size - 1, length: 1 };
            await rejectsWith(expected, () => bucket.get("key", { ssecKey, range }));
          }
        }
      }
      await multipart(bucket, "parts", secret, ["hello", "world"]);
      for (const ssecKey of wrong) await rejectsWith(expected, () => bucket.get("parts", { ssecKey }));
    });

    test("head, list, put and delete of an encrypted object need no key", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", "value", { ssecKey: secret });
      assert.equal((await bucket.head("key"))?.size, 5);
      assert.equal((await bucket.list()).objects.length, 1);
      await bucket.put("key", "overwritten with another", { ssecKey: otherSecret });
      assert.equal(
        await (await bucket.get("key", { ssecKey: otherSecret }))?.text(),
        "overwritten with another",
      );
      await bucket.put("key", "overwritten with none");
      assert.equal(await (await bucket.get("key"))?.text(), "overwritten with none");
      await bucket.put("key", "value", { ssecKey: secret });
      await bucket.delete("key");
      assert.equal(await bucket.head("key"), null);
    });

    test("conditions and checksums of an encrypted object refer to the plain bytes", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const options = { ssecKey: secret, sha256: digest("sha256", "value") };
      const { etag, checksums } = await bucket.put("key", "value", options);
      assert.deepEqual(
        { ...checksums.toJSON() },
        {
          md5: digest("md5", "value"),
          sha256: digest("sha256", "value"),
        },
      );
      const object = await bucket.get("key", { ssecKey: secret, onlyIf: { etagMatches: etag } });
      assert.ok(object !== null && "body" in object);
      assert.equal(await object.text(), "value");
      assert.equal(
        await bucket.put("key", "other", { ssecKey: secret, onlyIf: { etagDoesNotMatch: etag } }),
        null,
      );
      const wrong = { ssecKey: secret, md5: digest("md5", "other") };
      await rejectsWith({ code: 10037, action: "put" }, () => bucket.put("key", "value", wrong));
    });

    test("without the SSE-C key, no returned field is a hash of the plain bytes", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const options = { ssecKey: secret, sha256: digest("sha256", "value") };
      const put = await bucket.put("key", "value", options);
      const again = await bucket.put("again", "value", options);
      assert.notEqual(put.etag, again.etag);
      const upload = await bucket.createMultipartUpload("parts", { ssecKey: secret });
      const part = await upload.uploadPart(1, "value", { ssecKey: secret });
      await upload.complete([part]);
      const seen = [await bucket.head("key"), await bucket.head("parts"), ...(await bucket.list()).objects];
      const text = JSON.stringify([part, ...seen, ...seen.map((object) => object?.checksums.toJSON())]);
      const whole = `${digest("md5", Buffer.from(digest("md5", "value"), "hex"))}-1`;
      for (const hash of [digest("md5", "value"), digest("sha256", "value"), whole]) {
        assert.ok(!text.includes(hash), hash);
      }
      const got = await bucket.get("key", { ssecKey: secret });
      assert.equal(got?.checksums.toJSON().md5, digest("md5", "value"));
    });

    test("createMultipartUpload and uploadPart need the SSE-C key of an encrypted upload, complete does not", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const values = [patterned(100_000, 1), patterned(100_000, 2), patterned(10, 3)];
      const object = await multipart(bucket, "key", secret, values);
      assert.equal(object.size, 200_010);
      assert.equal(object.ssecKeyMd5, keyMd5);
      const md5s = Buffer.from(values.map((value) => digest("md5", value)).join(""), "hex");
      assert.match(object.etag, /^[0-9a-f]{32}-3$/);
      assert.notEqual(object.etag, `${digest("md5", md5s)}-3`);
      const got = await bucket.get("key", { ssecKey: Buffer.from(secret, "hex") });
      assert.ok(Buffer.from(await got!.arrayBuffer()).equals(Buffer.concat(values)));
      const range = { offset: 99_990, length: 100_015 };
      const ranged = await bucket.get("key", { ssecKey: secret, range });
      assert.ok(
        Buffer.from(await ranged!.arrayBuffer()).equals(Buffer.concat(values).subarray(99_990, 200_005)),
      );
    });

    test("uploadPart with a wrong, missing or unneeded SSE-C key is refused with 10029", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const sealed = await bucket.createMultipartUpload("sealed", { ssecKey: secret });
      const plain = await bucket.createMultipartUpload("plain");
      const expected = { code: 10029, action: "uploadPart" };
      await rejectsWith(expected, () => sealed.uploadPart(1, "hello"));
      await rejectsWith(expected, () => sealed.uploadPart(1, "hello", {}));
      await rejectsWith(expected, () => sealed.uploadPart(1, "hello", { ssecKey: otherSecret }));
      await rejectsWith(expected, () => plain.uploadPart(1, "hello", { ssecKey: secret }));
      // The created handle stores the SSE-C key, so the test resumes a handle without it.
      const resumed = bucket.resumeMultipartUpload("sealed", sealed.uploadId);
      await rejectsWith(expected, () => resumed.uploadPart(1, "hello"));
      const part = await resumed.uploadPart(1, "hello", { ssecKey: secret.toUpperCase() });
      await sealed.complete([part]);
      assert.equal(await (await bucket.get("sealed", { ssecKey: secret }))?.text(), "hello");
      await plain.complete([await plain.uploadPart(1, "hello")]);
      assert.equal(await (await bucket.get("plain"))?.text(), "hello");
    });

    test("an encrypted part that is uploaded again has the content of the last upload", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const upload = await bucket.createMultipartUpload("key", { ssecKey: secret });
      await upload.uploadPart(1, "first", { ssecKey: secret });
      const part = await upload.uploadPart(1, "again", { ssecKey: secret });
      await upload.complete([part]);
      assert.equal(await (await bucket.get("key", { ssecKey: secret }))?.text(), "again");
    });
  });
}
