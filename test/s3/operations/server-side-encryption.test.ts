// SSE-S3: encryption with the store's keys, by header, by bucket setting and for the whole store.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { openEngine } from "../../../src/open.ts";
import { type DirectScene, directScene } from "../direct.ts";

const header = "x-amz-server-side-encryption";
const encrypted = { [header]: "AES256" };
const body = Buffer.from("some plain text");
const etag = `"${createHash("md5").update(body).digest("hex")}"`;

async function scene(t: Parameters<typeof directScene>[0]): Promise<DirectScene> {
  const opened = await directScene(t);
  await opened.engine.createBucket("photos");
  return opened;
}

function setting(algorithm: string, more = ""): Buffer {
  return Buffer.from(
    "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault>" +
      `<SSEAlgorithm>${algorithm}</SSEAlgorithm></ApplyServerSideEncryptionByDefault>${more}</Rule>` +
      "</ServerSideEncryptionConfiguration>",
  );
}

function customerKeyHeaders(): Record<string, string> {
  const key = randomBytes(32);
  const prefix = `${header}-customer-`;
  return {
    [`${prefix}algorithm`]: "AES256",
    [`${prefix}key`]: key.toString("base64"),
    [`${prefix}key-md5`]: createHash("md5").update(key).digest("base64"),
  };
}

test("an object put with AES256 is encrypted, and every answer says so", async (t) => {
  const { ask, engine } = await scene(t);
  const put = await ask({ method: "PUT", path: "/photos/a", body, headers: encrypted });
  assert.deepEqual([put.status, put.headers[header], put.headers.etag], [200, "AES256", etag]);
  assert.ok((await engine.head("photos", "a"))?.encryption?.masterKey);
  const get = await ask({ method: "GET", path: "/photos/a" });
  assert.deepEqual([get.text, get.headers[header]], [body.toString(), "AES256"]);
  const part = await ask({ method: "GET", path: "/photos/a", headers: { range: "bytes=5-9" } });
  assert.deepEqual([part.status, part.text, part.headers[header]], [206, "plain", "AES256"]);
  const head = await ask({ method: "HEAD", path: "/photos/a" });
  assert.deepEqual([head.headers[header], head.headers["content-length"]], ["AES256", "15"]);
  const plain = await ask({ method: "PUT", path: "/photos/b", body });
  assert.equal(plain.headers[header], undefined);
});

test("a copy is encrypted only if it asks for it, and an object can be copied onto itself", async (t) => {
  const { ask, engine } = await scene(t);
  await ask({ method: "PUT", path: "/photos/a", body, headers: encrypted });
  const source = { "x-amz-copy-source": "/photos/a" };
  const plain = await ask({ method: "PUT", path: "/photos/b", headers: source });
  assert.deepEqual([plain.status, plain.headers[header]], [200, undefined]);
  const copy = await ask({ method: "PUT", path: "/photos/c", headers: { ...source, ...encrypted } });
  assert.deepEqual([copy.status, copy.headers[header]], [200, "AES256"]);
  const self = { "x-amz-copy-source": "/photos/b", ...encrypted };
  assert.equal((await ask({ method: "PUT", path: "/photos/b", headers: self })).status, 200);
  for (const key of ["b", "c"]) {
    assert.ok((await engine.head("photos", key))?.encryption?.masterKey);
    assert.equal((await ask({ method: "GET", path: `/photos/${key}` })).text, body.toString());
  }
});

