// Bodies read into the handler's buffers, with and without Node's internals: all bytes arrive as
// sent, and the connection serves the next request.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { Agent } from "node:http";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { type HttpHandler, type HttpRequest, listen } from "../../../../src/http/server/listen.ts";
import { createOpenStreams } from "../../../../src/http/server/listener-state.ts";
import { ask, converse, restOf } from "../../../script/client.ts";
import { until } from "../../../script/inside.ts";

const streams = createOpenStreams();

/** Listens until the test ends; `accepted` collects the server's side of each connection. */
async function listenTo(t: TestContext, handler: HttpHandler, accepted: Socket[] = []): Promise<number> {
  const nodeInternals = t.name.endsWith("(internals off)") ? "off" : "on";
  const listening = await listen(handler, { host: "127.0.0.1", port: 0 }, { streams, nodeInternals });
  const onSocket = (message: unknown) => accepted.push((message as { socket: Socket }).socket);
  subscribe("net.server.socket", onSocket);
  t.after(async () => {
    unsubscribe("net.server.socket", onSocket);
    // Connections are destroyed, since drain would wait for them.
    for (const socket of accepted) socket.destroy();
    await listening.drain();
  });
  return listening.port!;
}

function testBothWays(title: string, run: (t: TestContext) => Promise<void>): void {
  test(`${title} (internals on)`, run);
  test(`${title} (internals off)`, run);
}

function md5(bytes: Uint8Array): string {
  return createHash("md5").update(bytes).digest("hex");
}

/** Reads a body into a buffer of `size` bytes, with `between` after each read; returns its MD5. */
async function readAndHash(request: HttpRequest, size: number, between = async () => {}): Promise<string> {
  const reader = request.directReader!();
  const hash = createHash("md5");
  const buffer = Buffer.from(new SharedArrayBuffer(size));
  try {
    for (let isEnd = false; !isEnd; ) {
      const count = await reader.readInto(buffer);
      hash.update(buffer.subarray(0, count));
      isEnd = count < size;
      await between();
    }
  } finally {
    reader.close();
  }
  return hash.digest("hex");
}

const answering = (size: number, between?: () => Promise<void>): HttpHandler => {
  return async (request) => ({ status: 200, headers: [], body: await readAndHash(request, size, between) });
};

for (const size of [1, 700, 65_536, 1_000_000]) {
  testBothWays(`several bodies on one connection are read whole into buffers of ${size} bytes`, async (t) => {
    const port = await listenTo(t, answering(size));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    for (const length of [0, 1, size, 2 * size, Math.min(40 * size, 3_000_000) + 7]) {
      const bytes = randomBytes(length);
      const answer = await ask(port, { method: "PUT", body: bytes, agent });
      assert.equal(answer.text, md5(bytes), `${length} bytes`);
    }
    assert.equal(streams.incoming, 0);
  });
}

testBothWays("a chunked body without Content-Length is read whole", async (t) => {
  const port = await listenTo(t, answering(100_000));
  const bytes = randomBytes(1_000_000);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += 30_000) yield bytes.subarray(at, at + 30_000);
  }
  assert.equal((await ask(port, { method: "PUT", body: chunks() })).text, md5(bytes));
});

/** Sends the body in pieces, each after the system has accepted the previous piece. */
async function sendSlowly(socket: Socket, bytes: Uint8Array, size: number): Promise<void> {
  for (let at = 0; at < bytes.length; at += size) {
    await new Promise((resolve) => socket.write(bytes.subarray(at, at + size), resolve));
    await new Promise(setImmediate);
  }
}

function head(length: number, ...more: string[]): string[] {
  return ["PUT / HTTP/1.1", "Host: a", `Content-Length: ${length}`, ...more, ""];
}

testBothWays(
  "a body that arrives slowly is read whole, without the next request on the connection",
  async (t) => {
    const port = await listenTo(t, answering(50_000));
    const first = randomBytes(400_000);
    const second = randomBytes(120_000);
    const socket = await converse(port, ...head(first.length));
    await sendSlowly(socket, first.subarray(0, 390_000), 7000);
    const next = Buffer.from(`${head(second.length, "Connection: close").join("\r\n")}\r\n`);
    socket.write(Buffer.concat([first.subarray(390_000), next, second]));
    const text = await restOf(socket);
    assert.equal(text.split("HTTP/1.1 200").length, 3, text);
    assert.ok(text.indexOf(md5(first)) < text.indexOf(md5(second)) && text.includes(md5(first)), text);
  },
);

testBothWays("a client that sends Expect: 100-continue gets 100 when its body is read", async (t) => {
  const port = await listenTo(t, answering(1000));
  const bytes = randomBytes(5000);
  const socket = await converse(port, ...head(bytes.length, "Expect: 100-continue", "Connection: close"));
  await once(socket, "readable");
  assert.match(String(socket.read()), /^HTTP\/1\.1 100 /);
  socket.write(bytes);
  assert.match(await restOf(socket), new RegExp(`${md5(bytes)}$`));
});

testBothWays(
  "a handler that stops reading the body early can respond, and the connection serves the next request",
  async (t) => {
    const port = await listenTo(t, async (request) => {
      if (request.method === "GET") return { status: 200, headers: [], body: "next" };
      const reader = request.directReader!();
      await reader.readInto(Buffer.alloc(100_000));
      reader.close();
      return { status: 400, headers: [], body: "enough" };
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    const answer = await ask(port, { method: "PUT", body: randomBytes(3_000_000), agent });
    assert.equal(answer.text, "enough");
    assert.equal((await ask(port, { agent })).text, "next");
    assert.equal(streams.incoming, 0);
  },
);

for (const given of [10, 500_000]) {
  testBothWays(
    `a client that disconnects or times out after ${given} bytes makes the read fail with ECONNRESET`,
    async (t) => {
      const faults: string[] = [];
      const accepted: Socket[] = [];
      let bytesRead = () => 0;
      const handler: HttpHandler = async (request) => {
        bytesRead = request.bytesRead;
        await readAndHash(request, 65_536).catch((error: NodeJS.ErrnoException) =>
          faults.push(error.code ?? ""),
        );
        return { status: 400, headers: [], body: null };
      };
      const port = await listenTo(t, handler, accepted);
      for (const end of ["destroy", "end", "wait"] as const) {
        const socket = await converse(port, ...head(2_000_000));
        socket.on("error", () => {});
        socket.write(randomBytes(given));
        await until(() => bytesRead() === given, "all that was sent is read");
        const count = faults.length;
        if (end === "wait") accepted.at(-1)!.emit("timeout");
        else socket[end]();
        await until(() => faults.length > count, "the read fails");
        bytesRead = () => 0;
        socket.destroy();
      }
      assert.deepEqual(faults, ["ECONNRESET", "ECONNRESET", "ECONNRESET"]);
      assert.equal(streams.incoming, 0);
    },
  );
}

testBothWays(
  "a connection does not time out while the request handler pauses between reads of the body",
  async (t) => {
    const accepted: Socket[] = [];
    const between = async () => {
      await new Promise(setImmediate);
      accepted[0]!.emit("timeout");
    };
    const port = await listenTo(t, answering(300_000, between), accepted);
    const bytes = randomBytes(2_000_000);
    assert.equal((await ask(port, { method: "PUT", body: bytes })).text, md5(bytes));
  },
);
