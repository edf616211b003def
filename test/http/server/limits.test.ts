// Limits of a port: idle connections are closed in favour of new ones, connections per address are
// limited, and excess requests get 503.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { defaultPortLimits, divideLimits, type PortLimits } from "../../../src/http/server/limits.ts";
import { type HttpHandler, listen } from "../../../src/http/server/listen.ts";
import { ask, converse, restOf } from "../../script/client.ts";

const hello: HttpHandler = () => ({ status: 200, headers: [], body: "hello" });

async function listenTo(t: TestContext, handler: HttpHandler, limits: Partial<PortLimits>): Promise<number> {
  const options = { limits: { ...defaultPortLimits, ...limits } };
  const listening = await listen(handler, { host: "127.0.0.1", port: 0 }, options);
  t.after(() => listening.drain());
  return listening.port!;
}

async function opened(t: TestContext, port: number, localAddress = "127.0.0.1"): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  t.after(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

test("at the connection limit the oldest idle connection is closed for a new client", async (t) => {
  const port = await listenTo(t, hello, { connections: 4 });
  const oldest = await opened(t, port);
  const closed = once(oldest.resume(), "close");
  for (let i = 0; i < 3; i++) await opened(t, port);
  assert.equal((await ask(port, {})).text, "hello");
  await closed;
});

test("at the connection limit a new client is refused while all connections are busy, and served later", async (t) => {
  const release: (() => void)[] = [];
  const handler: HttpHandler = async (request) => {
    if (request.target === "/wait") await new Promise<void>((resolve) => release.push(resolve));
    return { status: 200, headers: [], body: "done" };
  };
  const port = await listenTo(t, handler, { connections: 2 });
  const head = ["GET /wait HTTP/1.1", "Host: a", "Connection: close", ""];
  const busy: Socket[] = [];
  for (let count = 1; count <= 2; count++) {
    busy.push(await converse(port, ...head));
    while (release.length < count) await new Promise(setImmediate);
  }
  await assert.rejects(ask(port, {}), { code: "ECONNRESET" });
  for (const go of release) go();
  for (const socket of busy) assert.match(await restOf(socket), /done$/);
  assert.equal((await ask(port, {})).text, "done");
});

test("a client address at its connection limit is refused while another address is served", async (t) => {
  const port = await listenTo(t, hello, { connectionsPerAddress: 2 });
  const first = [await opened(t, port, "127.0.0.2"), await opened(t, port, "127.0.0.2")];
  const third = await opened(t, port, "127.0.0.2");
  third.resume();
  await once(third, "close");
  assert.equal((await ask(port, {})).text, "hello");
  first[0]!.destroy();
  assert.equal(await servedAgain(t, port, "127.0.0.2"), "hello");
});

test("the connection limit of a client address still applies after most of its connections were closed", async (t) => {
  const port = await listenTo(t, hello, { connectionsPerAddress: 4 });
  const open = () => opened(t, port, "127.0.0.2");
  for (let round = 0; round < 3; round++) {
    const sockets = [await open(), await open(), await open(), await open(), await open()];
    await Promise.race(sockets.map((socket) => once(socket.resume(), "close")));
    for (const socket of sockets) socket.destroy();
    assert.equal(await servedAgain(t, port, "127.0.0.2"), "hello");
  }
});

/** Retries until the server has closed earlier connections; returns the body of the response. */
async function servedAgain(t: TestContext, port: number, address: string): Promise<string> {
  for (;;) {
    const socket = await opened(t, port, address);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const answer = await restOf(socket).catch(() => "");
    if (answer !== "") return answer.slice(answer.indexOf("\r\n\r\n") + 4);
  }
}

test("requests over the concurrency limit get 503 with Retry-After, and later requests are served", async (t) => {
  let release = () => {};
  const handler: HttpHandler = async ({ target }) => {
    if (target === "/wait")
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    return { status: 200, headers: [], body: "done" };
  };
  const port = await listenTo(t, handler, { requests: 1 });
  const waiting = ask(port, { path: "/wait" });
  let refused = await ask(port, {});
  while (refused.status === 200) refused = await ask(port, {});
  assert.equal(refused.status, 503);
  assert.equal(refused.headers["retry-after"], "1");
  release();
  assert.equal((await waiting).text, "done");
  assert.equal((await ask(port, {})).status, 200);
});

for (const [what, lines, status] of [
  ["a request with a transfer coding before chunked", ["Transfer-Encoding: gzip, chunked"], 501],
  ["a request with too many headers", Array.from({ length: 600 }, (_, i) => `x${i}: 1`), 431],
] as const) {
  test(`${what} is refused with ${status}, and the connection is closed`, async (t) => {
    const port = await listenTo(t, () => assert.fail("the request reached the handler"), {});
    const socket = await converse(port, "POST / HTTP/1.1", "Host: a", ...lines, "", "0", "");
    assert.match(await restOf(socket), new RegExp(`^HTTP/1.1 ${status} `));
  });
}

test("the limits of a port are divided among its processes and bounded by their file descriptors", () => {
  const limits = {
    ...{ connections: 1000, connectionsPerAddress: 100, requests: 50 },
    ...{ pipelined: 400, descriptors: 100_000, nodeInternals: "off" as const },
  };
  assert.deepEqual(divideLimits(limits, { processes: 4, ports: 1 }), {
    ...{ connections: 250, connectionsPerAddress: 25, requests: 13 },
    ...{ pipelined: 100, descriptors: 100_000, nodeInternals: "off" },
  });
  assert.equal(divideLimits({ ...limits, descriptors: 256 }, { processes: 1, ports: 1 }).connections, 64);
});

test("a client that is still sending its body can read an early response on a closing connection", async (t) => {
  const port = await listenTo(t, () => ({ status: 403, headers: [], body: "refused" }), {});
  const body = Buffer.alloc(8 * 1024 * 1024);
  for (let round = 0; round < 10; round++) {
    const answer = await ask(port, { method: "PUT", headers: { connection: "close" }, body });
    assert.deepEqual([answer.status, answer.text], [403, "refused"]);
  }
});
