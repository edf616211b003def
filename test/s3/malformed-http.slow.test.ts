// Malformed HTTP requests, and content that is not valid in HTTP: each gets an S3 error or a safe
// response, and the same process keeps running.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { encodeText } from "../../src/http/sigv4.ts";
import { openEngine } from "../../src/open.ts";
import { s3Processes } from "./inside.ts";
import { type Raw, sendRaw, signRaw } from "./raw.ts";
import { s3Scene } from "./scene.ts";

/** Sends bytes and returns everything received until the connection closes. */
async function converse(url: string, ...pieces: (string | Buffer)[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.setTimeout(20_000, () => socket.destroy());
  let found = "";
  socket.on("data", (piece) => {
    found += piece.toString("latin1");
  });
  const closed = once(socket, "close");
  for (const piece of pieces) if (!socket.destroyed) socket.write(piece);
  await closed;
  return found;
}

const isError = /^HTTP\/1\.1 (4\d\d|501) [\s\S]*\r\n\r\n(<\?xml[^>]*>\s*)?<Error><Code>\w+</;

test("malformed HTTP requests get an XML error, and the same process keeps running", async (t) => {
  const { url, key, server, data } = await s3Scene(t);
  const { host } = new URL(url);
  const pids = s3Processes(server.pid);
  const call = (raw: Raw) => sendRaw(url, signRaw(url, raw, { key, form: "header" }));
  const presigned = (method: string, path: string) => {
    const signed = signRaw(url, { method, path }, { key, form: "query" });
    const query = signed.query.map(([name, value]) => `${name}=${encodeText(value)}`).join("&");
    return `${method} ${path}?${query}`;
  };
  const put = presigned("PUT", "/bucket/malformed");

  const heads: Readonly<Record<string, string>> = {
    "two different Content-Length headers": "Content-Length: 1\r\nContent-Length: 2\r\n\r\nx",
    "two equal Content-Length headers": "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx",
    "Content-Length before chunked":
      "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    "chunked before Content-Length":
      "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    "an unsupported Transfer-Encoding": "Transfer-Encoding: gzip\r\n\r\nx",
    "a Transfer-Encoding that lists chunked twice":
      "Transfer-Encoding: chunked, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    "a chunk without a size": "Transfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n0\r\n\r\n",
    "a chunk of a negative size": "Transfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n0\r\n\r\n",
    "a chunk larger than its size": "Transfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n0\r\n\r\n",
    "a chunk size that overflows": "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nx",
    "a negative Content-Length": "Content-Length: -1\r\n\r\n",
    "a folded header": "X-A: a\r\n b\r\nContent-Length: 1\r\nX-Amz-B: c\r\n\r\nx",
    "a header without a colon": "X-A\r\nContent-Length: 1\r\n\r\nx",
    "a NUL in a header": "X-Amz-Meta-A: a\0b\r\nContent-Length: 1\r\n\r\nx",
    "a bare CR in a header": "X-Amz-Meta-A: a\rb\r\nContent-Length: 1\r\n\r\nx",
    "a space before the colon of a header": "X-A : a\r\nContent-Length: 1\r\n\r\nx",
  };
  for (const [what, rest] of Object.entries(heads)) {
    await t.test(`a PUT with ${what} is refused with an XML error`, async () => {
      const response = await converse(
        url,
        `${put} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${rest}`,
      );
      assert.match(response, isError);
      assert.equal(
        (await call({ method: "HEAD", path: "/bucket/malformed" })).status,
        404,
        "nothing is stored",
      );
    });
  }

  await t.test("a body that is shorter than its Content-Length is not stored", async () => {
    const { hostname, port } = new URL(url);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    socket.end(`${put} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 10\r\n\r\nabc`);
    socket.resume();
    await once(socket, "close");
    assert.equal((await call({ method: "HEAD", path: "/bucket/malformed" })).status, 404);
  });

  await t.test(
    "an HTTP/1.0 request gets a response, and an HTTP/1.1 request without Host is refused",
    async () => {
      const old = await converse(
        url,
        `${presigned("GET", "/bucket/none")} HTTP/1.0\r\nHost: ${host}\r\n\r\n`,
      );
      assert.match(old, /^HTTP\/1\.1 404 [\s\S]*<Code>NoSuchKey</);
      assert.match(
        await converse(url, "GET / HTTP/1.0\r\n\r\n"),
        /^HTTP\/1\.1 403 [\s\S]*<Code>AccessDenied</,
      );
      assert.match(await converse(url, "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"), /^HTTP\/1\.1 4\d\d /);
      assert.match(await converse(url, "GET / HTTP/9.9\r\n\r\n"), /^HTTP\/1\.1 400 /);
    },
  );

  await t.test(
    "very long, malformed or too many query parameters are refused, and 900 unknown ones are ignored",
    async () => {
      const long = await converse(
        url,
        `GET /bucket?prefix=${"x".repeat(100_000)} HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
      );
      assert.match(long, /^HTTP\/1\.1 431 [\s\S]*<Code>RequestHeaderSectionTooLarge</);
      const many = Array.from({ length: 5000 }, (_, i): [string, string] => [`p${i}`, ""]);
      assert.equal((await call({ method: "GET", path: "/bucket", query: many })).code, "InvalidRequest");
      assert.equal((await call({ method: "GET", path: "/bucket", query: many.slice(0, 900) })).status, 200);
      const subresources = ["acl", "cors", "policy", "uploads", "delete"].map((name): [string, string] => [
        name,
        "",
      ]);
      assert.equal(
        (await call({ method: "GET", path: "/bucket", query: subresources })).code,
        "NotImplemented",
      );
      const odd = await converse(
        url,
        `GET /bucket?&&=&=&%&a=%zz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      assert.match(odd, /^HTTP\/1\.1 400 [\s\S]*<Code>InvalidURI</);
    },
  );

  await t.test("keys that are not valid file names are stored and read", async () => {
    for (const path of [
      "/bucket/a%00b",
      "/bucket/%00",
      "/bucket/%01%0D%0A%7F",
      "/bucket/CON",
      "/bucket/a%5Cb",
    ]) {
      assert.equal((await call({ method: "PUT", path, body: Buffer.from(path) })).status, 200, path);
      assert.equal((await call({ method: "GET", path })).text, path);
    }
    const listed = await call({ method: "GET", path: "/bucket", query: [["encoding-type", "url"]] });
    assert.match(listed.text, /<Key>a%00b<\/Key>/);
    const plain = await call({ method: "GET", path: "/bucket" });
    assert.ok(!plain.text.includes("\0"), "the XML document contains no NUL");
  });

  await t.test("metadata that is not valid in HTTP headers is omitted and counted", async () => {
    const { engine } = await openEngine(data);
    await engine.put("bucket", "odd", Buffer.from("x"), {
      httpMetadata: { contentType: "text/plain\r\nSet-Cookie: a=1", cacheControl: "no-store" },
      customMetadata: new Map([
        ["fine", "value"],
        ["lines", "a\r\nSet-Cookie: b=1"],
        ["a name", "with a space"],
        ["nul", "\0"],
        ["név", "value"],
      ]),
    });
    await engine.close();
    for (const method of ["GET", "HEAD"]) {
      const { status, headers } = await call({ method, path: "/bucket/odd" });
      assert.equal(status, 200);
      assert.equal(headers["x-amz-missing-meta"], "4");
      assert.equal(headers["x-amz-meta-fine"], "value");
      assert.equal(headers["set-cookie"], undefined);
      assert.equal(headers["cache-control"], "no-store");
      assert.deepEqual(
        Object.keys(headers).filter((name) => name.startsWith("x-amz-meta-")),
        ["x-amz-meta-fine"],
      );
    }
  });

  await t.test(
    "after malformed requests the same process still runs and has logged no internal error",
    async () => {
      assert.equal((await call({ method: "GET", path: "/" })).status, 200);
      assert.deepEqual(s3Processes(server.pid), pids);
      assert.doesNotMatch(server.log(), /failed|ended/i);
    },
  );
});