test("an object can be copied onto itself to change or to remove its encryption", async (t) => {
  const { ask, engine } = await scene(t);
  const [first, second] = [customerKeyHeaders(), customerKeyHeaders()];
  const path = "/photos/a";
  /** Copies the object onto itself; `from` has the headers of the source's key. */
  const copy = (from: Record<string, string>, to: Record<string, string>) => {
    const source = Object.entries(from).map(([name, value]) => [
      name.replace("x-amz-", "x-amz-copy-source-"),
      value,
    ]);
    const headers = { "x-amz-copy-source": path, ...Object.fromEntries(source), ...to };
    return ask({ method: "PUT", path, headers });
  };
  const expectCopy = async (from: Record<string, string>, to: Record<string, string>) => {
    const { status, text } = await copy(from, to);
    assert.equal(status, 200, text);
    assert.equal((await ask({ method: "GET", path, headers: to })).text, body.toString());
  };
  const expectIllegal = async () => {
    const { status, text } = await copy({}, {});
    assert.equal(status, 400);
    assert.match(text, /copy an object to itself/);
  };
  await ask({ method: "PUT", path, body, headers: first });
  await expectCopy(first, second);
  await expectCopy(second, {});
  assert.equal((await engine.head("photos", "a"))?.encryption, undefined);
  await expectIllegal();
  await engine.changeSettings("photos", { encryption: { algorithm: "AES256" } });
  await expectCopy({}, {});
  assert.ok((await engine.head("photos", "a"))?.encryption?.masterKey);
  await expectIllegal();
  await engine.changeSettings("photos", { encryption: undefined });
  await expectCopy({}, {});
  await expectIllegal();
});

/** Creates an upload and returns its query parameter. */
async function createUpload(
  { ask }: DirectScene,
  path: string,
  headers: Record<string, string>,
): Promise<[string, string]> {
  const created = await ask({ method: "POST", path, query: [["uploads", ""]], headers });
  assert.equal(created.headers[header], headers[header]);
  return ["uploadId", /<UploadId>(\w+)</.exec(created.text)![1]!];
}

const completion = Buffer.from(
  `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`,
);

test("an upload created with AES256 has encrypted parts, and every answer says so", async (t) => {
  const opened = await scene(t);
  const { ask } = opened;
  const path = "/photos/a";
  const copied = { "x-amz-copy-source": "/photos/source" };
  await ask({ method: "PUT", path: "/photos/source", body });
  // minio-go sends the header again with the completion, others also with the parts.
  for (const repeated of [{}, encrypted]) {
    const upload = await createUpload(opened, path, encrypted);
    const query = [["partNumber", "1"], upload] as [string, string][];
    const copy = await ask({ method: "PUT", path, query, headers: { ...copied, ...repeated } });
    assert.deepEqual([copy.status, copy.headers[header]], [200, "AES256"]);
    const part = await ask({ method: "PUT", path, query, body, headers: repeated });
    assert.deepEqual([part.headers[header], part.headers.etag], ["AES256", etag]);
    for (const _ of ["first", "repeated"]) {
      const completed = await ask({
        method: "POST",
        path,
        query: [upload],
        body: completion,
        headers: repeated,
      });
      assert.deepEqual([completed.status, completed.headers[header]], [200, "AES256"]);
    }
    assert.equal((await ask({ method: "GET", path })).text, body.toString());
  }
});

test("an upload that was created without encryption is not completed by a request for it", async (t) => {
  const opened = await scene(t);
  const { ask } = opened;
  const path = "/photos/a";
  for (const created of [{}, customerKeyHeaders()]) {
    const upload = await createUpload(opened, path, created);
    const query = [["partNumber", "1"], upload] as [string, string][];
    const part = await ask({ method: "PUT", path, query, body, headers: encrypted });
    assert.deepEqual([part.status, part.code], [400, "InvalidArgument"]);
    assert.equal((await ask({ method: "PUT", path, query, body, headers: created })).status, 200);
    const completed = { method: "POST", path, query: [upload], body: completion };
    for (const [algorithm, status, code] of [
      ["AES256", 400, "InvalidArgument"],
      ["DES", 400, "InvalidEncryptionAlgorithmError"],
      ["aws:kms", 501, "NotImplemented"],
    ] as const) {
      const answer = await ask({ ...completed, headers: { [header]: algorithm } });
      assert.deepEqual([answer.status, answer.code], [status, code]);
    }
    assert.equal((await ask({ method: "GET", path })).status, 404);
  }
});

