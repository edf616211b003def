// HTTP between clients and scripts: requests and responses pass unchanged, also on persistent
// connections, through the front process of `store dev` and directly.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent } from "node:http";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { sampleBytes } from "../../support/bytes.ts";
import { ask as askAt, converse, open, restOf } from "../client.ts";
import { until } from "../inside.ts";
import { scriptScene } from "../scene.ts";

const source = `
import { gzipSync } from "node:zlib";

export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    switch (pathname) {
      case "/echo":
        return new Response(request.body, { headers: { "x-method": request.method } });
      case "/method":
        return new Response(null, { headers: { "x-method": request.method, "x-url": request.url } });
      case "/empty":
        return new Response("", { status: 204 });
      case "/status":
        return new Response("text", { status: Number(searchParams.get("is")), statusText: "As You Wish" });
      case "/utf-8": {
        const size = Number(searchParams.get("size"));
        const body = searchParams.get("as") === "text" ? "ü".repeat(size) : new Uint8Array(size);
        return new Response(body, { headers: { "x-name": "ünïcödé → ✓", "x-given": request.headers.get("x-given") } });
      }
      case "/gzip":
        return new Response(gzipSync("packed"), { headers: { "content-encoding": "gzip" } });
      case "/headers":
        return new Response("body", {
          headers: {
            "content-type": "", "cache-control": "", "content-language": "", etag: "",
            "access-control-allow-origin": "", "content-range": "", "set-cookie": "", vary: "",
            allow: "", "x-empty": "",
          },
        });
      case "/cookies": {
        const headers = new Headers({ vary: "a" });
        headers.append("vary", "b");
        headers.append("set-cookie", "a=1; Path=/");
        headers.append("set-cookie", "b=2, 3");
        return new Response(null, { headers });
      }
      case "/slow-head":
        return new Response(new ReadableStream({ pull: () => new Promise(() => {}) }), { headers: { "x-head": "out" } });
      case "/put": {
        const options = { onlyIf: { etagMatches: "another" } };
        const object = await env.BUCKET.put("key", request.body, searchParams.has("refuse") ? options : {});
        return new Response(object === null ? "refused" : String(object.size), { status: object === null ? 412 : 200 });
      }
      case "/stored": {
        const object = await env.BUCKET.get("key");
        return new Response(object.body, { headers: { etag: object.httpEtag } });
      }
      case "/early":
        ctx.waitUntil(env.BUCKET.put("early", request.body));
        return new Response("soon");
      case "/early-size":
        return new Response(String((await env.BUCKET.head("early"))?.size));
      case "/unread":
        return new Response("not read");
      case "/partly": {
        const reader = request.body.getReader();
        await reader.read();
        await reader.cancel();
        return new Response("partly read");
      }
      default:
        return new Response(String(process.pid));
    }
  },
};
`;

const methods =
  "GET POST PUT DELETE PATCH OPTIONS PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK REPORT SEARCH PURGE";

