// Requests through the proxy: what reaches the other server, what comes back, and what is refused.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { type TestContext, test } from "node:test";
import { makeCertificate } from "../../../support/certificate.ts";
import { until } from "../../inside.ts";
import { startProxy, startServer } from "./scene.ts";

const loopback = async () => ["127.0.0.1"];

/** A list that permits api.example.com on a port of loopback. */
function listed(port: number): readonly string[] {
  return [`api.example.com:${port}`, `127.0.0.1:${port}`];
}

async function startEcho(t: TestContext) {
  return startServer(t, async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { method, url, rawHeaders } = request;
    response.writeHead(201, {
      "content-type": "application/json",
      "x-answer": "yes",
      "keep-alive": "timeout=9",
    });
    response.end(JSON.stringify({ method, url, rawHeaders, body }));
  });
}

test("method, path, headers and body reach the other server, and its response the script", async (t) => {
  const { port } = await startEcho(t);
  const proxy = await startProxy(t, { outbound: listed(port), lookup: loopback });
  const url = `http://api.example.com:${port}/a/../b?c=%20d`;
  const answer = await proxy.fetch(url, { method: "POST", headers: { "X-Mine": "1" }, body: "hello" });
  assert.equal(answer.status, 201);
  assert.equal(answer.header("x-answer"), "yes");
  assert.equal(answer.header("keep-alive"), undefined);
  const seen = JSON.parse(answer.text) as { method: string; url: string; rawHeaders: string[]; body: string };
  assert.deepEqual([seen.method, seen.url, seen.body], ["POST", "/a/../b?c=%20d", "hello"]);
  const names = seen.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  assert.deepEqual(names.sort(), ["connection", "content-length", "host", "x-mine"]);
  assert.ok(seen.rawHeaders.includes(`api.example.com:${port}`));
});

test("headers of one connection, Host and proxy credentials of the script are not forwarded", async (t) => {
  const { port } = await startEcho(t);
  const proxy = await startProxy(t, { outbound: listed(port), lookup: loopback });
  const answer = await proxy.fetch(`http://api.example.com:${port}/`, {
    headers: {
      ...{ host: "other.example.com", connection: "close, x-hop", "x-hop": "1", te: "trailers" },
      ...{ "proxy-authorization": "Basic eDp5", "proxy-connection": "close", "user-agent": "mine" },
    },
  });
  const { rawHeaders } = JSON.parse(answer.text) as { rawHeaders: string[] };
  assert.deepEqual(rawHeaders, [
    ...["Host", `api.example.com:${port}`, "user-agent", "mine", "Connection", "keep-alive"],
  ]);
});

test("a refused host gets a response that names the host and the setting, and one line in the log", async (t) => {
  const proxy = await startProxy(t, { outbound: "none" });
  for (let i = 0; i < 2; i++) {
    const answer = await proxy.fetch("https://api.example.com/");
    assert.equal(answer.status, 403);
    assert.equal(
      answer.text,
      'fetch of "api.example.com" was refused: add it to outbound in the configuration\n',
    );
    assert.equal(answer.header("proxy-status"), "store; error=http_request_denied");
  }
  assert.deepEqual(proxy.logged, [
    'fetch of "api.example.com" was refused: to permit it, add "api.example.com" to outbound in the configuration.',
  ]);
});

test("a script that fetches many refused hosts does not flood the log", async (t) => {
  const proxy = await startProxy(t, { outbound: "none" });
  for (let i = 0; i < 150; i++) await proxy.fetch(`http://host-${i}.example.com/`);
  assert.equal(proxy.logged.length, 101);
});

test('with outbound = "public", loopback and metadata addresses are not contacted', async (t) => {
  let requests = 0;
  const { port } = await startServer(t, (_, response) => {
    requests++;
    response.end();
  });
  const proxy = await startProxy(t, { outbound: "public", lookup: loopback });
  const hosts = ["127.0.0.1", "localhost", "[::1]", "0x7f.1", "[::ffff:127.0.0.1]", "api.example.com", "0"];
  for (const host of hosts) {
    const { status, text } = await proxy.fetch(`http://${host}:${port}/`);
    assert.ok(status === 403 || status === 502, host);
    assert.match(text, /not a public address|no public address/, host);
  }
  assert.equal(requests, 0);
});

test("a name that changes its address between check and connection is not looked up again", async (t) => {
  const { port } = await startEcho(t);
  const answers = [["127.0.0.1"], ["127.0.0.2"], ["169.254.169.254"]];
  let lookups = 0;
  const lookup = async () => answers[lookups++]!;
  const proxy = await startProxy(t, { outbound: listed(port), lookup });
  const first = await proxy.fetch(`http://api.example.com:${port}/`);
  assert.deepEqual([first.status, lookups], [201, 1]);
  // Each request is checked on its own, although a connection to the name is pooled.
  const second = await proxy.fetch(`http://api.example.com:${port}/`);
  assert.deepEqual([second.status, lookups], [502, 2]);
  assert.match(second.text, /no public address was found/);
  const third = await proxy.fetch(`http://api.example.com:${port}/`);
  assert.deepEqual([third.status, lookups], [502, 3]);
});

