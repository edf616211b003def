import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Worker } from "node:worker_threads";
import {
  type IncomingResponse,
  type OutgoingRequest,
  sendRequest,
} from "../../../src/http/wire/send-request.ts";

const directory = mkdtempSync(join(tmpdir(), "store-wire-"));
const servers: Server[] = [];
const sockets = new Set<Socket>();
after(() => {
  for (const server of servers) server.close();
  for (const socket of sockets) socket.destroy();
  rmSync(directory, { recursive: true });
});

/** Calls `onConnection` for each connection. */
async function serve(onConnection: (socket: Socket) => void): Promise<string> {
  const path = join(directory, String(servers.length));
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  }).listen(path);
  servers.push(server);
  await once(server, "listening");
  return path;
}

/** Responds to the first request of each connection with the bytes. */
function respondWith(...parts: string[]): Promise<string> {
  return serve((socket) =>
    socket.once("data", async () => {
      for (const part of parts) await new Promise((resolve) => socket.write(part, "latin1", resolve));
    }),
  );
}

function send(path: string, more: Partial<OutgoingRequest> = {}): Promise<IncomingResponse> {
  return sendRequest(path, {
    ...{ method: "GET", head: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", body: undefined, framing: "length" },
    onDisconnect() {},
    ...more,
  });
}

async function text({ body }: IncomingResponse): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString("latin1");
  const chunks: Uint8Array[] = [];
  for await (const chunk of body.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks).toString("latin1");
}

test("a small response in one piece is returned as a whole, and its connection is used again", async () => {
  let connections = 0;
  const path = await serve((socket) => {
    connections++;
    socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"));
  });
  for (let i = 0; i < 3; i++) {
    const response = await send(path);
    assert.ok(response.body instanceof Uint8Array);
    assert.equal(await text(response), "hi");
  }
  assert.equal(connections, 1);
});

const valid: readonly (readonly [string, readonly string[], string])[] = [
  ["in pieces", ["HTTP/1.1 200", " OK\r\nContent-Length: 4\r\n\r", "\nab", "cd"], "abcd"],
  ["after status 100", ["HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"], "a"],
  [
    "in chunks",
    ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r", "\n1", "\r\nd\r\n0\r\n\r\n"],
    "abcd",
  ],
  [
    "with a trailer",
    ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\n\r\n"],
    "a",
  ],
  ["of status 204", ["HTTP/1.1 204 No Content\r\n\r\n"], ""],
];
for (const [what, parts, expected] of valid) {
  test(`a response ${what} is read`, async () => {
    assert.equal(await text(await send(await respondWith(...parts))), expected);
  });
}

test("a body without a length ends with its connection", async () => {
  const path = await serve((socket) => socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\n\r\nrest")));
  assert.equal(await text(await send(path)), "rest");
});

test("a response to HEAD has no body, whatever its length", async () => {
  const path = await respondWith("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
  assert.equal(await text(await send(path, { method: "HEAD" })), "");
});

const invalid = [
  "HTTP/1.0 200 OK\r\n\r\n",
  "HTTP/1.1 101 Switching Protocols\r\n\r\n",
  "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
  "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na",
  "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\na",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\na",
  "HTTP/1.1 200 OK\nContent-Length: 0\n\n\r\n\r\n",
  `HTTP/1.1 200 OK\r\nX: ${"a".repeat(20_000)}\r\n\r\n`,
  "HTTP/1.1 100 Continue\r\n\r\n".repeat(20),
];
for (const response of invalid) {
  test(`the response ${JSON.stringify(response.slice(0, 70))} is refused`, async () => {
    await assert.rejects(send(await respondWith(response)));
  });
}

for (const chunk of [
  "x\r\n",
  "-1\r\n",
  "ffffffffffffffff\r\n",
  "1;a=b\r\na\r\n",
  "1\r\nab\r\n",
  `${"0".repeat(2000)}\r\n`,
]) {
  test(`a body with the chunk ${JSON.stringify(chunk.slice(0, 20))} fails`, async () => {
    const path = await respondWith(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`);
    await assert.rejects(async () => text(await send(path)));
  });
}

test("bytes after a response close the connection, and are never part of the next response", async () => {
  const forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged";
  let connections = 0;
  const path = await serve((socket) => {
    connections++;
    socket.once("data", () => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok${forged}`));
  });
  for (let i = 0; i < 3; i++) assert.equal(await text(await send(path)), "ok");
  assert.equal(connections, 3);
});

