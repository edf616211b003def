// Tests "get" of binding.md: results, the order of checks, and the metadata of a result.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreObject } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import { described, openBucket, rejectsWith, secret } from "./scene.ts";

export function getContract(implementation: Implementation): void {
  describe("get returns an object, part of it, or null", () => {
    test("get of a missing key returns null for any condition, range and SSE-C key", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("missing", "was there");
      await bucket.delete("missing");
      for (const key of ["missing", "never-was"]) {
        for (const options of [
          {},
          { onlyIf: { etagMatches: "*" } },
          { onlyIf: { etagMatches: "0".repeat(32) } },
          { onlyIf: { etagDoesNotMatch: "*" } },
          { onlyIf: { uploadedBefore: 0, uploadedAfter: 0 } },
          { onlyIf: new Headers({ "if-match": "*" }) },
          { onlyIf: new Headers({ "if-none-match": '"a"' }) },
          { range: { offset: 42 } },
          { range: { suffix: 0 } },
          { ssecKey: secret },
          { httpMetadata: { contentType: "a/b" } },
        ]) {
          assert.equal(await bucket.get(key, options), null);
        }
        assert.equal(await bucket.head(key), null);
      }
    });

    test("get evaluates conditions before the range", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const { etag } = await bucket.put("key", "value");
      const range = { offset: 42 };
      const refused = await bucket.get("key", { onlyIf: { etagDoesNotMatch: etag }, range });
      assert.ok(refused);
      assert.equal("body" in refused, false);
      await rejectsWith({ code: 10039, action: "get" }, () =>
        bucket.get("key", { onlyIf: { etagMatches: etag }, range }),
      );
    });

    test("range in a get result is the returned offset and length, even if no range was requested", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", "value");
      await bucket.put("empty", null);
      const upload = await bucket.createMultipartUpload("parts");
      await upload.complete([await upload.uploadPart(1, "hello"), await upload.uploadPart(2, "!")]);
      assert.deepEqual((await bucket.get("key"))?.range, { offset: 0, length: 5 });
      assert.deepEqual((await bucket.get("empty"))?.range, { offset: 0, length: 0 });
      assert.deepEqual((await bucket.get("parts"))?.range, { offset: 0, length: 6 });
      assert.deepEqual((await bucket.get("key", { range: { suffix: 42 } }))?.range, { offset: 0, length: 5 });
      assert.deepEqual((await bucket.get("key", { range: { offset: 1, length: 42 } }))?.range, {
        offset: 1,
        length: 4,
      });
      assert.equal((await bucket.get("key", { range: { suffix: 2 } }))?.size, 5);
    });

    test("range is undefined in results of head, put, list and complete, and of a get without a body", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const put = await bucket.put("key", "value");
      const upload = await bucket.createMultipartUpload("parts");
      const completed = await upload.complete([await upload.uploadPart(1, "hello")]);
      const refused = await bucket.get("key", { onlyIf: { etagMatches: "other" }, range: { offset: 1 } });
      const { objects } = await bucket.list();
      assert.equal(objects.length, 2);
      for (const object of [put, completed, await bucket.head("key"), refused, ...objects]) {
        assert.ok(object);
        assert.equal(object.range, undefined);
      }
    });

    test("head, get, put, list and complete return an object with equal fields", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const options = {
        httpMetadata: { contentType: "text/plain", cacheExpiry: new Date(1_900_000_000_000) },
        customMetadata: { a: "b" },
        storageClass: "InfrequentAccess" as const,
        ssecKey: secret,
      };
      const put = await bucket.put("put", "value", { ...options, sha1: sha1OfValue });
      const upload = await bucket.createMultipartUpload("complete", options);
      const part = await upload.uploadPart(1, "value", { ssecKey: secret });
      const completed = await upload.complete([part]);
      for (const object of [put, completed]) {
        const { key } = object;
        const [listed] = (await bucket.list({ prefix: key, include: ["httpMetadata", "customMetadata"] }))
          .objects;
        const got = await bucket.get(key, { ssecKey: secret });
        const refused = await bucket.get(key, { ssecKey: secret, onlyIf: { etagMatches: "other" } });
        assert.ok(got);
        assert.deepEqual(described(got), described(object));
        // Checksums of the plain bytes are returned only to callers with the key.
        for (const seen of [await bucket.head(key), refused, listed]) {
          assert.ok(seen);
          assert.deepEqual(described(seen), { ...described(object), checksums: {} });
        }
        assert.equal(object.httpEtag, `"${object.etag}"`);
        assert.ok(object.uploaded instanceof Date);
      }
    });
  });

  describe("httpMetadata in the options of get overrides the stored metadata", () => {
    const stored = { contentType: "text/plain", cacheControl: "no-store" };
    test("get with an httpMetadata object returns its fields instead of the stored fields", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", "value", { httpMetadata: stored });
      const cacheExpiry = new Date(1_900_000_000_000);
      const given = { contentType: "text/html", contentLanguage: "de", cacheExpiry };
      const object = await bucket.get("key", { httpMetadata: given });
      assert.ok(object);
      assert.deepEqual({ ...object.httpMetadata }, { ...stored, ...given });
      assert.deepEqual(headersOf(object), {
        "cache-control": "no-store",
        "content-language": "de",
        "content-type": "text/html",
        expires: cacheExpiry.toUTCString(),
      });
      assert.equal(await object.text(), "value");
      assert.deepEqual({ ...(await bucket.head("key"))?.httpMetadata }, stored);
    });

    test("get with httpMetadata given as Headers returns its fields instead of the stored fields", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", "value", { httpMetadata: stored });
      const httpMetadata = new Headers({
        "Content-Type": "text/html",
        "Content-Disposition": "inline",
        X: "y",
      });
      const object = await bucket.get("key", { httpMetadata });
      assert.deepEqual(
        { ...object?.httpMetadata },
        { ...stored, contentType: "text/html", contentDisposition: "inline" },
      );
      assert.deepEqual({ ...(await bucket.head("key"))?.httpMetadata }, stored);
    });
  });

  describe("writeHttpMetadata sets HTTP headers from the stored metadata", () => {
    test("writeHttpMetadata sets a header for each stored field and leaves all other headers unchanged", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("all", "value", {
        httpMetadata: {
          contentType: "text/plain; charset=utf-8",
          contentLanguage: "en, de",
          contentDisposition: 'attachment; filename="a.txt"',
          contentEncoding: "gzip",
          cacheControl: "max-age=60",
          cacheExpiry: new Date("2030-01-02T03:04:05Z"),
        },
      });
      await bucket.put("none", "value");
      const all = await bucket.head("all");
      const none = await bucket.head("none");
      assert.ok(all && none);
      assert.deepEqual(headersOf(all, { "x-other": "kept", "content-type": "replaced" }), {
        "cache-control": "max-age=60",
        "content-disposition": 'attachment; filename="a.txt"',
        "content-encoding": "gzip",
        "content-language": "en, de",
        "content-type": "text/plain; charset=utf-8",
        expires: "Wed, 02 Jan 2030 03:04:05 GMT",
        "x-other": "kept",
      });
      assert.deepEqual(headersOf(none, { "content-type": "kept/kept" }), { "content-type": "kept/kept" });
    });
  });
}

const sha1OfValue = "f32b67c7e26342af42efabc674d441dca0a281c5";

function headersOf(object: StoreObject, given: Record<string, string> = {}): Record<string, string> {
  const headers = new Headers(given);
  object.writeHttpMetadata(headers);
  return Object.fromEntries(headers);
}