test("a redirect to a private address is returned to the runtime, whose next request is refused", async (t) => {
  const inner = await startEcho(t);
  const { port } = await startServer(t, (_, response) => {
    response.writeHead(302, { location: `http://127.0.0.2:${inner.port}/` }).end();
  });
  const proxy = await startProxy(t, { outbound: listed(port), lookup: loopback });
  const redirect = await proxy.fetch(`http://api.example.com:${port}/`);
  assert.equal(redirect.status, 302);
  assert.equal((await proxy.fetch(redirect.header("location")!)).status, 403);
});

test("requests that are not in proxy form are refused", async (t) => {
  const proxy = await startProxy(t, { outbound: "public" });
  for (const target of ["/", "*", "http://user:secret@example.com/", "ftp://example.com/"]) {
    assert.equal((await proxy.fetch(target)).status, 400, target);
  }
});

test("with TLS, the certificate must be for the host of the URL", async (t) => {
  const pair = makeCertificate({ name: "api.example.com" });
  const { port } = await startServer(
    t,
    (request, response) => {
      response.end((request.socket as { servername?: string }).servername);
    },
    pair,
  );
  const outbound = [...listed(port), `other.example.com:${port}`];
  const proxy = await startProxy(t, { outbound, lookup: loopback, ca: pair.certificate });
  const good = await proxy.fetch(`https://api.example.com:${port}/`);
  assert.deepEqual([good.status, good.text], [200, "api.example.com"]);
  const wrong = await proxy.fetch(`https://other.example.com:${port}/`);
  assert.equal(wrong.status, 502);
  assert.match(wrong.text, /its certificate is not valid/);
  const address = await proxy.fetch(`https://127.0.0.1:${port}/`);
  assert.equal(address.status, 200);
  const unknown = await startProxy(t, { outbound, lookup: loopback });
  assert.equal(
    (await unknown.fetch(`https://api.example.com:${port}/`)).header("proxy-status"),
    "store; error=tls_certificate_error",
  );
});

test("a refused connection, invalid HTTP and oversized headers are reported as such", async (t) => {
  const closed = await startEcho(t);
  closed.server.close();
  const { port, server } = await startServer(t, (request, response) => {
    if (request.url === "/large") response.setHeader("x-large", "x".repeat(40_000));
    if (request.url === "/garbage") request.socket.end("garbage\r\n\r\n");
    else if (request.url === "/close") request.socket.destroy();
    else response.end();
  });
  server.keepAliveTimeout = 1;
  const outbound = [`127.0.0.1:${port}`, `127.0.0.1:${closed.port}`];
  const proxy = await startProxy(t, { outbound });
  const faults = async (url: string) => (await proxy.fetch(url)).header("proxy-status");
  assert.equal(await faults(`http://127.0.0.1:${closed.port}/`), "store; error=connection_refused");
  assert.equal(await faults(`http://127.0.0.1:${port}/garbage`), "store; error=http_protocol_error");
  assert.equal(await faults(`http://127.0.0.1:${port}/close`), "store; error=connection_terminated");
  assert.equal(
    await faults(`http://127.0.0.1:${port}/large`),
    "store; error=http_response_header_section_size",
  );
});

test("a second address is used if the first one refuses the connection", async (t) => {
  const { port } = await startEcho(t);
  const outbound = [`api.example.com:${port}`, `127.0.0.1:${port}`, `127.0.0.9:${port}`];
  const proxy = await startProxy(t, { outbound, lookup: async () => ["127.0.0.9", "127.0.0.1"] });
  assert.equal((await proxy.fetch(`http://api.example.com:${port}/`)).status, 201);
});

test("requests beyond the limit in flight are refused, and the limit is free again afterwards", async (t) => {
  const waiting: (() => void)[] = [];
  const { port } = await startServer(t, (_, response) => {
    response.write("begin");
    waiting.push(() => response.end());
  });
  const proxy = await startProxy(t, { outbound: [`127.0.0.1:${port}`], maxInFlight: 2 });
  const url = `http://127.0.0.1:${port}/`;
  const open = [await proxy.open(url), await proxy.open(url)];
  const refused = await proxy.fetch(url);
  assert.equal(refused.status, 503);
  assert.match(refused.text, /2 requests are in flight/);
  for (const end of waiting.splice(0)) end();
  for (const incoming of open) for await (const _ of incoming);
  const next = await proxy.open(url);
  assert.equal(next.statusCode, 200);
  next.destroy();
  await until(async () => {
    const again = await proxy.open(url);
    again.destroy();
    return again.statusCode === 200;
  }, "an aborted request frees its share of the limit");
});