test("a connection that ends inside a response fails the body", async () => {
  const path = await serve((socket) =>
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\npart")),
  );
  const response = await send(path);
  await assert.rejects(text(response));
});

test("a slow body is passed on before its end", async () => {
  let finish = () => {};
  const path = await serve((socket) =>
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na");
      finish = () => void socket.write("b");
    }),
  );
  const { body } = await send(path);
  assert.ok(!(body instanceof Uint8Array));
  const chunks = body.chunks()[Symbol.asyncIterator]();
  assert.equal(String((await chunks.next()).value), "a");
  finish();
  assert.equal(String((await chunks.next()).value), "b");
  assert.equal((await chunks.next()).done, true);
});

test("a body that no one reads stops the sender", async () => {
  let written = 0;
  const path = await serve((socket) =>
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      const more = () => {
        while (socket.write(Buffer.alloc(64 * 1024), () => (written += 64 * 1024)));
      };
      socket.on("drain", more);
      more();
    }),
  );
  const { body } = await send(path);
  assert.ok(!(body instanceof Uint8Array));
  let before = -1;
  while (written !== before) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.ok(written < 4 * 1024 * 1024, `${written} bytes`);
  await body.cancel();
});

test("a streamed request body is sent in the framing of the request", async () => {
  let received = "";
  const path = await serve((socket) =>
    socket.on("data", (bytes) => {
      received += bytes.toString("latin1");
      if (received.endsWith("0\r\n\r\n")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }),
  );
  async function* body() {
    yield Buffer.from("abc");
    yield Buffer.alloc(0);
    yield Buffer.from("d");
  }
  await send(path, { method: "POST", head: "POST / HTTP/1.1\r\nHost: a\r\n\r\n", body, framing: "chunked" });
  assert.equal(received, "POST / HTTP/1.1\r\nHost: a\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n");
});

test("without a server, the body is not read", async () => {
  let isRead = false;
  const body = () => {
    isRead = true;
    return Buffer.from("a");
  };
  await assert.rejects(send(join(directory, "missing"), { body }), { code: "ENOENT" });
  assert.equal(isRead, false);
});

test("a client that disconnects closes the connection", async () => {
  let disconnect = () => {};
  const closed = new Promise<void>((resolve) => {
    void serve((socket) => {
      socket.once("data", () => disconnect());
      socket.once("end", () => socket.end());
      socket.once("close", () => resolve());
    }).then(async (path) => {
      const onDisconnect = (listener: () => void) => {
        disconnect = listener;
      };
      await assert.rejects(send(path, { onDisconnect }));
    });
  });
  await closed;
});

/** Responds and closes the connection while the test's thread is blocked, so that it cannot read meanwhile. */
const closingServer = `
const { createServer } = require("node:net");
const { parentPort, workerData: { path, response, closed } } = require("node:worker_threads");
createServer((socket) => {
  socket.on("error", () => {});
  socket.once("readable", () => socket.write(response, () => socket.destroy()));
  socket.once("close", () => {
    Atomics.store(closed, 0, 1);
    Atomics.notify(closed, 0);
  });
}).listen(path, () => parentPort.postMessage("listening"));
`;

test("a response is read although the other side closes without reading the request", async (t) => {
  const length = 50_000;
  const path = join(directory, "closing");
  const response = `HTTP/1.1 401 Unauthorized\r\nContent-Length: ${length}\r\n\r\n${"a".repeat(length)}`;
  const closed = new Int32Array(new SharedArrayBuffer(4));
  const server = new Worker(closingServer, { eval: true, workerData: { path, response, closed } });
  t.after(() => server.terminate());
  await once(server, "message");
  async function* body() {
    yield Buffer.alloc(64 * 1024);
    Atomics.wait(closed, 0, 0, 10_000);
    for (let i = 0; i < 50; i++) yield Buffer.alloc(64 * 1024);
  }
  for (let i = 0; i < 10; i++) {
    closed[0] = 0;
    const response = await send(path, { method: "PUT", body });
    assert.equal(response.head.status, 401);
    assert.equal((await text(response)).length, length);
  }
});

test("a request fails if the other side closes without reading it or responding", async () => {
  const path = await serve((socket) => socket.once("readable", () => socket.destroy()));
  async function* body() {
    for (let i = 0; i < 50; i++) yield Buffer.alloc(64 * 1024);
  }
  for (let i = 0; i < 20; i++) await assert.rejects(send(path, { method: "PUT", body }));
});
