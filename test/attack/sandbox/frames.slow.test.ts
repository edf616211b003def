// A runtime that a script has taken over sends forged frames to the socket of its bucket. Each is
// refused, no other bucket is reached, and the next well-formed request is answered.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  bucketListenOptions,
  createBucketCapability,
} from "../../../src/capability/bucket/bucket-capability.ts";
import { listen } from "../../../src/http/server/listen.ts";
import { openEngine } from "../../../src/open.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const secret = "the neighbour's value";

function get(json: string, further = ""): string {
  return `GET /private HTTP/1.1\r\nHost: private\r\ncf-r2-request: ${json}\r\n${further}Connection: close\r\n\r\n`;
}

interface PutFrame {
  readonly json: string;
  readonly body?: string;
  /** Declared size of the metadata; default: the true one. */
  readonly size?: string;
  /** Declared length of metadata and body; default: the true one. */
  readonly length?: string;
}

function put({ json, body = "", size, length }: PutFrame): string {
  const metadata = Buffer.byteLength(json);
  return (
    `PUT /private HTTP/1.1\r\nHost: private\r\ncf-r2-metadata-size: ${size ?? metadata}\r\n` +
    `Content-Length: ${length ?? metadata + Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${json}${body}`
  );
}

const op = (method: string, fields: object = {}) => JSON.stringify({ version: 1, method, ...fields });