test("a script that disconnects aborts the request to the other server", async (t) => {
  const closed: Promise<unknown>[] = [];
  const { port } = await startServer(t, (request, response) => {
    closed.push(once(request.socket, "close"));
    response.write("begin");
  });
  const proxy = await startProxy(t, { outbound: [`127.0.0.1:${port}`] });
  const incoming = await proxy.open(`http://127.0.0.1:${port}/`);
  incoming.destroy();
  await closed[0];
});

test("a script that disconnects before the response aborts the request too", async (t) => {
  const { port, server } = await startServer(t, () => {});
  const proxy = await startProxy(t, { outbound: [`127.0.0.1:${port}`] });
  const outgoing = request({ socketPath: proxy.path, path: `http://127.0.0.1:${port}/`, agent: false });
  outgoing.on("error", () => {});
  outgoing.end();
  const [{ socket }] = (await once(server, "request")) as [IncomingMessage];
  const closed = once(socket, "close");
  outgoing.destroy();
  await closed;
});

test("a server that stops responding is disconnected after the idle timeout", async (t) => {
  const { port } = await startServer(t, (request, response) => {
    if (request.url === "/body") response.write("begin");
  });
  const proxy = await startProxy(t, { outbound: [`127.0.0.1:${port}`], idleMilliseconds: 100 });
  const silent = await proxy.fetch(`http://127.0.0.1:${port}/`);
  assert.deepEqual(
    [silent.status, silent.header("proxy-status")],
    [504, "store; error=http_response_timeout"],
  );
  await assert.rejects(proxy.fetch(`http://127.0.0.1:${port}/body`), { code: "ECONNRESET" });
});

test("a response that is cut off fails for the script too", async (t) => {
  const { port } = await startServer(t, (request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("begin", () => request.socket.destroy());
  });
  const proxy = await startProxy(t, { outbound: [`127.0.0.1:${port}`] });
  await assert.rejects(proxy.fetch(`http://127.0.0.1:${port}/`), { code: "ECONNRESET" });
});

test("a response that the script does not read stops the other server from sending", async (t) => {
  let sent = 0;
  const { port } = await startServer(t, async (_, response) => {
    const chunk = Buffer.alloc(64 * 1024);
    while (!response.destroyed && response.write(chunk)) sent += chunk.length;
    response.once("drain", function more() {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      response.once("drain", more);
    });
  });
  const proxy = await startProxy(t, { outbound: [`127.0.0.1:${port}`] });
  const incoming = await proxy.open(`http://127.0.0.1:${port}/`);
  let last = -1;
  await until(() => {
    const isSteady = sent === last;
    last = sent;
    return isSteady;
  }, "the server stops sending");
  assert.ok(sent < 64 * 1024 * 1024, `${sent} bytes`);
  incoming.destroy();
});

test("bodies of both directions pass while the other one is still open", async (t) => {
  const { port } = await startServer(t, (request, response) => request.pipe(response));
  const proxy = await startProxy(t, { outbound: [`127.0.0.1:${port}`] });
  async function* chunks() {
    for (let i = 0; i < 100; i++) yield Buffer.alloc(10_000, i);
  }
  const incoming = await proxy.open(`http://127.0.0.1:${port}/`, { method: "PUT", body: chunks() });
  let size = 0;
  for await (const chunk of incoming) size += (chunk as Buffer).length;
  assert.equal(size, 1_000_000);
});

test("HEAD, 204 and 304 have no body and keep their headers", async (t) => {
  const { port } = await startServer(t, (request, response) => {
    if (request.method === "HEAD") response.writeHead(200, { "content-length": "12345" }).end();
    else response.writeHead(Number(request.url!.slice(1)), { etag: '"a"' }).end();
  });
  const proxy = await startProxy(t, { outbound: [`127.0.0.1:${port}`] });
  const url = `http://127.0.0.1:${port}`;
  assert.equal((await proxy.fetch(`${url}/`, { method: "HEAD" })).header("content-length"), "12345");
  for (const status of [204, 304]) {
    const answer = await proxy.fetch(`${url}/${status}`);
    assert.deepEqual([answer.status, answer.header("etag"), answer.text], [status, '"a"', ""]);
  }
});

test("a GET request on a pooled connection that the server closes is sent again, a POST is not", async (t) => {
  const served = new WeakSet<object>();
  let posts = 0;
  const { port } = await startServer(t, ({ socket, method }, response) => {
    if (method === "POST") posts++;
    if (served.has(socket)) socket.destroy();
    else response.end("first");
    served.add(socket);
  });
  const proxy = await startProxy(t, { outbound: [`127.0.0.1:${port}`] });
  const url = `http://127.0.0.1:${port}/`;
  assert.equal((await proxy.fetch(url)).status, 200);
  assert.equal((await proxy.fetch(url)).status, 200);
  for (let i = 0; i < 4; i++) await proxy.fetch(url, { method: "POST", body: "x" });
  assert.equal(posts, 4);
});
