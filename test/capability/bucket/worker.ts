// Checks that run inside workerd, on its own bucket binding. Only the compiled file is loaded there.
import assert from "node:assert/strict";
import type { R2Bucket, R2Object, R2ObjectBody } from "@cloudflare/workers-types";

interface FixedLengthStreamClass {
  new (length: number): { readonly readable: ReadableStream; readonly writable: WritableStream };
}

const { FixedLengthStream } = globalThis as unknown as { FixedLengthStream: FixedLengthStreamClass };

async function found<T>(promise: Promise<T | null>): Promise<T> {
  const value = await promise;
  assert.notEqual(value, null);
  return value as T;
}

/** Rejections have a code and the message of Store, once. */
async function rejects(promise: Promise<unknown>, message: string): Promise<void> {
  await assert.rejects(promise, (error: Error) => {
    assert.equal(error.message, message);
    return true;
  });
}

async function body(promise: Promise<R2ObjectBody | R2Object | null>): Promise<string> {
  return ((await found(promise)) as R2ObjectBody).text();
}

export const checks: Readonly<Record<string, (bucket: R2Bucket) => Promise<void>>> = {
  async "put, head and get with all metadata"(bucket) {
    const key = "dir/ü €😀 \"'\n";
    const put = await bucket.put(key, "hello", {
      httpMetadata: {
        contentType: "text/plain",
        contentLanguage: "en",
        contentDisposition: "inline",
        contentEncoding: "identity",
        cacheControl: "no-store",
        cacheExpiry: new Date(1_700_000_000_000),
      },
      customMetadata: { name: "ü", empty: "" },
      storageClass: "InfrequentAccess",
    });
    const head = await found(bucket.head(key));
    assert.equal(head.key, key);
    assert.equal(head.size, 5);
    assert.equal(head.etag, "5d41402abc4b2a76b9719d911017c592");
    assert.equal(head.httpEtag, '"5d41402abc4b2a76b9719d911017c592"');
    assert.equal(head.version, put.version);
    assert.ok(Math.abs(head.uploaded.getTime() - Date.now()) < 600_000);
    assert.equal(head.httpMetadata?.cacheExpiry?.getTime(), 1_700_000_000_000);
    assert.equal(head.httpMetadata?.contentDisposition, "inline");
    assert.deepEqual({ ...head.customMetadata }, { name: "ü", empty: "" });
    assert.equal(head.storageClass, "InfrequentAccess");
    assert.equal(head.checksums.toJSON().md5, head.etag);
    assert.equal(head.range, undefined);
    const get = (await found(bucket.get(key))) as R2ObjectBody;
    assert.deepEqual({ ...get.range }, { offset: 0, length: 5, suffix: undefined });
    assert.equal(await get.text(), "hello");
    const headers = new Headers();
    get.writeHttpMetadata(headers as never);
    assert.equal(headers.get("content-language"), "en");
  },

  async "missing objects, the empty key and unusual keys"(bucket) {
    assert.equal(await bucket.head("missing"), null);
    assert.equal(await bucket.get("missing"), null);
    for (const key of ["", ".", "..", "a/../b", "\u0001", "x".repeat(1024)]) {
      await bucket.put(key, key);
      assert.equal(await body(bucket.get(key)), key);
      await bucket.delete(key);
      assert.equal(await bucket.head(key), null);
    }
    await bucket.put("\x7f", "");
    await rejects(bucket.head("\x7f"), "head: The request is not valid HTTP. (10029)");
    await rejects(bucket.put("x".repeat(1025), ""), "put: The specified object name is not valid. (10020)");
    await rejects(bucket.head("x".repeat(1025)), "head: The specified object name is not valid. (10020)");
  },

  async "ranges of get"(bucket) {
    await bucket.put("range", "value");
    assert.equal(await body(bucket.get("range", { range: { offset: 3 } })), "ue");
    assert.equal(await body(bucket.get("range", { range: { offset: 1, length: 2 } })), "al");
    assert.equal(await body(bucket.get("range", { range: { length: 42 } })), "value");
    assert.equal(await body(bucket.get("range", { range: { suffix: 2 } })), "ue");
    const headers = new Headers({ range: "bytes=1-3" }) as never;
    assert.equal(await body(bucket.get("range", { range: headers })), "alu");
    const message = "get: The requested range is not satisfiable (10039)";
    await rejects(bucket.get("range", { range: { offset: 5 } }), message);
    await rejects(bucket.get("range", { range: { length: 0 } }), message);
  },

  async "conditions of get and put"(bucket) {
    const { etag, uploaded } = await found(bucket.put("condition", "one"));
    const get = async (onlyIf: object) => {
      const object = await found(bucket.get("condition", { onlyIf }));
      assert.equal(object.etag, etag);
      return "body" in object && object.body !== undefined;
    };
    const later = new Date(uploaded.getTime() + 10);
    const headers = (fields: Record<string, string>) => new Headers(fields);
    assert.equal(await get({ etagMatches: etag }), true);
    assert.equal(await get({ etagMatches: "other" }), false);
    assert.equal(await get({ etagDoesNotMatch: etag }), false);
    assert.equal(await get({ etagDoesNotMatch: "*" }), false);
    assert.equal(await get({ uploadedBefore: later }), true);
    assert.equal(await get({ uploadedBefore: uploaded }), false);
    assert.equal(await get({ uploadedAfter: later }), false);
    assert.equal(await get({ uploadedAfter: new Date(-5000) }), true);
    assert.equal(await get(headers({ "if-none-match": `"x", W/"${etag}"` })), false);
    assert.equal(await get(headers({ "if-match": `"x", "${etag}"` })), true);
    assert.equal(await get(headers({ "if-unmodified-since": uploaded.toUTCString() })), true);
    assert.equal(await get(headers({ "if-modified-since": uploaded.toUTCString() })), false);
    const createOnly = { onlyIf: { etagDoesNotMatch: "*" } };
    assert.equal(await bucket.put("condition", "two", createOnly), null);
    assert.notEqual(await bucket.put("condition-new", "two", createOnly), null);
    assert.equal(await body(bucket.get("condition")), "one");
    // The body is larger than all buffers, and the response comes only after it.
    const large = new Uint8Array(24 * 1024 * 1024);
    assert.equal(await bucket.put("condition", large, createOnly), null);
  },

  async "checksums of put"(bucket) {
    const bytes = new TextEncoder().encode("hello");
    for (const [option, name] of [
      ["sha1", "SHA-1"],
      ["sha256", "SHA-256"],
      ["sha384", "SHA-384"],
      ["sha512", "SHA-512"],
    ] as const) {
      const digest = await crypto.subtle.digest(name, bytes);
      const put = await bucket.put("checksum", "hello", { [option]: digest });
      assert.deepEqual(new Uint8Array(put.checksums[option]!), new Uint8Array(digest));
    }
    const md5 = "5d41402abc4b2a76b9719d911017c592";
    assert.equal((await bucket.put("checksum", "hello", { md5 })).checksums.toJSON().md5, md5);
    await rejects(
      bucket.put("checksum", "other", { md5 }),
      "put: The MD5 checksum you specified did not match what we received.\n" +
        `You provided a MD5 checksum with value: ${md5}\n` +
        "Actual MD5 was: 795f3202b17cb6bc3d4b771d8c6c9eaf (10037)",
    );
  },

  async "customer keys"(bucket) {
    const ssecKey = "ab".repeat(32);
    const put = await bucket.put("ssec", "hello", { ssecKey });
    assert.match(put.ssecKeyMd5!, /^[0-9a-f]{32}$/);
    assert.equal(await body(bucket.get("ssec", { ssecKey })), "hello");
    const wrong = bucket.get("ssec", { ssecKey: "cd".repeat(32) });
    await rejects(wrong, "get: Access Denied. (10003)");
    await assert.rejects(bucket.get("ssec"), /\(10029\)$/);
  },

  async "delete of one and of many"(bucket) {
    for (const key of ["delete-1", "delete-2", "delete-3"]) await bucket.put(key, key);
    await bucket.delete("delete-1");
    await bucket.delete(["delete-2", "delete-3", "delete-missing"]);
    await bucket.delete([]);
    assert.deepEqual((await bucket.list({ prefix: "delete-" })).objects, []);
    const keys = Array.from({ length: 1001 }, (_, i) => `${i}`);
    await rejects(
      bucket.delete(keys),
      "delete: The number of keys in the request must be between 1 and 1000 inclusive. (10027)",
    );
  },

  async "list with pages, delimiters and metadata"(bucket) {
    const options = { httpMetadata: { contentType: "text/plain" }, customMetadata: { k: "v" } };
    for (const key of ["list/a/1", "list/a/2", "list/b", "list/c"]) await bucket.put(key, key, options);
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await bucket.list({ prefix: "list/", limit: 2, cursor: cursor! });
      names.push(...page.objects.map(({ key }) => key));
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined);
    assert.deepEqual(names, ["list/a/1", "list/a/2", "list/b", "list/c"]);
    const grouped = await bucket.list({ prefix: "list/", delimiter: "/" });
    assert.deepEqual(grouped.delimitedPrefixes, ["list/a/"]);
    assert.deepEqual(
      grouped.objects.map(({ key, customMetadata }) => [key, customMetadata]),
      [
        ["list/b", undefined],
        ["list/c", undefined],
      ],
    );
    const after = await bucket.list({ prefix: "list/", startAfter: "list/b", include: ["customMetadata"] });
    assert.equal(after.objects.length, 1);
    assert.deepEqual({ ...after.objects[0]!.customMetadata }, { k: "v" });
    assert.equal(after.objects[0]!.httpMetadata, undefined);
    const all = await bucket.list({ prefix: "list/b", include: ["httpMetadata", "customMetadata"] });
    assert.equal(all.objects[0]!.httpMetadata?.contentType, "text/plain");
    assert.ok((await bucket.list()).objects.length > 3);
    await assert.rejects(
      bucket.list({ cursor: "foreign" }),
      /^Error: list: The cursor is not valid.*\(10029\)$/,
    );
  },

  async "a list of long keys"(bucket) {
    const keys = Array.from({ length: 180 }, (_, i) => `long/${i}/`.padEnd(1024, "\u0001"));
    await Promise.all(keys.map((key) => bucket.put(key, "")));
    let listed = 0;
    let cursor: string | undefined;
    do {
      const page = await bucket.list({ prefix: "long/", cursor: cursor! });
      listed += page.objects.length;
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined);
    assert.equal(listed, 180);
    await bucket.delete(keys);
  },

  async "multipart uploads"(bucket) {
    const upload = await bucket.createMultipartUpload("upload", { customMetadata: { k: "v" } });
    const parts = [await upload.uploadPart(1, "hello"), await upload.uploadPart(2, "!")];
    const object = await upload.complete(parts);
    assert.equal(object.size, 6);
    assert.match(object.etag, /-2$/);
    assert.deepEqual({ ...object.customMetadata }, { k: "v" });
    assert.equal(await body(bucket.get("upload")), "hello!");
    const gone = "The specified multipart upload does not exist. (10024)";
    await rejects(upload.uploadPart(3, "x"), `uploadPart: ${gone}`);
    await rejects(upload.complete(parts), `completeMultipartUpload: ${gone}`);
    await upload.abort();
    const unknown = bucket.resumeMultipartUpload("upload", "unknown");
    await rejects(unknown.abort(), `abortMultipartUpload: ${gone}`);
    const second = await bucket.createMultipartUpload("upload");
    await rejects(
      second.complete([{ partNumber: 1, etag: "x" }]),
      "completeMultipartUpload: One or more of the specified parts could not be found. (10025)",
    );
    const uneven = [await second.uploadPart(1, "a"), await second.uploadPart(2, "bb")];
    await rejects(
      second.complete(uneven),
      "completeMultipartUpload: All non-trailing parts must have the same length. (10048)",
    );
    await second.abort();
  },

  async "large streams both ways"(bucket) {
    const size = 12 * 1024 * 1024;
    const { readable, writable } = new FixedLengthStream(size);
    const writing = (async () => {
      const writer = writable.getWriter();
      const chunk = new Uint8Array(256 * 1024).fill(7);
      for (let sent = 0; sent < size; sent += chunk.length) await writer.write(chunk);
      await writer.close();
    })();
    const [put] = await Promise.all([found(bucket.put("stream", readable as never)), writing]);
    assert.equal(put.size, size);
    const copy = (await found(bucket.get("stream"))) as R2ObjectBody;
    // A body goes from one object to another without being buffered.
    assert.equal((await found(bucket.put("stream-copy", copy.body))).etag, put.etag);
    const cut = (await found(bucket.get("stream"))) as R2ObjectBody;
    const reader = cut.body.getReader();
    await reader.read();
    await reader.cancel();
    await bucket.delete(["stream", "stream-copy"]);
  },

  async "errors of options have the code and the message of Store"(bucket) {
    await rejects(
      bucket.put("error", "x", { storageClass: "Glacier" }),
      "put: The storage class specified is not valid. (10062)",
    );
    await rejects(
      bucket.put("error", "x", { customMetadata: { k: "v".repeat(8192) } }),
      "put: Your metadata headers exceed the maximum allowed metadata size. (10012)",
    );
    await assert.rejects(
      bucket.put("error", "x", { httpMetadata: { contentType: "a\nb" } }),
      /^Error: put: "contentType" contains a control character.*\(10029\)$/,
    );
    assert.equal(await bucket.head("error"), null);
  },
};

// biome-ignore lint/style/noDefaultExport: workerd calls the default export.
export default {
  async fetch(request: Request, env: { readonly BUCKET: R2Bucket }): Promise<Response> {
    const check = checks[decodeURIComponent(new URL(request.url).pathname.slice(1))];
    try {
      await check!(env.BUCKET);
      return new Response("passed");
    } catch (error) {
      return new Response(error instanceof Error ? error.stack : String(error), { status: 500 });
    }
  },
};
