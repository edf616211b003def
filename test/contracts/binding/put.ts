// Tests "put" of binding.md: accepted values, etag, version and HTTP metadata.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Implementation } from "../../support/stores.ts";
import { digest, furnish, loose, MiB, openBucket, patterned, textOf, watchedStream } from "./scene.ts";

export function putContract(implementation: Implementation): void {
  describe("put stores every supported type of value", () => {
    test("put stores the bytes of every supported type of value", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const framed = Uint8Array.from([0, 1, 2, 3, 4, 5, 6, 7]);
      const values: readonly (readonly [
        value: Parameters<typeof bucket.put>[1],
        bytes: readonly number[],
      ])[] = [
        ["", []],
        ["é😀", [0xc3, 0xa9, 0xf0, 0x9f, 0x98, 0x80]],
        [framed.buffer, [0, 1, 2, 3, 4, 5, 6, 7]],
        [framed, [0, 1, 2, 3, 4, 5, 6, 7]],
        [framed.subarray(2, 5), [2, 3, 4]],
        [new DataView(framed.buffer, 1, 2), [1, 2]],
        [new Uint16Array(framed.buffer, 2, 2), [2, 3, 4, 5]],
        [Buffer.from("hello").subarray(1, 3), [0x65, 0x6c]],
        [new ArrayBuffer(0), []],
        [new Blob(["ab", framed.subarray(0, 1)]), [0x61, 0x62, 0]],
        [new Blob([]), []],
        [watchedStream([framed.subarray(0, 2), new Uint8Array(), framed.subarray(6)]).stream, [0, 1, 6, 7]],
        [watchedStream([]).stream, []],
        [null, []],
      ];
      for (const [value, bytes] of values) {
        const stored = await bucket.put("key", value);
        assert.equal(stored.size, bytes.length);
        const object = await bucket.get("key");
        assert.deepEqual([...(await object!.bytes())], bytes);
      }
    });

    test("put(key, null) stores an empty object, and put(key) is refused with a TypeError", async (t) => {
      const scene = await furnish(t, implementation);
      await scene.refusesArgument({}, () => scene.loose.put("kept"));
      await scene.refusesArgument({}, () => scene.loose.put("kept", undefined));
      const empty = await scene.bucket.put("kept", null);
      assert.equal(empty.size, 0);
      assert.equal(empty.etag, "d41d8cd98f00b204e9800998ecf8427e");
      assert.equal(await textOf(scene.bucket, "kept"), "");
    });

    test("put accepts streams of unknown length with chunks of any size", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const bytes = patterned(MiB + 123);
      for (const chunkSize of [4096, 65_536, bytes.length]) {
        const chunks: Uint8Array[] = [];
        for (let at = 0; at < bytes.length; at += chunkSize) chunks.push(bytes.slice(at, at + chunkSize));
        const stored = await bucket.put("key", watchedStream(chunks).stream);
        assert.equal(stored.size, bytes.length);
        assert.equal(stored.etag, digest("md5", bytes));
        const object = await bucket.get("key");
        assert.ok(Buffer.from(await object!.arrayBuffer()).equals(bytes));
      }
    });

    test("put accepts a byte stream, a Response's body and another object's body", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const byteStream = new ReadableStream({
        type: "bytes",
        pull(controller) {
          controller.enqueue(new TextEncoder().encode("bytes"));
          controller.close();
        },
      });
      await bucket.put("a", byteStream);
      assert.equal(await textOf(bucket, "a"), "bytes");
      await bucket.put("a", new Response("response").body);
      assert.equal(await textOf(bucket, "a"), "response");
      for (const size of [10, 100_000]) {
        await bucket.put("a", patterned(size));
        await bucket.put("b", (await bucket.get("a"))!.body);
        assert.equal((await bucket.head("b"))?.etag, digest("md5", patterned(size)));
        // The put reads the body of the object that it replaces.
        await bucket.put("a", (await bucket.get("a"))!.body);
        assert.equal((await bucket.head("a"))?.etag, digest("md5", patterned(size)));
      }
    });

    test("changing the buffer given to put or returned by get does not change the stored object", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const bytes = patterned(3000);
      await bucket.put("key", bytes);
      bytes.fill(0);
      const object = await bucket.get("key");
      const got = await object!.bytes();
      assert.ok(Buffer.from(got).equals(patterned(3000)));
      got.fill(0);
      assert.ok(Buffer.from(await (await bucket.get("key"))!.bytes()).equals(patterned(3000)));
    });
  });

  describe("put returns the etag, version and time of the write", () => {
    test("the etag of a single put is the lowercase hex MD5", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      for (const value of ["", "value", "v".repeat(10_000)]) {
        const stored = await bucket.put("key", value);
        assert.equal(stored.etag, digest("md5", value));
        assert.equal(stored.httpEtag, `"${stored.etag}"`);
        assert.equal((await bucket.head("key"))?.etag, stored.etag);
      }
    });

    test("the version of an object is 32 random hex digits, new for every write", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const versions = new Set<string>();
      for (let i = 0; i < 10; i++) {
        const { version } = await bucket.put("key", "value");
        assert.match(version, /^[0-9a-f]{32}$/);
        assert.equal((await bucket.head("key"))?.version, version);
        versions.add(version);
      }
      const upload = await bucket.createMultipartUpload("key");
      const completed = await upload.complete([await upload.uploadPart(1, "value")]);
      assert.match(completed.version, /^[0-9a-f]{32}$/);
      versions.add(completed.version);
      assert.equal(versions.size, 11);
    });

    test("the uploaded field of an object is the time of its write", async (t) => {
      let now = Date.parse("2024-05-06T07:08:09.123Z");
      const { bucket } = await openBucket(t, implementation, { now: () => now });
      assert.deepEqual((await bucket.put("key", "value")).uploaded, new Date(now));
      now += 1;
      await bucket.put("key", "value");
      assert.deepEqual((await bucket.head("key"))?.uploaded, new Date(now));
    });
  });

  describe("put stores HTTP metadata from an object or from Headers", () => {
    test("put with httpMetadata given as Headers stores the six HTTP metadata headers and ignores all others", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const httpMetadata = new Headers({
        "Content-Type": "text/plain; charset=utf-8",
        "content-language": "en",
        "CONTENT-DISPOSITION": "inline",
        "Content-Encoding": "gzip",
        "Cache-Control": "no-cache",
        Expires: "Wed, 02 Jan 2030 03:04:05 GMT",
        "Content-Length": "5",
        ETag: '"x"',
        "X-Other": "ignored",
      });
      const expected = {
        contentType: "text/plain; charset=utf-8",
        contentLanguage: "en",
        contentDisposition: "inline",
        contentEncoding: "gzip",
        cacheControl: "no-cache",
        cacheExpiry: new Date("2030-01-02T03:04:05Z"),
      };
      const stored = await bucket.put("key", "value", { httpMetadata });
      assert.deepEqual({ ...stored.httpMetadata }, expected);
      const upload = await bucket.createMultipartUpload("parts", { httpMetadata });
      await upload.complete([await upload.uploadPart(1, "hello")]);
      for (const key of ["key", "parts"]) {
        assert.deepEqual({ ...(await bucket.head(key))?.httpMetadata }, expected);
      }
      const partly = await bucket.put("key", "value", {
        httpMetadata: new Headers({ "content-type": "a/b" }),
      });
      assert.deepEqual({ ...partly.httpMetadata }, { contentType: "a/b" });
      assert.deepEqual(
        { ...(await bucket.put("key", "value", { httpMetadata: new Headers() })).httpMetadata },
        {},
      );
    });

    test("a put without metadata does not keep the metadata of the previous object", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", "value", { httpMetadata: { contentType: "a/b" }, customMetadata: { a: "b" } });
      await bucket.put("key", "value");
      const object = await bucket.head("key");
      assert.deepEqual({ ...object?.httpMetadata }, {});
      assert.deepEqual({ ...object?.customMetadata }, {});
    });

    test("put and createMultipartUpload refuse control characters in HTTP metadata with a TypeError", async (t) => {
      const scene = await furnish(t, implementation);
      const fields = [
        "contentType",
        "contentLanguage",
        "contentDisposition",
        "contentEncoding",
        "cacheControl",
      ];
      for (const field of fields) {
        for (const value of ["a\nb", "a\r\nX-Other: b", "\0", "a\x1b", "a\x7f"]) {
          const httpMetadata = { [field]: value };
          await scene.refusesArgument({}, () => scene.loose.put("kept", "value", { httpMetadata }));
          await scene.refusesArgument({}, () => scene.loose.createMultipartUpload("kept", { httpMetadata }));
        }
      }
      await scene.completesOngoing();
    });

    test("HTTP metadata with non-ASCII characters is stored, and written to headers as UTF-8", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const httpMetadata = { contentDisposition: 'attachment; filename="Größe 日本.txt"' };
      await bucket.put("key", "value", { httpMetadata });
      assert.deepEqual({ ...(await bucket.head("key"))?.httpMetadata }, httpMetadata);
      // A header value is a byte string, so the text must be encoded as UTF-8.
      const headers = new Headers();
      (await bucket.head("key"))?.writeHttpMetadata(headers);
      const carried = headers.get("content-disposition") ?? "";
      assert.equal(Buffer.from(carried, "latin1").toString("utf8"), httpMetadata.contentDisposition);
    });
  });

  describe("put sets the storage class of an object", () => {
    test("an object has the storage class given to put, or the bucket's default", async (t) => {
      const store = await implementation.open(t);
      for (const [name, own] of [
        ["standard", "Standard"],
        ["infrequent", "InfrequentAccess"],
      ] as const) {
        await store.createBucket(name, { storageClass: own });
        const bucket = store.bucket(name);
        assert.equal((await bucket.put("key", "value")).storageClass, own);
        for (const storageClass of ["Standard", "InfrequentAccess"] as const) {
          assert.equal((await bucket.put("key", "value", { storageClass })).storageClass, storageClass);
          assert.equal((await bucket.head("key"))?.storageClass, storageClass);
        }
        const upload = await loose(bucket).createMultipartUpload("parts");
        const completed = await upload.complete([await upload.uploadPart(1, "hello")]);
        assert.equal(completed.storageClass, own);
      }
    });
  });
}
