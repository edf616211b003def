// WebSockets of a script through the proxy.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { startProxy, startServer, type TestProxy } from "./scene.ts";

/** Accepts WebSockets and returns all bytes that it receives. */
async function startEcho(t: TestContext): Promise<number> {
  const { port, server } = await startServer(t, (_, response) => {
    response.writeHead(404).end("no socket here");
  });
  server.on("upgrade", (request, socket) => {
    if (request.url === "/refuse") {
      socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash("sha1").update(key).digest("base64");
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
        `Sec-WebSocket-Accept: ${accept}\r\n\r\nwelcome`,
    );
    t.after(() => socket.destroy());
    socket.on("error", () => {});
    socket.pipe(socket);
  });
  return port;
}

async function upgrade(proxy: TestProxy, url: string, protocol = "websocket") {
  const socket = connect(proxy.path);
  await once(socket, "connect");
  socket.write(
    `GET ${url} HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n` +
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
  );
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  return {
    socket,
    async received(expected: RegExp): Promise<string> {
      while (!expected.test(text)) await once(socket, "data");
      return text;
    },
    async rest(): Promise<string> {
      if (!socket.closed) await once(socket, "close");
      return text;
    },
  };
}

test("a WebSocket passes bytes both ways until one side closes it", async (t) => {
  const port = await startEcho(t);
  const proxy = await startProxy(t, { outbound: [`127.0.0.1:${port}`] });
  const opened = await upgrade(proxy, `http://127.0.0.1:${port}/`);
  const head = await opened.received(/welcome/);
  assert.match(head, /^HTTP\/1\.1 101 /);
  assert.match(head, /Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/);
  opened.socket.write("ping-1");
  await opened.received(/ping-1/);
  opened.socket.end();
  await opened.rest();
});

test("a WebSocket to a host that is not permitted gets the reason", async (t) => {
  const port = await startEcho(t);
  for (const outbound of ["none", "public"] as const) {
    const proxy = await startProxy(t, { outbound });
    const text = await (await upgrade(proxy, `http://127.0.0.1:${port}/`)).rest();
    assert.match(text, /^HTTP\/1\.1 403 [\s\S]*fetch of "127\.0\.0\.1:\d+" was refused/);
  }
});

test("a server that refuses a WebSocket, and other protocols, get an error", async (t) => {
  const port = await startEcho(t);
  const proxy = await startProxy(t, { outbound: [`127.0.0.1:${port}`] });
  assert.match(await (await upgrade(proxy, `http://127.0.0.1:${port}/refuse`)).rest(), /^HTTP\/1\.1 401 /);
  assert.match(await (await upgrade(proxy, `http://127.0.0.1:${port}/`, "h2c")).rest(), /^HTTP\/1\.1 501 /);
});

test("WebSockets count as requests in flight until they are closed", async (t) => {
  const port = await startEcho(t);
  const proxy = await startProxy(t, { outbound: [`127.0.0.1:${port}`], maxInFlight: 1 });
  const first = await upgrade(proxy, `http://127.0.0.1:${port}/`);
  await first.received(/welcome/);
  assert.match(await (await upgrade(proxy, `http://127.0.0.1:${port}/`)).rest(), /^HTTP\/1\.1 503 /);
  first.socket.destroy();
  for (;;) {
    const next = await upgrade(proxy, `http://127.0.0.1:${port}/`);
    if (!/^HTTP\/1\.1 503/.test(await next.received(/\r\n\r\n/))) break;
  }
});

test("a CONNECT request, which sockets of scripts use, is refused", async (t) => {
  const proxy = await startProxy(t, { outbound: "public" });
  const socket = connect(proxy.path);
  socket.write("CONNECT example.com:443 HTTP/1.1\r\n\r\n");
  let text = "";
  for await (const chunk of socket) text += chunk;
  assert.doesNotMatch(text, /^HTTP\/1\.1 2/);
});
