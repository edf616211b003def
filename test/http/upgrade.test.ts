// Requests for WebSockets on a port: accepted, refused, or served as ordinary requests.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, createServer as createNetServer, type Socket } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { type TestContext, test } from "node:test";
import { defaultPortLimits } from "../../src/http/server/limits.ts";
import { type HttpListener, listen } from "../../src/http/server/listen.ts";
import type { RelayLimits } from "../../src/http/upgrade/relay.ts";
import { serveUpgrades, type UpgradeHandler, type UpgradeResponse } from "../../src/http/upgrade.ts";

const switching = [
  ["Connection", "Upgrade"],
  ["Upgrade", "websocket"],
] as const;

/** A server whose sockets the test handles, and a function that connects to it. */
async function startPeer(t: TestContext, onSocket: (socket: Socket) => void): Promise<() => Promise<Socket>> {
  const peer = createNetServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {});
    t.after(() => socket.destroy());
    onSocket(socket);
  });
  peer.listen(0, "127.0.0.1");
  await once(peer, "listening");
  t.after(() => peer.close());
  return async () => {
    const socket = connect((peer.address() as AddressInfo).port, "127.0.0.1");
    await once(socket, "connect");
    return socket;
  };
}

async function accept(open: () => Promise<Socket>): Promise<UpgradeResponse> {
  return { status: 101, headers: switching, body: await open() };
}

async function startListener(
  t: TestContext,
  upgrade: UpgradeHandler,
  limits = defaultPortLimits,
): Promise<HttpListener> {
  const listener = await listen(
    async (request) => {
      let text = "";
      for await (const chunk of request.body()) text += Buffer.from(chunk).toString();
      const upgradeHeader = request.header("upgrade") ?? "none";
      return {
        status: 200,
        headers: [],
        body: `${request.method} ${request.target} ${upgradeHeader} ${text}`,
      };
    },
    { host: "127.0.0.1", port: 0 },
    { upgrade, limits },
  );
  t.after(() => listener.drain());
  return listener;
}

async function send(port: number, ...lines: string[]): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.on("error", () => {});
  socket.write(lines.join("\r\n"), "latin1");
  return socket;
}

const webSocket = (port: number) =>
  send(port, "GET /chat HTTP/1.1", "Host: h", "Connection: Upgrade", "Upgrade: websocket", "", "");

/** Reads until the text matches. */
async function read(socket: Socket, pattern: RegExp): Promise<string> {
  let text = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (pattern.test(text)) return text;
  }
  return text;
}

