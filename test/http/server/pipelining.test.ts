// Pipelined requests on one connection, with and without Node's internals: they are handled one at
// a time, answered in order and not read ahead.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import { type HttpHandler, type ListenOptions, listen } from "../../../src/http/server/listen.ts";
import { converse, restOf } from "../../script/client.ts";

async function listenTo(t: TestContext, handler: HttpHandler, options: ListenOptions = {}): Promise<number> {
  const nodeInternals = t.name.endsWith("(internals off)") ? "off" : "on";
  const listening = await listen(handler, { host: "127.0.0.1", port: 0 }, { ...options, nodeInternals });
  t.after(() => listening.drain());
  return listening.port!;
}

function bodies(text: string): string[] {
  return text.split(/(?=HTTP\/1\.1 )/).map((one) => one.slice(one.indexOf("\r\n\r\n") + 4));
}

function testBothWays(title: string, run: (t: TestContext) => Promise<void>): void {
  test(`${title} (internals on)`, run);
  test(`${title} (internals off)`, run);
}

testBothWays("a GET that is pipelined after a PUT returns the bytes of the PUT", async (t) => {
  let stored = "old";
  const port = await listenTo(t, async (request) => {
    if (request.method === "GET") return { status: 200, headers: [], body: stored };
    const chunks: Uint8Array[] = [];
    for await (const chunk of request.body()) chunks.push(chunk);
    for (let i = 0; i < 10; i++) await turn();
    stored = Buffer.concat(chunks).toString();
    return { status: 200, headers: [], body: "stored" };
  });
  const put = ["PUT / HTTP/1.1", "Host: a", "Content-Length: 3", "", "newGET / HTTP/1.1", "Host: a"];
  const socket = await converse(port, ...put, "Connection: close", "");
  assert.deepEqual(bodies(await restOf(socket)), ["stored", "new"]);
});

testBothWays("two thousand pipelined requests are answered in order, one at a time", async (t) => {
  let inFlight = 0;
  let maxInFlight = 0;
  const port = await listenTo(t, async ({ target }) => {
    maxInFlight = Math.max(maxInFlight, ++inFlight);
    await turn();
    inFlight--;
    return { status: 200, headers: [], body: target };
  });
  const count = 2000;
  const heads = Array.from({ length: count }, (_, i) => `GET /${i} HTTP/1.1\r\nHost: a\r\n\r\n`);
  const socket = await converse(port);
  socket.write(heads.join(""));
  socket.write("GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const expected = Array.from({ length: count }, (_, i) => `/${i}`);
  assert.deepEqual(bodies(await restOf(socket)), [...expected, "/last"]);
  assert.equal(maxInFlight, 1);
});

testBothWays("a connection is not read while pipelined requests wait for their responses", async (t) => {
  const served: string[] = [];
  const release: (() => void)[] = [];
  let isOver = false;
  const port = await listenTo(t, async ({ target }) => {
    served.push(target);
    if (!isOver) await new Promise<void>((resolve) => release.push(resolve));
    return { status: 200, headers: [], body: Buffer.alloc(200_000) };
  });
  const socket = await converse(port);
  let sent = 0;
  const head = `GET /x HTTP/1.1\r\nHost: a\r\nX-Filler: ${"x".repeat(8000)}\r\n\r\n`;
  socket.on("error", () => {});
  socket.resume();
  // Writes until the system's socket buffers are full, which shows that the server stopped reading.
  while (socket.write(head) || (await Promise.race([drained(socket), turnsPassed()]))) sent++;
  assert.ok(sent > 0);
  assert.equal(served.length, 1);
  for (let i = 0; i < 3; i++) {
    release.shift()!();
    while (release.length === 0) await turn();
  }
  assert.equal(served.length, 4);
  assert.ok(socket.writableLength > 0, "the client has unsent bytes");
  isOver = true;
  socket.destroy();
  for (const go of release) go();
});

function drained(socket: NodeJS.WritableStream): Promise<boolean> {
  return new Promise((resolve) => socket.once("drain", () => resolve(true)));
}

async function turnsPassed(): Promise<boolean> {
  for (let i = 0; i < 2000; i++) await turn();
  return false;
}

testBothWays("a connection that ends while its requests wait is closed", async (t) => {
  let answer = () => {};
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const nodeInternals = t.name.endsWith("(internals off)") ? "off" : "on";
  const listening = await listen(
    async () => {
      await isAnswered;
      return { status: 204, headers: [], body: null };
    },
    { host: "127.0.0.1", port: 0 },
    { nodeInternals, silenceMilliseconds: 50 },
  );
  const socket = await converse(listening.port!, "GET / HTTP/1.1", "Host: a", "");
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HT");
  assert.match(await restOf(socket), /^HTTP\/1\.1 408 /);
  answer();
  // Resolves when no connection is open.
  await listening.drain();
});

testBothWays("a client that is silent since before its body is read is disconnected", async (t) => {
  let fail: (error: unknown) => void = () => {};
  const failure = new Promise((resolve) => {
    fail = resolve;
  });
  const port = await listenTo(
    t,
    async (request) => {
      // Longer than the limit of silence.
      await delay(400);
      try {
        for await (const _ of request.body());
      } catch (error) {
        fail(error);
      }
      return { status: 204, headers: [], body: null };
    },
    { silenceMilliseconds: 50 },
  );
  await converse(port, "PUT / HTTP/1.1", "Host: a", "Content-Length: 5", "", "ab");
  assert.ok((await failure) instanceof Error);
});
