// Bodies that are written into buffers of their receiver's: the bytes are those that were sent, and the connection
// goes on behind them, whoever has read what of it.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { Agent } from "node:http";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { type HttpHandler, type HttpRequest, listen } from "../../../src/http/server/listen.ts";
import { openStreams } from "../../../src/http/server/open-streams.ts";
import { ask, converse, restOf } from "../../script/client.ts";
import { until } from "../../script/inside.ts";

/** Listens on a port for the time of the test; `accepted` gets the connections as the server has them. */
async function listenTo(t: TestContext, handler: HttpHandler, accepted: Socket[] = []): Promise<number> {
  const listening = await listen(handler, { host: "127.0.0.1", port: 0 });
  const onSocket = (message: unknown) => accepted.push((message as { socket: Socket }).socket);
  subscribe("net.server.socket", onSocket);
  t.after(async () => {
    unsubscribe("net.server.socket", onSocket);
    // Idle connections would be kept for a moment.
    for (const socket of accepted) socket.destroy();
    await listening.drain();
  });
  return listening.port!;
}

function md5(bytes: Uint8Array): string {
  return createHash("md5").update(bytes).digest("hex");
}

/** Hashes a body, taken in buffers of so many bytes; what is between two of them is awaited. */
async function hashOf(request: HttpRequest, size: number, between = async () => {}): Promise<string> {
  const filler = request.directReader!();
  const hash = createHash("md5");
  const buffer = Buffer.from(new SharedArrayBuffer(size));
  try {
    for (let isEnd = false; !isEnd; ) {
      const count = await filler.readInto(buffer);
      hash.update(buffer.subarray(0, count));
      isEnd = count < size;
      await between();
    }
  } finally {
    filler.close();
  }
  return hash.digest("hex");
}

const answering = (size: number, between?: () => Promise<void>): HttpHandler => {
  return async (request) => ({ status: 200, headers: [], body: await hashOf(request, size, between) });
};

for (const size of [1, 700, 65_536, 1_000_000]) {
  test(`bodies fill buffers of ${size} bytes, one after the other on a connection`, async (t) => {
    const port = await listenTo(t, answering(size));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    for (const length of [0, 1, size, 2 * size, Math.min(40 * size, 3_000_000) + 7]) {
      const bytes = randomBytes(length);
      const answer = await ask(port, { method: "PUT", body: bytes, agent });
      assert.equal(answer.text, md5(bytes), `${length} bytes`);
    }
    assert.equal(openStreams.incoming, 0);
  });
}

test("a body without a length is taken as it comes", async (t) => {
  const port = await listenTo(t, answering(100_000));
  const bytes = randomBytes(1_000_000);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += 30_000) yield bytes.subarray(at, at + 30_000);
  }
  assert.equal((await ask(port, { method: "PUT", body: pieces() })).text, md5(bytes));
});

/** Sends the body in pieces, each when the one before is with the system. */
async function sendSlowly(socket: Socket, bytes: Uint8Array, size: number): Promise<void> {
  for (let at = 0; at < bytes.length; at += size) {
    await new Promise((resolve) => socket.write(bytes.subarray(at, at + size), resolve));
    await new Promise(setImmediate);
  }
}

function head(length: number, ...more: string[]): string[] {
  return ["PUT / HTTP/1.1", "Host: a", `Content-Length: ${length}`, ...more, ""];
}

test("a body that trickles in is whole, and what follows on the connection is not taken for it", async (t) => {
  const port = await listenTo(t, answering(50_000));
  const first = randomBytes(400_000);
  const second = randomBytes(120_000);
  const socket = await converse(port, ...head(first.length));
  await sendSlowly(socket, first.subarray(0, 390_000), 7000);
  const next = Buffer.from(`${head(second.length, "Connection: close").join("\r\n")}\r\n`);
  socket.write(Buffer.concat([first.subarray(390_000), next, second]));
  const said = await restOf(socket);
  assert.equal(said.split("HTTP/1.1 200").length, 3, said);
  assert.ok(said.indexOf(md5(first)) < said.indexOf(md5(second)) && said.includes(md5(first)), said);
});

test("a sender that asks first is told to go on when its body is wanted", async (t) => {
  const port = await listenTo(t, answering(1000));
  const bytes = randomBytes(5000);
  const socket = await converse(port, ...head(bytes.length, "Expect: 100-continue", "Connection: close"));
  await once(socket, "readable");
  assert.match(String(socket.read()), /^HTTP\/1\.1 100 /);
  socket.write(bytes);
  assert.match(await restOf(socket), new RegExp(`${md5(bytes)}$`));
});

test("who leaves a body early still answers, and the connection serves the next", async (t) => {
  const port = await listenTo(t, async (request) => {
    if (request.method === "GET") return { status: 200, headers: [], body: "next" };
    const filler = request.directReader!();
    await filler.readInto(Buffer.alloc(100_000));
    filler.close();
    return { status: 400, headers: [], body: "enough" };
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const answer = await ask(port, { method: "PUT", body: randomBytes(3_000_000), agent });
  assert.equal(answer.text, "enough");
  assert.equal((await ask(port, { agent })).text, "next");
  assert.equal(openStreams.incoming, 0);
});

for (const given of [10, 500_000]) {
  test(`a sender that goes or falls silent behind ${given} bytes is told of as that`, async (t) => {
    const faults: string[] = [];
    const accepted: Socket[] = [];
    let bytesRead = () => 0;
    const handler: HttpHandler = async (request) => {
      bytesRead = request.bytesRead;
      await hashOf(request, 65_536).catch((error: NodeJS.ErrnoException) => faults.push(error.code ?? ""));
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
      await until(() => faults.length > count, "the handler is told");
      bytesRead = () => 0;
      socket.destroy();
    }
    assert.deepEqual(faults, ["ECONNRESET", "ECONNRESET", "ECONNRESET"]);
    assert.equal(openStreams.incoming, 0);
  });
}

test("a sender is not cut because its receiver takes its time", async (t) => {
  const accepted: Socket[] = [];
  const between = async () => {
    await new Promise(setImmediate);
    accepted[0]!.emit("timeout");
  };
  const port = await listenTo(t, answering(300_000, between), accepted);
  const bytes = randomBytes(2_000_000);
  assert.equal((await ask(port, { method: "PUT", body: bytes })).text, md5(bytes));
});
