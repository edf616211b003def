// Forged frames on the socket of a bucket: each gets a clear error, and the socket keeps serving.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";
import { maxLargeFrames, maxMetadataBytes } from "../../../src/capability/bucket/frame.ts";
import { headerFrame, openScene } from "./scene.ts";

function getRequest(frame: string): string {
  return `GET / HTTP/1.1\r\nhost: x\r\ncf-r2-request: ${frame}\r\n\r\n`;
}

function putRequest(metadata: string, headers: Readonly<Record<string, string | number>> = {}): string {
  const size = Buffer.byteLength(metadata);
  const lines = Object.entries({ "cf-r2-metadata-size": size, "content-length": size, ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `PUT / HTTP/1.1\r\nhost: x\r\n${head}\r\n${metadata}`;
}

const unusable: readonly (readonly [string, string])[] = [
  ["a GET without a frame", "GET / HTTP/1.1\r\nhost: x\r\n\r\n"],
  ["a PUT without a frame", "PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n"],
  ["another method", "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n"],
  ["a header that is not JSON", getRequest("{")],
  ["a header that is a list", getRequest("[]")],
  ["a header that is null", getRequest("null")],
  ["a header that is not UTF-8", getRequest('{"version":1,"method":"head","object":"\xff"}')],
  ["a body that is not JSON", putRequest("x")],
  ["a body of deeply nested lists", putRequest("[".repeat(100_000))],
  ["a negative size", putRequest("{}", { "cf-r2-metadata-size": -1 })],
  ["a size that is not a number", putRequest("{}", { "cf-r2-metadata-size": "2x" })],
  ["a fractional size", putRequest("{}", { "cf-r2-metadata-size": "2.0" })],
  ["a size of zero", putRequest("{}", { "cf-r2-metadata-size": 0 })],
  ["a size beyond the body", putRequest("{}", { "cf-r2-metadata-size": 3 })],
  ["a size over the limit", putRequest("{}", { "cf-r2-metadata-size": maxMetadataBytes + 1 })],
  ["a huge size", putRequest("{}", { "cf-r2-metadata-size": "9".repeat(400) })],
  [
    "two sizes",
    "PUT / HTTP/1.1\r\nhost: x\r\ncf-r2-metadata-size: 2\r\ncf-r2-metadata-size: 3\r\ncontent-length: 2\r\n\r\n{}",
  ],
  [
    "a chunked body, whose length is not declared,",
    "PUT / HTTP/1.1\r\nhost: x\r\ncf-r2-metadata-size: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
  ],
  ["bytes that are not HTTP", "\x00\x01\x02\r\n\r\n"],
  ["a header over the limit", getRequest("x".repeat(70_000))],
];

for (const [name, text] of unusable) {
  test(`${name} is refused, and the connection is closed`, async (t) => {
    const { sendRaw, send, log } = await openScene(t);
    const received = await sendRaw(Buffer.from(text, "latin1"));
    assert.match(received, /^HTTP\/1\.1 4\d\d /);
    assert.match(received, /^cf-r2-error: \{"version":1,"v4code":10029,"message":".+"\}\r$/m);
    assert.equal((await send({ method: "put", object: "a" }, "served")).status, 200);
    assert.deepEqual(log, []);
  });
}

test("a body that is larger than any object is refused at once, and the connection is closed", async (t) => {
  const { sendRaw, engine } = await openScene(t);
  const metadata = JSON.stringify({ version: 1, method: "put", object: "a" });
  const received = await sendRaw(putRequest(metadata, { "content-length": 6_000_000_000 }));
  assert.match(received, /^HTTP\/1\.1 400 .*"v4code":100100,.*^connection: close\r$/ms);
  assert.equal(await engine.head("bucket", "a"), undefined);
});

for (const [name, metadata] of [
  ["a hundred thousand values", `{"a":[${"0,".repeat(100_000)}0]}`],
  ["a hundred thousand names", `{${'"":0,'.repeat(100_000)}"":0}`],
  ["lists in each other", `{"a":${"[".repeat(20)}${"]".repeat(20)}}`],
] as const) {
  test(`metadata of ${name} is refused before it is parsed`, async (t) => {
    const { sendRaw } = await openScene(t);
    assert.match(
      await sendRaw(putRequest(metadata)),
      /^HTTP\/1\.1 400 .*"v4code":10029,"message":"[^"]*too many values/ms,
    );
  });
}

test("of requests with large metadata, a socket reads few at the same time, and serves others meanwhile", async (t) => {
  const { connect, send, engine } = await openScene(t);
  const keys = Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(1000, "k"));
  const metadata = JSON.stringify({ version: 1, method: "delete", objects: keys });
  assert.ok(metadata.length > 64 * 1024);
  const text = putRequest(metadata);
  const stuck: Socket[] = [];
  for (let i = 0; i < maxLargeFrames; i++) {
    const socket = await connect();
    await new Promise<unknown>((resolve) => socket.write(text.slice(0, -1), resolve));
    stuck.push(socket);
  }
  let isAnswered = false;
  const next = send({ method: "delete", objects: keys }).finally(() => {
    isAnswered = true;
  });
  for (let i = 0; i < 50; i++) {
    assert.equal((await send({ method: "put", object: `small${i}` }, "served")).status, 200);
  }
  assert.ok(!isAnswered, "the request waits");
  await engine.put("bucket", keys[0]!, Buffer.from("a"), {});
  stuck[0]!.destroy();
  assert.equal((await next).status, 200);
  assert.equal(await engine.head("bucket", keys[0]!), undefined);
  // Those that had sent all but a byte are served too.
  for (const socket of stuck.slice(1)) {
    socket.write(text.slice(-1));
    const [answer] = (await once(socket, "data")) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 200 /);
  }
});

