// SSE-C objects: their etags and checksums, and connections on which a customer key is accepted.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { decodeObject, encodeObject } from "../../../src/engine/codec/record-codec.ts";
import { withOpenedChecksums } from "../../../src/engine/encryption/sealed-checksums.ts";
import { objectRecord } from "../../support/samples.ts";
import { type DirectRequest, type DirectScene, directScene } from "../direct.ts";

const md5 = (bytes: Uint8Array | string) => createHash("md5").update(bytes).digest();

function keyHeaders(key: Uint8Array, of: "" | "copy-source-" = "") {
  const prefix = `x-amz-${of}server-side-encryption-customer-`;
  return {
    [`${prefix}algorithm`]: "AES256",
    [`${prefix}key`]: Buffer.from(key).toString("base64"),
    [`${prefix}key-md5`]: md5(key).toString("base64"),
  };
}

const customerKey = randomBytes(32);
const sealed = keyHeaders(customerKey);
const body = Buffer.from("a secret that could be guessed");
const plainEtag = `"${md5(body).toString("hex")}"`;

async function scene(t: Parameters<typeof directScene>[0]): Promise<DirectScene> {
  const opened = await directScene(t);
  await opened.engine.createBucket("photos");
  return opened;
}

test("the etag of an SSE-C object is not its MD5, and conditions work with it", async (t) => {
  const { ask } = await scene(t);
  const put = (more: Partial<DirectRequest> = {}, headers = {}) =>
    ask({ method: "PUT", path: "/photos/a", body, ...more, headers: { ...sealed, ...headers } });
  const first = await put({}, { "content-md5": md5(body).toString("base64") });
  assert.equal(first.status, 200);
  const { etag } = first.headers;
  assert.match(etag!, /^"[0-9a-f]{32}"$/);
  assert.notEqual(etag, plainEtag);
  const list = await ask({ method: "GET", path: "/photos", query: [["list-type", "2"]] });
  assert.ok(list.text.includes(etag!.slice(1, -1)) && !list.text.includes(plainEtag.slice(1, -1)));
  const get = (headers: object) =>
    ask({ method: "GET", path: "/photos/a", headers: { ...sealed, ...headers } });
  assert.deepEqual(
    [(await get({ "if-match": etag })).text, (await get({ "if-match": plainEtag })).status],
    [body.toString(), 412],
  );
  assert.equal((await get({ "if-none-match": etag })).status, 304);
  assert.equal((await put({}, { "if-match": plainEtag })).status, 412);
  assert.equal((await put({}, { "if-match": etag })).status, 200);
  const wrong = await put({}, { "content-md5": md5("other").toString("base64") });
  assert.deepEqual([wrong.status, wrong.code], [400, "BadDigest"]);
});

test("checksums of an SSE-C object are returned only with the key", async (t) => {
  const { ask, engine } = await scene(t);
  const sha256 = createHash("sha256").update(body).digest("base64");
  const checksum = { "x-amz-checksum-sha256": sha256 };
  const put = await ask({ method: "PUT", path: "/photos/a", body, headers: { ...sealed, ...checksum } });
  assert.equal(put.headers["x-amz-checksum-sha256"], sha256);
  const headers = { ...sealed, "x-amz-checksum-mode": "ENABLED" };
  for (const method of ["GET", "HEAD"]) {
    const read = await ask({ method, path: "/photos/a", headers });
    assert.equal(read.headers["x-amz-checksum-sha256"], sha256, method);
  }
  assert.deepEqual((await engine.head("photos", "a"))?.checksums, {});
});

test("SSE-C parts have etags that are not their MD5, and an upload completes with these etags", async (t) => {
  const { ask } = await scene(t);
  const at = { path: "/photos/parts" };
  const created = await ask({ method: "POST", ...at, query: [["uploads", ""]], headers: sealed });
  const uploadId = /<UploadId>(\w+)</.exec(created.text)![1]!;
  const upload = ["uploadId", uploadId] as const;
  const part = await ask({
    method: "PUT",
    ...at,
    query: [["partNumber", "1"], upload],
    body,
    headers: sealed,
  });
  assert.equal(part.status, 200);
  assert.notEqual(part.headers.etag, plainEtag);
  const listed = await ask({ method: "GET", ...at, query: [upload] });
  assert.ok(!listed.text.includes(plainEtag.slice(1, -1)));
  const complete = (etag: string) => {
    const xml = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`;
    return ask({ method: "POST", ...at, query: [upload], body: Buffer.from(xml) });
  };
  assert.equal((await complete(plainEtag)).code, "InvalidPart");
  const done = await complete(part.headers.etag!);
  assert.equal(done.status, 200, done.text);
  const ofPlain = md5(md5(body)).toString("hex");
  assert.ok(!done.text.includes(ofPlain));
  assert.equal((await ask({ method: "GET", ...at, headers: sealed })).text, body.toString());
});

test("an encrypted copy of an SSE-C object has its own etag, and a plain copy has its MD5 as etag", async (t) => {
  const { ask } = await scene(t);
  const put = await ask({ method: "PUT", path: "/photos/a", body, headers: sealed });
  const copy = (path: string, headers: object) =>
    ask({ method: "PUT", path, headers: { "x-amz-copy-source": "/photos/a", ...headers } });
  const fromKey = keyHeaders(customerKey, "copy-source-");
  const plain = await copy("/photos/plain", fromKey);
  assert.ok(plain.text.includes(md5(body).toString("hex")), plain.text);
  const other = keyHeaders(randomBytes(32));
  const again = await copy("/photos/again", { ...fromKey, ...other });
  assert.equal(again.status, 200);
  for (const etag of [plainEtag, put.headers.etag!]) assert.ok(!again.text.includes(etag.slice(1, -1)));
  assert.equal((await ask({ method: "GET", path: "/photos/again", headers: other })).text, body.toString());
});

test("an SSE-C object written by an earlier Store version keeps its etag and checksums", () => {
  const record = objectRecord("old", { encryption: { keyMd5: "", scope: "", sealedKey: randomBytes(60) } });
  const dataKey = { bytes: randomBytes(32), use: "derive" } as const;
  assert.equal(withOpenedChecksums(decodeObject(encodeObject(record)), dataKey).etag, record.etag);
  assert.deepEqual(withOpenedChecksums(record, dataKey), record);
});

test("a customer-provided key over plain HTTP is refused, except from loopback", async (t) => {
  const { ask } = await scene(t);
  const from = (address: string, scheme: "http" | "https", headers: Record<string, string> = sealed) =>
    ask({ method: "PUT", path: "/photos/a", body, headers, address, scheme });
  for (const address of ["203.0.113.9", "10.0.0.1", "2001:db8::1", "127.evil.example"]) {
    const refused = await from(address, "http");
    assert.deepEqual([refused.status, refused.code], [400, "InvalidRequest"], address);
    assert.match(refused.text, /must be made over a secure connection/);
    assert.equal((await from(address, "https")).status, 200, address);
    assert.equal((await from(address, "http", {})).status, 200, address);
  }
  for (const address of ["127.0.0.1", "127.8.8.8", "::1"]) {
    assert.equal((await from(address, "http")).status, 200, address);
  }
});