/** Frames by what is wrong with them. `closes`: the client ends its side after the bytes. */
const forged: Readonly<Record<string, string>> = {
  "no frame": "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  "another method of HTTP": "DELETE /secret HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  "bytes that are not HTTP": "\u0000\u0001\u0002garbage\r\n\r\n",
  "JSON that ends early": get('{"version":1,"method":"get","object":"sec'),
  "JSON that is not an object": get("[1,2,3]"),
  "JSON that is nested deeply": get(`{"version":1,"method":${"[".repeat(20_000)}${"]".repeat(20_000)}}`),
  "a number for a text": get('{"version":1,"method":"get","object":7}'),
  "an unknown operation": get(op("dropBucket")),
  "an operation of the prototype": get(op("constructor")),
  "another version": get('{"version":2,"method":"get","object":"secret"}'),
  "a write in a read": get(op("put", { object: "own" })),
  "a read in a write": put({ json: op("get", { object: "own" }) }),
  "an empty key": get(op("get", { object: "" })),
  "a key that is too long": get(op("get", { object: "k".repeat(2000) })),
  "a negative offset": get(op("get", { object: "own", range: { offset: "-5" } })),
  "an offset that is not a number": get(op("get", { object: "own", range: { offset: "0x10" } })),
  "a size that is larger than the body": put({ json: op("put", { object: "own" }), size: "1000" }),
  "a size that is negative": put({ json: op("put", { object: "own" }), size: "-1" }),
  "a size that is huge": put({
    json: op("put", { object: "own" }),
    size: "99999999999999",
    length: "99999999999999",
  }),
  "a size of metadata that would fill memory": put({ json: "{}", size: "1000000000", length: "1000000000" }),
  "a size that is not a number": put({ json: op("put", { object: "own" }), size: "1e3" }),
  "a body that ends early": put({ json: op("put", { object: "own" }), body: "part", length: "5000" }),
  "metadata that ends early": put({ json: '{"version":1,"meth', size: "500", length: "500" }),
  "two lengths": `PUT / HTTP/1.1\r\nHost: x\r\ncf-r2-metadata-size: 2\r\nContent-Length: 2\r\nContent-Length: 900\r\n\r\n{}`,
  "a length and chunks": `PUT / HTTP/1.1\r\nHost: x\r\ncf-r2-metadata-size: 2\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  "headers that are too large": get(op("get", { object: "own" }), `x-fill: ${"y".repeat(200_000)}\r\n`),
  "a part before its upload": put({
    json: op("uploadPart", { object: "own", uploadId: "none", partNumber: 1 }),
    body: "part",
  }),
  "the end of an upload that never started": put({
    json: op("completeMultipartUpload", { object: "own", uploadId: "none", parts: [{ etag: "x", part: 1 }] }),
  }),
  "a part number of zero": put({
    json: op("uploadPart", { object: "own", uploadId: "none", partNumber: 0 }),
  }),
  "a checksum that is not hexadecimal": put({ json: op("put", { object: "own", md5: "zz" }), body: "x" }),
  "metadata that is too large": put({
    json: op("put", { object: "own", customFields: [{ k: "a", v: "v".repeat(100_000) }] }),
  }),
  "more than a thousand keys to delete": put({
    json: op("delete", { objects: Array.from({ length: 1001 }, (_, i) => `k${i}`) }),
  }),
  "a list with a forged cursor": get(op("list", { cursor: "cHJpdmF0ZQ==" })),
  "a list of minus one object": get(op("list", { limit: -1 })),
};

/** Frames that name another bucket: the names have no meaning, so the own bucket is read. */
const foreign: Readonly<Record<string, string>> = {
  "a field with a bucket": get(op("get", { object: "secret", bucket: "private" })),
  "a field with a bucket's name": get(op("get", { object: "secret", bucketName: "private" })),
  "a key with the name of a bucket": get(op("get", { object: "private/secret" })),
  "a key that goes up": get(op("get", { object: "../private/secret" })),
  "the prototype": get(
    '{"version":1,"method":"get","object":"secret","__proto__":{"bucket":"private"}}',
    "cf-r2-bucket: private\r\n",
  ),
};

interface Endpoint {
  exchange(bytes: string): Promise<string>;
  assertServes(): Promise<void>;
}

async function openEndpoint(t: TestContext): Promise<Endpoint> {
  const { engine } = await openEngine("memory:");
  for (const name of ["own", "private"]) await engine.createBucket(name);
  await engine.put("private", "secret", Buffer.from(secret), {});
  await engine.put("own", "own", Buffer.from("own value"), {});
  const path = join(await temporaryDirectory(t), "bucket");
  const handler = createBucketCapability({ engine, bucket: "own" });
  const listener = await listen(handler, { path }, bucketListenOptions);
  t.after(async () => {
    await listener.drain();
    await engine.close();
  });
  const exchange = async (bytes: string) => {
    const socket = connect(path);
    const pieces: Buffer[] = [];
    socket.on("data", (piece) => pieces.push(piece));
    // The server may close the connection while the frame is being sent.
    socket.on("error", () => {});
    socket.end(bytes, "latin1");
    await once(socket, "close");
    return Buffer.concat(pieces).toString("latin1");
  };
  return {
    exchange,
    async assertServes() {
      const answer = await exchange(get(op("get", { object: "own" })));
      assert.match(answer, /^HTTP\/1\.1 200 /);
      assert.ok(answer.endsWith("own value"), "the own object is unchanged");
    },
  };
}

test("forged frames on the socket of a bucket are refused", async (t) => {
  const { exchange, assertServes } = await openEndpoint(t);
  for (const [what, bytes] of Object.entries(forged)) {
    await t.test(`a frame with ${what} is refused`, async () => {
      const answer = await exchange(bytes);
      assert.match(answer, /^(HTTP\/1\.1 4\d\d |$)/, answer.slice(0, 300));
      assert.ok(!answer.includes(secret));
      await assertServes();
    });
  }
});

test("a frame cannot name another bucket", async (t) => {
  const { exchange, assertServes } = await openEndpoint(t);
  for (const [what, bytes] of Object.entries(foreign)) {
    await t.test(`${what} does not reach the other bucket`, async () => {
      const answer = await exchange(bytes);
      assert.match(answer, /^HTTP\/1\.1 4\d\d /);
      assert.ok(!answer.includes(secret));
      await assertServes();
    });
  }
});

test("several frames in one packet are answered in order", async (t) => {
  const { exchange } = await openEndpoint(t);
  const first = get(op("head", { object: "own" })).replace("Connection: close\r\n", "");
  const answer = await exchange(first + first + get(op("get", { object: "secret" })));
  assert.equal([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status).join(), "200,200,404");
  assert.ok(!answer.includes(secret));
});