for (const [name, sent] of [
  ["inside its metadata", 10],
  ["inside its bytes", 60],
] as const) {
  test(`a request that ends ${name} stores nothing, logs nothing and closes the connection`, async (t) => {
    const { connect, send, engine, log } = await openScene(t);
    const metadata = JSON.stringify({ version: 1, method: "put", object: "a" });
    const request = putRequest(metadata + "x".repeat(100), { "cf-r2-metadata-size": metadata.length });
    const socket = await connect();
    socket.end(request.slice(0, request.indexOf("\r\n\r\n") + 4 + sent));
    socket.resume();
    await once(socket, "close");
    assert.equal(await engine.head("bucket", "a"), undefined);
    assert.equal((await send({ method: "put", object: "b" }, "served")).status, 200);
    assert.deepEqual(log, []);
  });
}

const invalidFields: readonly (readonly [string, object])[] = [
  ["no version", { version: undefined, method: "head", object: "a" }],
  ["another version", { version: 2, method: "head", object: "a" }],
  ["no method", { object: "a" }],
  ["a method that is not a string", { method: ["put"] }],
  ["an unknown method", { method: "constructor" }],
  ["an operation on buckets", { method: "createBucket", bucket: "new" }],
  ["no key", { method: "head" }],
  ["a key that is not a string", { method: "get", object: 1 }],
  ["a key that is null", { method: "put", object: null }],
  ["the name of a bucket", { method: "get", object: "a", bucket: "other" }],
  ["an unknown field", { method: "put", object: "a", ["x".repeat(500)]: 1 }],
  ["a range that is a list", { method: "get", object: "a", range: [] }],
  ["a negative offset", { method: "get", object: "a", range: { offset: -1 } }],
  ["a negative offset as text", { method: "get", object: "a", range: { offset: "-1" } }],
  ["a fractional length", { method: "get", object: "a", range: { length: 1.5 } }],
  ["a suffix with an offset", { method: "get", object: "a", range: { suffix: "1", offset: "1" } }],
  ["both forms of a range", { method: "get", object: "a", range: {}, rangeHeader: "bytes=0-" }],
  ["an unknown field of a range", { method: "get", object: "a", range: { part: 1 } }],
  ["a range header that is a number", { method: "get", object: "a", rangeHeader: 1 }],
  ["a condition that is a string", { method: "get", object: "a", onlyIf: "etag" }],
  ["an unknown condition", { method: "put", object: "a", onlyIf: { sizeIs: 1 } }],
  ["etags that are not a list", { method: "get", object: "a", onlyIf: { etagMatches: "x" } }],
  ["no etags", { method: "get", object: "a", onlyIf: { etagMatches: [] } }],
  ["too many etags", { method: "put", object: "a", onlyIf: { etagMatches: Array(2000).fill({}) } }],
  ["an etag of another type", { method: "get", object: "a", onlyIf: { etagMatches: [{ type: "x" }] } }],
  ["an etag without a value", { method: "get", object: "a", onlyIf: { etagMatches: [{ type: "weak" }] } }],
  ["a date that is not a number", { method: "get", object: "a", onlyIf: { uploadedAfter: "today" } }],
  ["a date beyond the range of dates", { method: "get", object: "a", onlyIf: { uploadedAfter: 9e15 } }],
  ["a granularity that is not a flag", { method: "get", object: "a", onlyIf: { secondsGranularity: 1 } }],
  ["custom metadata that is an object", { method: "put", object: "a", customFields: { k: "v" } }],
  ["custom metadata without a value", { method: "put", object: "a", customFields: [{ k: "k" }] }],
  ["custom metadata with a number", { method: "put", object: "a", customFields: [{ k: "k", v: 1 }] }],
  [
    "custom metadata with a lone surrogate",
    { method: "put", object: "a", customFields: [{ k: "\ud800", v: "" }] },
  ],
  [
    "custom metadata that repeats a name",
    {
      method: "put",
      object: "a",
      customFields: [
        { k: "k", v: "1" },
        { k: "k", v: "2" },
      ],
    },
  ],
  ["HTTP metadata that is a list", { method: "put", object: "a", httpFields: [] }],
  ["unknown HTTP metadata", { method: "put", object: "a", httpFields: { server: "x" } }],
  ["an expiry that is not a number", { method: "put", object: "a", httpFields: { cacheExpiry: "soon" } }],
  ["a checksum that is not hexadecimal", { method: "put", object: "a", sha1: "z".repeat(40) }],
  ["a checksum that is a number", { method: "put", object: "a", md5: 1 }],
  ["a customer key that is a string", { method: "put", object: "a", ssec: "ab".repeat(32) }],
  ["a storage class that is a number", { method: "put", object: "a", storageClass: 1 }],
  ["one key and a list of keys", { method: "delete", object: "a", objects: ["b"] }],
  ["no key to delete", { method: "delete" }],
  ["a key in a list that is not a string", { method: "delete", objects: [1] }],
  ["a list limit that is negative", { method: "list", limit: -1 }],
  ["metadata to include that is unknown", { method: "list", include: [2] }],
  ["many kinds of metadata to include", { method: "list", include: Array(17).fill(0) }],
  ["a prefix that is an object", { method: "list", prefix: {} }],
  ["an upload without an id", { method: "uploadPart", object: "a", partNumber: 1 }],
  ["parts that are not a list", { method: "completeMultipartUpload", object: "a", uploadId: "x", parts: {} }],
  [
    "too many parts",
    { method: "completeMultipartUpload", object: "a", uploadId: "x", parts: Array(10_001).fill({}) },
  ],
];

