// The operations on objects in the bucket protocol: head, get, put and delete.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { openScene } from "./scene.ts";

const hello = { size: "5", etag: "5d41402abc4b2a76b9719d911017c592" };

test("put stores bytes and metadata, and head and get return them as the schema says", async (t) => {
  const { send } = await openScene(t);
  const put = await send(
    {
      method: "put",
      object: "a/ü €😀\n\"'",
      httpFields: {
        contentType: "text/plain; é",
        contentLanguage: "en",
        contentDisposition: "inline",
        contentEncoding: "identity",
        cacheControl: "no-store",
        cacheExpiry: "1700000000000",
      },
      customFields: [
        { k: "__proto__", v: "ü" },
        { k: "", v: "" },
      ],
      storageClass: "InfrequentAccess",
    },
    "hello",
  );
  assert.equal(put.status, 200);
  const { version, uploaded } = put.metadata as { version: string; uploaded: string };
  assert.match(version, /^[0-9a-f]{32}$/);
  assert.match(uploaded, /^\d{13}$/);
  const expected = {
    name: "a/ü €😀\n\"'",
    ...{ version, uploaded, ...hello },
    httpFields: {
      contentType: "text/plain; é",
      contentLanguage: "en",
      contentDisposition: "inline",
      contentEncoding: "identity",
      cacheControl: "no-store",
      cacheExpiry: "1700000000000",
    },
    customFields: [
      { k: "__proto__", v: "ü" },
      { k: "", v: "" },
    ],
    checksums: { 0: hello.etag },
    storageClass: "InfrequentAccess",
  };
  assert.deepEqual(put.metadata, expected);
  const head = await send({ method: "head", object: "a/ü €😀\n\"'" });
  assert.deepEqual([head.status, head.text, head.metadata], [200, "", expected]);
  const get = await send({ method: "get", object: "a/ü €😀\n\"'" });
  const range = { offset: "0", length: "5" };
  assert.deepEqual([get.status, get.text, get.metadata], [200, "hello", { ...expected, range }]);
});

test("a missing object is 404 with code 10007, also for the empty key", async (t) => {
  const { send } = await openScene(t);
  for (const fields of [
    { method: "head", object: "missing" },
    { method: "get", object: "missing" },
    { method: "get", object: "" },
    { method: "get", object: "missing", onlyIf: { etagMatches: [{ type: "wildcard" }] } },
  ]) {
    const { status, code, message } = await send(fields);
    assert.deepEqual([status, code, message], [404, 10007, "The specified key does not exist."]);
  }
});

test("get returns the requested range, in each of its forms", async (t) => {
  const { engine, send } = await openScene(t);
  await engine.put("bucket", "five", Buffer.from("value"));
  await engine.put("bucket", "empty", Buffer.from(""));
  const ranges: readonly [object, string, string][] = [
    [{ range: { offset: "3" } }, "ue", "3+2"],
    [{ range: { offset: 1, length: 2 } }, "al", "1+2"],
    [{ range: { length: "42" } }, "value", "0+5"],
    [{ range: { suffix: "2" } }, "ue", "3+2"],
    [{ range: { suffix: "18446744073709551614" } }, "value", "0+5"],
    [{ range: {} }, "value", "0+5"],
    [{ rangeHeader: "bytes=1-3" }, "alu", "1+3"],
    [{ rangeHeader: "bytes=-1" }, "e", "4+1"],
    [{ rangeHeader: "bytes=0-1,3-4" }, "value", "0+5"],
    [{ rangeHeader: "lines=1" }, "value", "0+5"],
  ];
  for (const [fields, text, expected] of ranges) {
    const answer = await send({ method: "get", object: "five", ...fields });
    const { offset, length } = answer.metadata.range as Record<string, string>;
    assert.deepEqual([answer.text, `${offset}+${length}`], [text, expected], JSON.stringify(fields));
    assert.equal(answer.metadata.size, "5");
  }
  for (const fields of [
    { range: { offset: "5" } },
    { range: { length: "0" } },
    { range: { suffix: 0 } },
    { range: { offset: "18446744073709551614" } },
    { rangeHeader: "bytes=9-" },
    { object: "empty", range: { offset: "0" } },
  ]) {
    const { status, code } = await send({ method: "get", object: "five", ...fields });
    assert.deepEqual([status, code], [416, 10039], JSON.stringify(fields));
  }
});

