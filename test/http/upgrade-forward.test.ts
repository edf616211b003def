// Requests for WebSockets that are forwarded to a process on a Unix socket.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { type TestContext, test } from "node:test";
import { NotTakenError } from "../../src/http/proxy.ts";
import { forwardUpgrade, isWebSocketRequest } from "../../src/http/upgrade/forward.ts";
import type { UpgradeRequest } from "../../src/http/upgrade.ts";
import { temporaryDirectory } from "../support/stores.ts";

function request(rawHeaders: readonly string[], onDisconnect: UpgradeRequest["onDisconnect"] = () => {}) {
  const header = (name: string) => {
    const at = rawHeaders.findIndex((text, i) => i % 2 === 0 && text.toLowerCase() === name);
    return at === -1 ? undefined : rawHeaders[at + 1];
  };
  const address = () => "203.0.113.9";
  return {
    method: "GET",
    target: "/a%20b?c",
    rawHeaders,
    header,
    scheme: "https",
    address,
    onDisconnect,
  } as const;
}

async function startProcess(t: TestContext, onUpgrade: (message: IncomingMessage, socket: Duplex) => void) {
  const socketPath = join(await temporaryDirectory(t), "main");
  const server = createServer();
  server.on("upgrade", (message, socket) => {
    t.after(() => socket.destroy());
    socket.on("error", () => {});
    onUpgrade(message, socket);
  });
  server.listen(socketPath);
  await once(server, "listening");
  t.after(() => server.close());
  return socketPath;
}

test("a forwarded request has the client's headers, and what the server knows about the client", async (t) => {
  let seen: IncomingMessage | undefined;
  const socketPath = await startProcess(t, (message, socket) => {
    seen = message;
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst",
    );
  });
  const { status, headers, body } = await forwardUpgrade(
    request([
      ...["Host", "h", "Connection", "keep-alive, Upgrade", "Upgrade", "WebSocket", "Keep-Alive", "5"],
      ...[
        "X-Forwarded-For",
        "127.0.0.1",
        "CF-Connecting-IP",
        "127.0.0.1",
        "Sec-WebSocket-Key",
        "k",
        "X-Own",
        "é",
      ],
    ]),
    { socketPath },
  );
  assert.deepEqual(
    [status, [...headers]],
    [
      101,
      [
        ["Connection", "Upgrade"],
        ["Upgrade", "websocket"],
      ],
    ],
  );
  const [first] = await once(body as Duplex, "data");
  assert.equal(String(first), "first");
  const sent = seen!.headers;
  assert.deepEqual(
    [seen!.url, sent.host, sent.connection, sent.upgrade],
    ["/a%20b?c", "h", "Upgrade", "websocket"],
  );
  assert.deepEqual([sent["x-forwarded-for"], sent["cf-connecting-ip"]], ["203.0.113.9", "203.0.113.9"]);
  assert.deepEqual([sent["x-forwarded-proto"], sent["keep-alive"], sent["x-own"]], ["https", undefined, "é"]);
  (body as Duplex).destroy();
});

test("a process that never answers, or that ends, does not hold a request for a WebSocket", async (t) => {
  const socketPath = await startProcess(t, () => {});
  await assert.rejects(
    forwardUpgrade(request([]), { socketPath, handshakeMilliseconds: 50 }),
    /no answer in time/,
  );
  const gone = forwardUpgrade(
    request([], (listener) => setTimeout(listener, 20)),
    { socketPath },
  );
  await assert.rejects(gone, (error: Error) => !(error instanceof NotTakenError));
  const ending = await startProcess(t, (_, socket) => socket.destroy());
  await assert.rejects(forwardUpgrade(request([]), { socketPath: ending }), /socket hang up|ECONNRESET/);
  await assert.rejects(forwardUpgrade(request([]), { socketPath: `${ending}-none` }), NotTakenError);
});

test("only a GET for a WebSocket without a body is a request for one", () => {
  const rows: readonly (readonly [string, readonly string[], boolean])[] = [
    ["GET", ["Upgrade", "websocket"], true],
    ["GET", ["Upgrade", "WebSocket", "Content-Length", "0"], true],
    ["GET", ["Upgrade", "h2c"], false],
    ["GET", ["Upgrade", "websocket, h2c"], false],
    ["POST", ["Upgrade", "websocket"], false],
    ["GET", ["Upgrade", "websocket", "Content-Length", "1"], false],
    ["GET", ["Upgrade", "websocket", "Transfer-Encoding", "chunked"], false],
  ];
  for (const [method, headers, isOne] of rows) {
    assert.equal(isWebSocketRequest({ ...request(headers), method }), isOne, `${method} ${headers}`);
  }
});
