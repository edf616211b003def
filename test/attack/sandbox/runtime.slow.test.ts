// A runtime that a script has taken over answers the supervisor wrongly: on its socket for requests
// and on the gate. Clients get an error or a closed connection, another script is not affected, and
// the supervisor's memory stays bounded.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { forwardToRuntime } from "../../../src/http/runtime-proxy.ts";
import { listen } from "../../../src/http/server/listen.ts";
import { createGate } from "../../../src/script/sandbox/gate.ts";
import { converse, restOf } from "../../script/client.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const MiB = 1024 * 1024;
const ok = (body: string, length = body.length) =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${body}`;

/** Writes pieces until the other side closes the connection. */
function endless(head: string, piece: string): (socket: Socket) => void {
  const chunk = Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)), "latin1");
  return (socket) => {
    const more = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on("drain", more);
    socket.write(head);
    more();
  };
}

/** What the runtime sends after it received a request. */
const behaviours: Readonly<Record<string, (socket: Socket) => void>> = {
  "bytes that are not HTTP": (socket) => socket.end("\0\x01garbage\r\n\r\n"),
  "nothing, and closes": (socket) => socket.destroy(),
  "half a head, and closes": (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-"),
  "a status that is not a number": (socket) => socket.end("HTTP/1.1 abc OK\r\n\r\n"),
  "a negative length": (socket) => socket.end(ok("x", -1)),
  "two lengths": (socket) =>
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 5\r\n\r\nxxxxx"),
  "a length and chunks": (socket) =>
    socket.end(
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    ),
  "fewer bytes than declared": (socket) => socket.end(ok("short", 5000)),
  "a chunk of a wrong size": (socket) =>
    socket.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n"),
  "endless headers": endless("HTTP/1.1 200 OK\r\n", "x-fill: yyyyyyyyyyyyyyyyyyyyyyyy\r\n"),
  "an endless header line": endless("HTTP/1.1 200 OK\r\nx-fill: ", "y"),
  "endless interim responses": endless("", "HTTP/1.1 103 Early Hints\r\n\r\n"),
};

interface Hostile {
  readonly path: string;
  /** Number of connections that are open. */
  open(): number;
}

async function openRuntime(t: TestContext, behave: (socket: Socket) => void): Promise<Hostile> {
  const path = join(await temporaryDirectory(t), "runtime");
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    socket.on("data", () => behave(socket));
  });
  server.listen(path);
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { path, open: () => sockets.size };
}

async function openPort(t: TestContext, path: string): Promise<number> {
  const front = await listen((request) => forwardToRuntime(request, path), { host: "127.0.0.1", port: 0 });
  t.after(() => front.drain());
  return front.port!;
}

async function askPort(port: number): Promise<string> {
  return restOf(await converse(port, "GET / HTTP/1.1", "Host: a", "Connection: close", "", ""));
}

for (const [what, behave] of Object.entries(behaviours)) {
  test(`a runtime that answers with ${what} fails its own requests and pulses only`, async (t) => {
    const hostile = await openRuntime(t, behave);
    const good = await openRuntime(t, (socket) => socket.write(ok("good")));
    const [port, goodPort] = [await openPort(t, hostile.path), await openPort(t, good.path)];
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 10; round++) {
      const answer = await askPort(port);
      const isComplete = /^HTTP\/1\.1 200 OK\r\n/.test(answer) && /\r\n0\r\n\r\n$/.test(answer);
      assert.ok(!isComplete, answer.slice(0, 200));
      await assert.rejects(createGate(hostile.path).pulse());
      assert.match(await askPort(goodPort), /good$/);
    }
    assert.ok(process.memoryUsage().rss < before + 128 * MiB, "memory stays bounded");
  });
}

test("a gate that answers without an end is cut off", async (t) => {
  const { path } = await openRuntime(t, endless("HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n", "x"));
  await assert.rejects(createGate(path).pulse(), /longer than/);
});

const forged = ["null", "[]", '{"handled":"all"}', '{"handled":[-1]}', '{"handled":[0,0,0]}', "not JSON"];

test("a gate cannot forge the result of notifications", async (t) => {
  const event = { key: "a" } as unknown as Parameters<ReturnType<typeof createGate>["notify"]>[0][number];
  for (const body of forged) {
    const { path } = await openRuntime(t, (socket) => socket.write(ok(body)));
    await assert.rejects(createGate(path).notify([event]), body);
  }
  const { path } = await openRuntime(t, (socket) => socket.write(ok('{"handled":[5]}')));
  assert.deepEqual((await createGate(path).notify([event])).handled, []);
});

test("the second of two answers is never the answer to another request", async (t) => {
  const hostile = await openRuntime(t, (socket) => socket.write(ok("first") + ok("FORGED")));
  const port = await openPort(t, hostile.path);
  for (let round = 0; round < 20; round++) assert.doesNotMatch(await askPort(port), /FORGED/);
});

test("requests to a runtime that never answers end with their clients", async (t) => {
  const silent = await openRuntime(t, () => {});
  const good = await openRuntime(t, (socket) => socket.write(ok("good")));
  const [port, goodPort] = [await openPort(t, silent.path), await openPort(t, good.path)];
  const clients = await Promise.all(
    Array.from({ length: 200 }, () => converse(port, "GET / HTTP/1.1", "Host: a", "", "")),
  );
  assert.match(await askPort(goodPort), /good$/);
  for (const client of clients) client.destroy();
  const end = Date.now() + 60_000;
  while (silent.open() > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(silent.open(), 0, "no connection to the runtime is left");
});