test("every field that is missing, unknown or of another type is refused with code 10029", async (t) => {
  const { send, engine, log } = await openScene(t);
  for (const [name, fields] of invalidFields) {
    const { status, code, message } = await send(fields, "");
    assert.deepEqual([status, code], [400, 10029], name);
    assert.ok(message!.length > 10 && message!.length < 200, `${name}: ${message}`);
  }
  assert.deepEqual((await engine.list("bucket")).objects, []);
  assert.equal((await engine.listBuckets()).length, 2);
  assert.deepEqual(log, []);
});

test("an operation sent by the wrong HTTP method is refused", async (t) => {
  const { sendRaw, connect } = await openScene(t);
  const socket = await connect();
  socket.write(getRequest(headerFrame({ method: "put", object: "a" })));
  const [piece] = (await new Promise<Buffer[]>((done) => socket.once("data", (data) => done([data]))))!;
  assert.match(String(piece), /The operation put cannot be sent by GET\./);
  const closing = putRequest(JSON.stringify({ version: 1, method: "head", object: "a" }), {
    connection: "close",
  });
  assert.match(await sendRaw(closing), /The operation head cannot be sent by PUT\./);
});

test("bytes after the metadata of an operation without a body are refused", async (t) => {
  const { send } = await openScene(t);
  for (const fields of [
    { method: "delete", object: "a" },
    { method: "createMultipartUpload", object: "a" },
    { method: "completeMultipartUpload", object: "a", uploadId: "x", parts: [] },
    { method: "abortMultipartUpload", object: "a", uploadId: "x" },
  ]) {
    const { status, code } = await send(fields, "more");
    assert.deepEqual([status, code], [400, 10029], fields.method);
  }
});

test("a message with characters that no header can carry arrives unchanged", async (t) => {
  const { send } = await openScene(t);
  const { message } = await send({ method: "put", object: "a", "ü\x7f\n€": 1 });
  assert.equal(message, 'The field "ü\x7f\n€" of put is unknown to this version of Store.');
});

test("a second request on the same connection is answered after a refused first one", async (t) => {
  const { connect, engine } = await openScene(t);
  await engine.put("bucket", "a", Buffer.from("hello"));
  const socket = await connect();
  const wrong = JSON.stringify({ version: 1, method: "put", object: 1 });
  socket.write(putRequest(wrong, { "content-length": wrong.length + 5 }));
  socket.write("hello");
  socket.write(getRequest(headerFrame({ method: "head", object: "a" })));
  let received = "";
  for await (const piece of socket) {
    received += String(piece);
    if (received.includes('"name":"a"')) break;
  }
  assert.match(received, /^HTTP\/1\.1 400 .*HTTP\/1\.1 200 /s);
});