for (const mode of ["dev", "serve"] as const) {
  test(`store ${mode}: HTTP requests and responses pass through unchanged`, async (t) => {
    const scene = await scriptScene(t, source);
    const { ask, port } = await scene.start(mode);

    await t.test("every method reaches the script, with and without a body", async () => {
      for (const method of methods.split(" ")) {
        const bare = await ask({ method, path: "/method" });
        assert.deepEqual([bare.status, bare.headers["x-method"]], [200, method]);
        const echoed = await ask({
          method,
          path: "/echo",
          body: `body of ${method}`,
          headers: { "content-length": String(8 + method.length) },
        });
        assert.deepEqual([echoed.headers["x-method"], echoed.text], [method, `body of ${method}`]);
      }
    });

    await t.test("HTTP/1.0 needs no Host header, and a request target may be an absolute URL", async () => {
      const old = await converse(port, "GET /method HTTP/1.0", "");
      assert.match(await restOf(old), /^HTTP\/1\.1 200 .*x-url: http:\/\/localhost\/method\r\n/s);
      const whole = await converse(
        port,
        "GET http://b.example/method HTTP/1.1",
        "Host: a",
        "Connection: close",
        "",
      );
      assert.match(await restOf(whole), /^HTTP\/1\.1 200 .*x-url: http:\/\/b\.example\/method\r\n/s);
    });

    await t.test("OPTIONS * reaches the script as a request to the root path", async () => {
      const socket = await converse(port, "OPTIONS * HTTP/1.1", "Host: a.example", "Connection: close", "");
      assert.match(await restOf(socket), /^HTTP\/1\.1 200 /);
    });

    await t.test("HEAD has the headers of GET, and no Content-Length if there is no body", async () => {
      const stored = sampleBytes(100_000);
      await ask({ method: "PUT", path: "/put", body: stored });
      const { headers, bytes } = await ask({ method: "HEAD", path: "/stored" });
      assert.deepEqual([headers["content-length"], bytes.length], ["100000", 0]);
      assert.match(headers.etag!, /^"/);
      const none = await ask({ method: "HEAD", path: "/method" });
      assert.equal(none.headers["content-length"], undefined);
      assert.equal(none.headers["transfer-encoding"], undefined);
    });

    await t.test("204 with an empty string as body is sent without body and Content-Length", async () => {
      const { status, headers, text } = await ask("/empty");
      assert.deepEqual([status, text], [204, ""]);
      assert.equal(headers["content-length"], undefined);
      assert.equal(headers["transfer-encoding"], undefined);
    });

    await t.test("a response has the status and reason phrase that the script set", async () => {
      const socket = await converse(port, "GET /status?is=418 HTTP/1.1", "Host: a", "Connection: close", "");
      assert.match(await restOf(socket), /^HTTP\/1\.1 418 As You Wish\r\n/);
      assert.equal((await ask("/status?is=599")).status, 599);
    });

    for (const as of ["text", "bytes"]) {
      for (const size of [1, 100_000]) {
        await t.test(`UTF-8 header values are sent with a ${as} body of size ${size}`, async () => {
          const given = Buffer.from("käse ✓").toString("latin1");
          const { headers, bytes } = await ask({
            path: `/utf-8?as=${as}&size=${size}`,
            headers: { "x-given": given },
          });
          assert.equal(Buffer.from(headers["x-name"] as string, "latin1").toString(), "ünïcödé → ✓");
          assert.equal(headers["x-given"], given);
          const expected = as === "text" ? Buffer.from("ü".repeat(size)) : Buffer.alloc(size);
          assert.ok(bytes.equals(expected));
        });
      }
    }

    await t.test("gzipped request and response bodies pass unchanged", async () => {
      const { headers, bytes } = await ask({ path: "/gzip", headers: { "accept-encoding": "gzip" } });
      assert.equal(headers["content-encoding"], "gzip");
      assert.equal(headers["content-length"], String(bytes.length));
      assert.equal(gunzipSync(bytes).toString(), "packed");
      const packed = gzipSync("sent packed");
      const echoed = await ask({
        method: "POST",
        path: "/echo",
        body: packed,
        headers: { "content-encoding": "gzip" },
      });
      assert.ok(echoed.bytes.equals(packed), "the request body is unchanged");
    });

    await t.test("empty response headers are not sent if the standard requires a value", async () => {
      const { headers } = await ask("/headers");
      const standard = ["content-type", "cache-control", "content-language", "etag"];
      for (const name of [
        ...standard,
        "access-control-allow-origin",
        "content-range",
        "set-cookie",
        "vary",
      ]) {
        assert.equal(headers[name], undefined, name);
      }
      assert.deepEqual([headers.allow, headers["x-empty"]], ["", ""], "other headers are sent");
    });

    await t.test("values of one header are joined, but each Set-Cookie is sent separately", async () => {
      const { headers } = await ask("/cookies");
      assert.equal(headers.vary, "a, b");
      assert.deepEqual(headers["set-cookie"], ["a=1; Path=/", "b=2, 3"]);
    });

    await t.test("an object is sent with its length, and a stream of unknown length chunked", async () => {
      const { size } = { size: 70_000 };
      await ask({ method: "PUT", path: "/put", body: sampleBytes(size) });
      const { headers } = await ask("/stored");
      assert.deepEqual([headers["content-length"], headers["transfer-encoding"]], [String(size), undefined]);
      async function* pieces() {
        yield sampleBytes(10);
        yield sampleBytes(20);
      }
      const sent = await ask({
        method: "PUT",
        path: "/put",
        body: pieces(),
        headers: { "transfer-encoding": "chunked" },
      });
      assert.equal(sent.text, "30");
      assert.equal((await ask("/stored")).headers["content-length"], "30");
      const echoed = await ask({
        method: "POST",
        path: "/echo",
        body: pieces(),
        headers: { "transfer-encoding": "chunked" },
      });
      assert.equal(echoed.headers["transfer-encoding"], "chunked");
      assert.equal(echoed.bytes.length, 30);
    });

    await t.test("the response head is sent before the body is available", async () => {
      const incoming = await open(port, { path: "/slow-head" });
      assert.equal(incoming.headers["x-head"], "out");
      incoming.destroy();
    });

    await t.test("a request is answered if the script reads its body partially or not at all", async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const body = sampleBytes(3_000_000);
      for (const [path, text] of [
        ["/unread", "not read"],
        ["/partly", "partly read"],
        ["/put?refuse", "refused"],
      ] as const) {
        assert.equal((await ask({ method: "PUT", path, body, agent })).text, text);
        assert.equal((await ask({ path: "/status?is=200", agent })).text, "text", "the next request too");
      }
      agent.destroy();
    });

    await t.test("a request body may be stored after the response was sent", async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      assert.equal(
        (await ask({ method: "PUT", path: "/early", body: sampleBytes(3_000_000), agent })).text,
        "soon",
      );
      const isStored = async () => (await ask({ path: "/early-size", agent })).text === "3000000";
      await until(isStored, "the body is stored");
      agent.destroy();
    });

    await t.test("a connection is reused for many requests until the client closes it", async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const ports = new Set<number>();
      agent.on("free", (socket) => ports.add(socket.localPort));
      const pids = new Set<string>();
      for (let i = 0; i < 20; i++) pids.add((await askAt(port, { agent })).text);
      assert.deepEqual([ports.size, pids.size], [1, 1]);
      agent.destroy();
      const socket = await converse(
        port,
        "GET / HTTP/1.1",
        "Host: a",
        "",
        "GET /method HTTP/1.1",
        "Host: a",
        "Connection: close",
        "",
      );
      assert.equal(
        (await restOf(socket)).match(/HTTP\/1\.1 200 /g)?.length,
        2,
        "pipelined requests are answered too",
      );
    });

    await t.test("a request with Expect: 100-continue gets 100 before its body is sent", async () => {
      const socket = await converse(
        port,
        "PUT /put HTTP/1.1",
        "Host: a",
        "Content-Length: 4",
        "Expect: 100-continue",
        "Connection: close",
        "",
      );
      const [first] = (await once(socket, "data")) as [Buffer];
      assert.match(first.toString(), /^HTTP\/1\.1 100 Continue\r\n\r\n/);
      socket.write("body");
      assert.match(await restOf(socket), /^HTTP\/1\.1 200 .*\r\n\r\n4$/s);
    });
  });
}