test("an etag with its quotes in a condition is refused, and a put with it stores nothing", async (t) => {
  const { engine, send } = await openScene(t);
  await engine.put("bucket", "a", Buffer.from("hello"));
  for (const value of [`"${hello.etag}"`, `W/"${hello.etag}"`, '""', 'a"']) {
    for (const name of ["etagMatches", "etagDoesNotMatch"]) {
      const onlyIf = { [name]: [{ type: "strong", value }] };
      assert.equal((await send({ method: "get", object: "a", onlyIf })).status, 400, value);
      assert.equal((await send({ method: "put", object: "a", onlyIf }, "other")).status, 400, value);
    }
  }
  assert.equal((await send({ method: "get", object: "a" })).text, "hello");
});

test("get with a failed condition is 412 with the object's metadata and without its bytes", async (t) => {
  const { engine, send } = await openScene(t);
  const stored = await engine.put("bucket", "a", Buffer.from("hello"));
  assert.equal(stored.outcome, "stored");
  const uploaded = stored.outcome === "stored" ? stored.record.uploaded : 0;
  const strong = { type: "strong", value: hello.etag };
  const weak = { type: "weak", value: hello.etag };
  const wildcard = { type: "wildcard" };
  const other = { type: "strong", value: "x" };
  const conditions: readonly [object, boolean][] = [
    [{ etagMatches: [other, strong] }, true],
    [{ etagMatches: [weak] }, false],
    [{ etagMatches: [other, wildcard] }, true],
    [{ etagMatches: [other] }, false],
    [{ etagDoesNotMatch: [other] }, true],
    [{ etagDoesNotMatch: [weak] }, false],
    [{ etagDoesNotMatch: [wildcard] }, false],
    [{ uploadedBefore: String(uploaded) }, false],
    [{ uploadedBefore: String(uploaded + 1) }, true],
    [{ uploadedAfter: uploaded }, false],
    [{ uploadedAfter: String(uploaded - 1) }, true],
    [{ uploadedAfter: String(uploaded - 1000), secondsGranularity: true }, true],
    [{ uploadedAfter: String(Math.floor(uploaded / 1000) * 1000), secondsGranularity: true }, false],
    // If-Unmodified-Since with the value of Last-Modified.
    [{ uploadedBefore: String(Math.floor(uploaded / 1000) * 1000), secondsGranularity: true }, true],
    [{ uploadedBefore: String(uploaded - 1000), secondsGranularity: true }, false],
    [{ etagMatches: [strong], uploadedBefore: "0" }, true],
    // One second before 1970, as the runtime sends it.
    [{ uploadedAfter: "18446744073709550616" }, true],
    [{ uploadedBefore: "18446744073709550616" }, false],
    [{}, true],
  ];
  for (const [onlyIf, passes] of conditions) {
    const answer = await send({ method: "get", object: "a", onlyIf });
    const shown = JSON.stringify(onlyIf);
    assert.equal(answer.status, passes ? 200 : 412, shown);
    assert.equal(answer.text, passes ? "hello" : "", shown);
    assert.equal(answer.metadata.etag, hello.etag, shown);
    assert.equal("range" in answer.metadata, passes, shown);
    assert.equal(answer.code, passes ? undefined : 10031, shown);
  }
});

test("put with a failed condition is 412, and the stored object stays", async (t) => {
  const { engine, send } = await openScene(t);
  const createOnly = { etagDoesNotMatch: [{ type: "wildcard" }] };
  const first = await send({ method: "put", object: "a", onlyIf: createOnly }, "first");
  assert.equal(first.status, 200);
  const second = await send({ method: "put", object: "a", onlyIf: createOnly }, "second");
  assert.deepEqual([second.status, second.code, second.metadata], [412, 10031, {}]);
  const onlyIf = { etagMatches: [{ type: "strong", value: first.metadata.etag }] };
  assert.equal((await send({ method: "put", object: "a", onlyIf }, "third")).status, 200);
  assert.equal((await send({ method: "put", object: "b", onlyIf }, "new")).status, 412);
  assert.equal((await engine.head("bucket", "a"))?.size, 5);
  assert.equal(await engine.head("bucket", "b"), undefined);
});

