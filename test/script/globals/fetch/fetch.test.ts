// The fetch function of scripts, tested against a local server.
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { declaredLength } from "../../../../src/binding/fixed-length-stream.ts";
import { describeResponse } from "../../../../src/script/globals/fetch/response.ts";
import { incoming, node, script, streamOf } from "../installed.ts";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

let seen: Seen;
let origin: string;
const server = createServer((request, response) => void answer(request, response));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method, url, headers } = request;
  seen = { method: method!, url: url!, headers, body: Buffer.concat(chunks).toString() };
  if (url === "/gzip") {
    response.writeHead(200, { "content-encoding": "gzip", "content-type": "text/plain" });
    response.end(gzipSync("squeezed"));
  } else if (url === "/length") {
    response.writeHead(200, { "content-length": "6" }).end("answer");
  } else if (url === "/away") {
    response.writeHead(302, { location: "/" }).end();
  } else {
    response.writeHead(
      200,
      [
        ["x-name", Buffer.from("日本").toString("latin1")],
        ["set-cookie", "a=1"],
      ].flat(),
    );
    response.end("answer");
  }
}

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

after(() => {
  server.closeAllConnections();
  server.close();
});

test("a script's fetch returns an instance of Store's Response class with immutable headers", async () => {
  const response = await script.fetch(`${origin}/a`);
  assert.ok(response instanceof Response && response instanceof node.Response);
  assert.equal(response.url, `${origin}/a`);
  assert.equal(response.headers.get("x-name"), "日本");
  assert.throws(() => response.headers.set("a", "b"), TypeError);
  assert.equal(response.redirected, false);
  assert.equal(await response.text(), "answer");
  assert.equal(seen.method, "GET");
});

test("a response from fetch keeps its Content-Length unless its body was decompressed", async () => {
  for (const [path, length] of [
    ["/length", 6],
    ["/gzip", undefined],
    ["/", undefined],
  ] as const) {
    const response = await script.fetch(`${origin}${path}`);
    const wrapped = new script.Response(response.body, response);
    assert.equal(declaredLength(wrapped.body!), length, path);
    assert.equal(await wrapped.text(), path === "/gzip" ? "squeezed" : "answer");
  }
});

test("fetch sends text bodies, stream bodies and UTF-8 header values", async () => {
  await script.fetch(origin, { method: "POST", body: "grüße", headers: { "x-text": "日本" } });
  assert.equal(seen.body, "grüße");
  assert.equal(seen.headers["content-length"], "7");
  assert.equal(Buffer.from(seen.headers["x-text"] as string, "latin1").toString(), "日本");
  await script.fetch(origin, { method: "PUT", body: streamOf("a", "b") });
  assert.equal(seen.body, "ab");
  assert.equal(seen.headers["transfer-encoding"], "chunked");
});

test("fetch sends a stream body of known length with Content-Length", async () => {
  const { readable, writable } = new script.FixedLengthStream(4);
  const writer = writable.getWriter();
  const writing = Promise.all([writer.write(Buffer.from("abcd")), writer.close()]);
  await script.fetch(origin, { method: "PUT", body: readable });
  await writing;
  assert.equal(seen.headers["content-length"], "4");
  assert.equal(seen.body, "abcd");
});

test("fetch can send any HTTP method, such as PROPFIND", async () => {
  await script.fetch(new script.Request(`${origin}/dav`, { method: "PROPFIND", body: "<x/>" }));
  assert.deepEqual([seen.method, seen.url, seen.body], ["PROPFIND", "/dav", "<x/>"]);
});

test("fetch forwards an incoming request to another origin unchanged", async () => {
  const request = incoming({
    method: "PUT",
    rawHeaders: ["Host", "photos.example.com", "Connection", "keep-alive", "Keep-Alive", "timeout=5"].concat([
      "Transfer-Encoding",
      "chunked",
      "Expect",
      "100-continue",
      "X-Kept",
      "yes",
    ]),
    body: () => streamOf("bytes"),
  });
  const response = await script.fetch(new script.Request(`${origin}/to`, request));
  assert.equal(response.status, 200);
  assert.equal(seen.headers.host, origin.slice("http://".length));
  assert.equal(seen.headers["x-kept"], "yes");
  assert.equal(seen.body, "bytes");
});

test("fetch follows redirects, except when it forwards an incoming request", async () => {
  const followed = await script.fetch(`${origin}/away`);
  assert.equal(followed.redirected, true);
  assert.equal(await followed.text(), "answer");
  const passedOn = await script.fetch(new script.Request(`${origin}/away`, incoming()));
  assert.deepEqual([passedOn.status, passedOn.headers.get("location")], [302, "/"]);
  await passedOn.body?.cancel();
});

test("a compressed response from fetch is decompressed and has no Content-Encoding or length", async () => {
  const response = await script.fetch(`${origin}/gzip`);
  assert.equal(response.headers.get("content-encoding"), null);
  assert.equal(response.headers.get("content-type"), "text/plain");
  const { body, headers } = describeResponse(response);
  const names = [...headers].map(([name]) => name);
  assert.ok(!names.includes("content-length") && !names.includes("transfer-encoding"));
  assert.equal(await new node.Response(body).text(), "squeezed");
});

test("a response body that the script compressed is sent unchanged", async () => {
  const zipped = gzipSync("squeezed");
  const { body, headers } = describeResponse(
    new script.Response(zipped, { headers: { "content-encoding": "gzip" } }),
  );
  assert.deepEqual([...headers], [["content-encoding", "gzip"]]);
  assert.equal(gunzipSync(body as Uint8Array).toString(), "squeezed");
});

test("fetch with an aborted signal rejects with the reason of the signal", async () => {
  await assert.rejects(script.fetch(origin, { signal: AbortSignal.abort(new Error("enough")) }), /enough/);
});

test("fetch with invalid arguments rejects instead of throwing", async () => {
  const fetching = script.fetch("/relative");
  await assert.rejects(fetching, TypeError);
});

test("fetch consumes the body of its request, and a clone can still be sent", async () => {
  const request = new script.Request(origin, { method: "POST", body: "x" });
  const clone = request.clone();
  await script.fetch(request);
  assert.ok(request.bodyUsed);
  await assert.rejects(script.fetch(request), TypeError);
  await script.fetch(clone);
  assert.equal(seen.body, "x");
});

test("reading a response from fetch after its signal is aborted fails with the reason of the signal", async () => {
  const controller = new AbortController();
  const response = await script.fetch(`${origin}/`, { signal: controller.signal });
  const clone = response.clone();
  controller.abort(new Error("enough"));
  await assert.rejects(response.text(), /enough/);
  await assert.rejects(response.json(), /enough/);
  await assert.rejects(clone.blob(), /enough/);
});

test("fetch rejects if the stream body of a request contains chunks that are not bytes", async () => {
  for (const chunk of ["text", new ArrayBuffer(1), null]) {
    const body = new ReadableStream({
      start(stream) {
        stream.enqueue(chunk);
        stream.close();
      },
    });
    await assert.rejects(script.fetch(`${origin}/`, { method: "POST", body }), TypeError);
  }
});
