// Names of storage classes and website redirects, which are stored and returned as they were given.
import assert from "node:assert/strict";
import { test } from "node:test";
import { boundary, encodeForm, signedFields } from "../form.ts";
import { assertRefused, bucket, texts, versionedScene } from "../versioned.ts";

const className = "x-amz-storage-class";
const redirect = "x-amz-website-redirect-location";

test("the name of a storage class is returned by every operation, and acts as the nearest class", async (t) => {
  const { request, put, engine } = await versionedScene(t, "plain");
  for (const [name, nearest, shown] of [
    ["STANDARD", "Standard", undefined],
    ["REDUCED_REDUNDANCY", "Standard", "REDUCED_REDUNDANCY"],
    ["STANDARD_IA", "InfrequentAccess", "STANDARD_IA"],
    ["GLACIER", "InfrequentAccess", "GLACIER"],
  ] as const) {
    await put("one", "x", { [className]: name });
    assert.equal((await engine.head(bucket, "one"))?.storageClass, nearest);
    const head = await request("HEAD", "one");
    assert.equal(head.headers[className], shown);
    const listing = await request("GET", "", { query: "list-type=2" });
    assert.deepEqual(texts(listing.text, "StorageClass"), [name]);
    const attributes = { query: "attributes", headers: { "x-amz-object-attributes": "StorageClass" } };
    assert.deepEqual(texts((await request("GET", "one", attributes)).text, "StorageClass"), [name]);
  }
  assertRefused(await request("PUT", "one", { body: "x", headers: { [className]: "COLD" } }), [
    400,
    "InvalidStorageClass",
  ]);
});

test("an upload gives its storage class and its redirect to the object", async (t) => {
  const { request } = await versionedScene(t, "plain");
  const headers = { [className]: "DEEP_ARCHIVE", [redirect]: "/elsewhere" };
  const created = await request("POST", "large", { query: "uploads", headers });
  const [id] = texts(created.text, "UploadId");
  const listing = await request("GET", "", { query: "uploads" });
  assert.deepEqual(texts(listing.text, "StorageClass"), ["DEEP_ARCHIVE"]);
  const part = await request("PUT", "large", { query: `partNumber=1&uploadId=${id}`, body: "x" });
  const listed = await request("GET", "large", { query: `uploadId=${id}` });
  assert.deepEqual(texts(listed.text, "StorageClass"), ["DEEP_ARCHIVE"]);
  const parts = `<Part><PartNumber>1</PartNumber><ETag>${part.headers.etag}</ETag></Part>`;
  const body = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`;
  assert.equal((await request("POST", "large", { query: `uploadId=${id}`, body })).status, 200);
  const head = await request("HEAD", "large");
  assert.deepEqual([head.headers[className], head.headers[redirect]], ["DEEP_ARCHIVE", "/elsewhere"]);
});

test("a copy has the storage class and the redirect of its request, not of its source", async (t) => {
  const { request, put } = await versionedScene(t, "plain");
  await put("source", "x", { [className]: "GLACIER", [redirect]: "https://example.com/" });
  const copy = async (key: string, headers: Record<string, string>) => {
    const source = { "x-amz-copy-source": `/${bucket}/source` };
    const copied = await request("PUT", key, { headers: { ...source, ...headers } });
    assert.equal(copied.status, 200, copied.text);
    const head = await request("HEAD", key);
    return [head.headers[className], head.headers[redirect]];
  };
  assert.deepEqual(await copy("plain", {}), [undefined, undefined]);
  assert.deepEqual(await copy("other", { [className]: "ONEZONE_IA" }), ["ONEZONE_IA", undefined]);
  assert.deepEqual(await copy("source", { [redirect]: "/new" }), [undefined, "/new"]);
});

test("a website redirect that is not a path or a URL is refused, also in a form", async (t) => {
  const { request, send, key } = await versionedScene(t, "plain");
  for (const value of ["other", "javascript:alert(1)", "", `/${"x".repeat(2048)}`]) {
    const put = await request("PUT", "a", { body: "x", headers: { [redirect]: value } });
    assertRefused(put, [400, "InvalidRedirectLocation"]);
  }
  const value = "/a\r\nx-injected: 1";
  const conditions = [["starts-with", "$key", ""], { [redirect]: value }, { "x-amz-meta-tag": "one" }];
  const fields = [...signedFields({ key, bucket, conditions }), [redirect, value] as const];
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const body = Buffer.from(encodeForm(fields));
  assertRefused(await send({ method: "POST", path: `/${bucket}`, headers, body }), [
    400,
    "InvalidRedirectLocation",
  ]);
  assert.equal((await request("GET", "a")).status, 404, "nothing was stored");
});