async function readAll(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

test("an accepted WebSocket passes bytes both ways, and ends when the other side ends", async (t) => {
  const open = await startPeer(t, (socket) => {
    socket.once("data", (bytes) => socket.end(`echo ${bytes}`));
  });
  const { port } = await startListener(t, () => accept(open));
  const socket = await webSocket(port!);
  assert.match(await read(socket, /\r\n\r\n/), /^HTTP\/1\.1 101 Switching Protocols\r\nConnection: Upgrade/);
  socket.write("hello");
  assert.equal(await readAll(socket), "echo hello");
});

test("bytes that follow the request at once reach the other side", async (t) => {
  const open = await startPeer(t, (socket) => socket.pipe(socket));
  const { port } = await startListener(t, () => accept(open));
  const socket = await send(
    port!,
    ...["GET / HTTP/1.1", "Host: h", "Connection: Upgrade", "Upgrade: websocket", "", "early"],
  );
  assert.match(await read(socket, /early$/), /early$/);
  socket.destroy();
});

test("a request for another protocol is served as an ordinary request, with its body", async (t) => {
  const { port } = await startListener(t, async () => undefined);
  const socket = await send(
    port!,
    ...["POST /a%20b?c HTTP/1.1", "Host: h", "Connection: keep-alive, Upgrade, HTTP2-Settings"],
    ...["HTTP2-Settings: AAMAAABkAAQAAP__", "Upgrade: h2c", "Content-Length: 4", "", "body"],
  );
  assert.match(await read(socket, /body$/), /^HTTP\/1\.1 200 OK[\s\S]*POST \/a%20b\?c none body$/);
  // The connection stays usable.
  socket.write("GET /next HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  assert.match(await readAll(socket), /GET \/next none /);
});

test("a refusal is sent with its body, and the connection is closed", async (t) => {
  const bodies = ["no", Readable.from([Buffer.from("no")])];
  const { port } = await startListener(t, async () => ({
    ...{ status: 401, headers: [["X-Reason", "test"]], body: bodies.shift()! },
  }));
  for (let i = 0; i < 2; i++) {
    const answer = await readAll(await webSocket(port!));
    assert.match(
      answer,
      /^HTTP\/1\.1 401 Unauthorized\r\nX-Reason: test\r\n[\s\S]*Connection: close\r\n\r\nno$/,
    );
  }
});

test("a WebSocket that is requested before an earlier response was sent closes the connection", async () => {
  let asked = 0;
  const listener = await listen(
    () => new Promise(() => {}),
    { host: "127.0.0.1", port: 0 },
    {
      upgrade: async () => {
        asked++;
        return undefined;
      },
    },
  );
  const head = "GET / HTTP/1.1\r\nHost: h\r\n";
  const socket = await send(
    listener.port!,
    `${head}\r\n${head}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  );
  assert.equal(await readAll(socket), "");
  assert.equal(asked, 0);
  await listener.drain();
});

test("WebSockets take at most half of the connections, and are not closed for new ones", async (t) => {
  const open = await startPeer(t, (socket) => socket.pipe(socket));
  const limits = { ...defaultPortLimits, connections: 8 };
  const { port } = await startListener(t, () => accept(open), limits);
  const sockets = [];
  for (let i = 0; i < 4; i++) {
    const socket = await webSocket(port!);
    await read(socket, /\r\n\r\n/);
    sockets.push(socket);
  }
  assert.match(await readAll(await webSocket(port!)), /^HTTP\/1\.1 503 /);
  // Requests are still served, although idle connections are closed to make room for them.
  for (let i = 0; i < 10; i++) {
    const plain = await send(port!, "GET / HTTP/1.1", "Host: h", "", "");
    await read(plain, /none/);
  }
  for (const socket of sockets) {
    socket.write("still open");
    await read(socket, /still open/);
  }
  sockets[0]!.destroy();
  for (;;) {
    const next = await webSocket(port!);
    const answer = await read(next, /\r\n\r\n/);
    if (answer.startsWith("HTTP/1.1 101")) break;
  }
  for (const socket of sockets) socket.destroy();
});

async function startRelay(t: TestContext, body: () => Promise<Socket>, limits: RelayLimits): Promise<Server> {
  const server = createServer();
  serveUpgrades(server, () => accept(body), { relayLimits: limits });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

test("a client that reads nothing slows the other side down, and is disconnected", async (t) => {
  let sent = 0;
  const ended = new PassThrough();
  const open = await startPeer(t, (socket) => {
    const chunk = Buffer.alloc(1 << 16);
    socket.on("close", () => ended.end());
    const fill = () => {
      while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
      socket.once("drain", fill);
    };
    fill();
  });
  const limits = { stallMilliseconds: 300, idleMilliseconds: 60_000 };
  const server = await startRelay(t, open, limits);
  const socket = await webSocket((server.address() as AddressInfo).port);
  socket.pause();
  ended.resume();
  await once(ended, "end");
  // What the buffers of two connections hold, and not an endless stream.
  assert.ok(sent < 64 << 20, `${sent} bytes were sent`);
  socket.destroy();
});

test("a WebSocket on which no byte passes is closed", async (t) => {
  const open = await startPeer(t, () => {});
  const limits = { stallMilliseconds: 100, idleMilliseconds: 300 };
  const server = await startRelay(t, open, limits);
  const socket = await webSocket((server.address() as AddressInfo).port);
  await readAll(socket);
});

test("a request for a WebSocket behind another request closes the connection after its response", async (t) => {
  let answer = () => {};
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const listener = await listen(
    async () => {
      asked();
      await isAnswered;
      return { status: 200, headers: [], body: "first" };
    },
    { host: "127.0.0.1", port: 0 },
    { upgrade: () => assert.fail("it must not be asked") },
  );
  t.after(() => listener.drain());
  const socket = connect(listener.port!, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await isAsked;
  socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  answer();
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nfirst$/s);
});

test("a client that resets the connection behind such a request harms nothing", async (t) => {
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const listener = await listen(
    ({ onDisconnect }) =>
      new Promise((resolve) => {
        onDisconnect(() => resolve({ status: 200, headers: [], body: "late" }));
        asked();
      }),
    { host: "127.0.0.1", port: 0 },
    { upgrade: () => assert.fail("it must not be asked") },
  );
  t.after(() => listener.drain());
  const socket = connect(listener.port!, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await isAsked;
  socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  socket.resetAndDestroy();
  // Resolves when no connection is open.
  await listener.drain();
});