test("a bucket's default encryption is stored, applied and deleted", async (t) => {
  const { ask } = await scene(t);
  const at = { path: "/photos", query: [["encryption", ""]] as [string, string][] };
  const none = await ask({ method: "GET", ...at });
  assert.deepEqual([none.status, none.code], [404, "ServerSideEncryptionConfigurationNotFoundError"]);
  const bucketKey = "<BucketKeyEnabled>true</BucketKeyEnabled>";
  assert.equal((await ask({ method: "PUT", ...at, body: setting("AES256", bucketKey) })).status, 200);
  const got = await ask({ method: "GET", ...at });
  assert.match(got.text, /<SSEAlgorithm>AES256<\/SSEAlgorithm>/);
  assert.match(got.text, /<BucketKeyEnabled>true<\/BucketKeyEnabled>/);
  const put = await ask({ method: "PUT", path: "/photos/a", body });
  assert.equal(put.headers[header], "AES256");
  const customer = await ask({ method: "PUT", path: "/photos/c", body, headers: customerKeyHeaders() });
  assert.deepEqual([customer.status, customer.headers[header]], [200, undefined]);
  assert.equal((await ask({ method: "DELETE", ...at })).status, 204);
  assert.equal((await ask({ method: "PUT", path: "/photos/b", body })).headers[header], undefined);
  assert.equal((await ask({ method: "GET", path: "/photos/a" })).text, body.toString());
});

test("other algorithms and malformed settings are refused and change nothing", async (t) => {
  const { ask } = await scene(t);
  const at = { path: "/photos", query: [["encryption", ""]] as [string, string][] };
  const refusals: [document: Buffer, status: number, code: string][] = [
    [setting("aws:kms"), 501, "NotImplemented"],
    [setting("aws:kms:dsse"), 501, "NotImplemented"],
    [setting("DES"), 400, "InvalidEncryptionAlgorithmError"],
    [setting("AES256", "<BucketKeyEnabled>maybe</BucketKeyEnabled>"), 400, "MalformedXML"],
    [Buffer.from("<ServerSideEncryptionConfiguration/>"), 400, "MalformedXML"],
    [Buffer.from("<Other/>"), 400, "MalformedXML"],
  ];
  for (const [document, status, code] of refusals) {
    const put = await ask({ method: "PUT", ...at, body: document });
    assert.deepEqual([put.status, put.code], [status, code], document.toString());
  }
  assert.equal((await ask({ method: "GET", ...at })).status, 404);
  const puts: [headers: Record<string, string>, status: number, code: string][] = [
    [{ [header]: "aws:kms" }, 501, "NotImplemented"],
    [{ [header]: "aws:kms", [`${header}-aws-kms-key-id`]: "k" }, 501, "NotImplemented"],
    [{ [header]: "aes256" }, 400, "InvalidEncryptionAlgorithmError"],
    [{ [header]: "" }, 400, "InvalidEncryptionAlgorithmError"],
    [{ ...encrypted, [`${header}-bucket-key-enabled`]: "x" }, 400, "InvalidArgument"],
    [{ ...encrypted, ...customerKeyHeaders() }, 400, "InvalidArgument"],
  ];
  for (const [headers, status, code] of puts) {
    const put = await ask({ method: "PUT", path: "/photos/a", body, headers });
    assert.deepEqual([put.status, put.code], [status, code], JSON.stringify(headers));
  }
  assert.equal((await ask({ method: "GET", path: "/photos/a" })).status, 404);
});

test("operations that create nothing refuse the header, as S3 does", async (t) => {
  const { ask } = await scene(t);
  await ask({ method: "PUT", path: "/photos/a", body, headers: encrypted });
  for (const method of ["GET", "HEAD", "DELETE"]) {
    const answer = await ask({ method, path: "/photos/a", headers: encrypted });
    assert.equal(answer.status, 400, method);
  }
  const customer = await ask({ method: "GET", path: "/photos/a", headers: customerKeyHeaders() });
  assert.equal(customer.status, 400);
});

test("a store that always encrypts does so without any header or setting", async (t) => {
  const store = await openEngine("memory:", { encryption: "always" });
  t.after(() => store.engine.close());
  await store.engine.createBucket("photos");
  const { ask } = await directScene(t, {}, store);
  assert.equal((await ask({ method: "PUT", path: "/photos/a", body })).headers[header], "AES256");
  const got = await ask({ method: "GET", path: "/photos", query: [["encryption", ""]] });
  assert.match(got.text, /AES256/);
  await store.engine.kv.createNamespace("values");
  await store.engine.kv.put("values", "k", Buffer.from("a value"));
  const { withStoreKey, unencrypted } = await store.engine.encryption.status();
  assert.deepEqual([withStoreKey, unencrypted], [2, 0]);
});