test("put verifies a checksum of each algorithm: MD5 in base64, all others in hexadecimal", async (t) => {
  const { send } = await openScene(t);
  for (const [i, algorithm] of ["md5", "sha1", "sha256", "sha384", "sha512"].entries()) {
    const encoding = algorithm === "md5" ? "base64" : "hex";
    const right = createHash(algorithm).update("hello").digest(encoding);
    const wrong = createHash(algorithm).update("other").digest(encoding);
    const stored = await send({ method: "put", object: algorithm, [algorithm]: right }, "hello");
    const checksums = stored.metadata.checksums as Record<string, string>;
    assert.equal(checksums[i], createHash(algorithm).update("hello").digest("hex"));
    const { status, code, message } = await send(
      { method: "put", object: "wrong", [algorithm]: wrong },
      "hello",
    );
    assert.deepEqual([status, code], [400, 10037]);
    assert.match(message!, /^The \S+ checksum you specified did not match what we received\.\nYou provided/);
    const cut = await send({ method: "put", object: "cut", [algorithm]: right.slice(4) }, "hello");
    assert.deepEqual([cut.status, cut.code], [400, 10029]);
  }
  const two = await send({ method: "put", object: "two", sha1: "", sha256: "" }, "hello");
  assert.deepEqual([two.code, two.message], [10029, "You cannot specify multiple hashing algorithms."]);
});

test("an object with a customer key can be read only with that key", async (t) => {
  const { send } = await openScene(t);
  const ssec = { key: "ab".repeat(32) };
  const put = await send({ method: "put", object: "a", ssec }, "hello");
  const keyMd5 = createHash("md5").update(Buffer.from(ssec.key, "hex")).digest("hex");
  assert.deepEqual(put.metadata.ssec, { algorithm: "AES256", keyMd5 });
  assert.equal((await send({ method: "get", object: "a", ssec })).text, "hello");
  assert.equal((await send({ method: "get", object: "a" })).code, 10029);
  const wrong = await send({ method: "get", object: "a", ssec: { key: "cd".repeat(32) } });
  assert.deepEqual([wrong.status, wrong.code], [403, 10003]);
  const short = await send({ method: "get", object: "a", ssec: { key: "ab" } });
  assert.deepEqual([short.status, short.code], [400, 10029]);
});

test("delete removes one object or many; missing objects are not an error", async (t) => {
  const { engine, send } = await openScene(t);
  for (const key of ["a", "b", "c", "d"]) await engine.put("bucket", key, Buffer.from(key));
  await engine.put("other", "a", Buffer.from("stays"));
  assert.equal((await send({ method: "delete", object: "a" })).status, 200);
  assert.equal((await send({ method: "delete", objects: ["b", "c", "missing"] })).status, 200);
  assert.equal((await send({ method: "delete", objects: [] })).status, 200);
  assert.equal((await send({ method: "delete", object: "missing" })).status, 200);
  const many = await send({ method: "delete", objects: Array(1001).fill("d") });
  assert.deepEqual([many.status, many.code], [400, 10027]);
  assert.deepEqual(
    (await engine.list("bucket")).objects.map(({ key }) => key),
    ["d"],
  );
  assert.equal((await engine.list("other")).objects.length, 1);
});

test("rules of the engine are errors with its code and message, without action and code in the text", async (t) => {
  const { engine, send } = await openScene(t);
  const long = await send({ method: "put", object: "x".repeat(1025) }, "hello");
  assert.deepEqual(
    [long.status, long.code, long.message],
    [400, 10020, "The specified object name is not valid."],
  );
  const big = await send({ method: "put", object: "a", customFields: [{ k: "k", v: "v".repeat(8192) }] }, "");
  assert.deepEqual([big.status, big.code], [400, 10012]);
  const many = Array.from({ length: 8193 }, (_, i) => ({ k: String(i), v: "" }));
  assert.equal((await send({ method: "put", object: "a", customFields: many }, "")).code, 10012);
  const storageClass = await send({ method: "put", object: "a", storageClass: "Glacier" }, "");
  assert.deepEqual([storageClass.status, storageClass.code], [400, 10062]);
  const control = await send({ method: "put", object: "a", httpFields: { contentType: "a\nb" } }, "");
  assert.deepEqual([control.status, control.code], [400, 10029]);
  await engine.deleteBucket("bucket");
  const gone = await send({ method: "head", object: "a" });
  assert.deepEqual([gone.status, gone.code], [404, 10006]);
});
