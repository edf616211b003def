// Requests that are served without Node's HTTP server, and those that are handed over to it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import { type TestContext, test } from "node:test";
import { defaultPortLimits } from "../../../src/http/server/limits.ts";
import { type HttpHandler, type ListenOptions, listen } from "../../../src/http/server/listen.ts";
import type { UpgradeHandler } from "../../../src/http/upgrade.ts";

async function listenTo(t: TestContext, handler: HttpHandler, options: ListenOptions = {}): Promise<number> {
  const address = { host: "127.0.0.1", port: 0 };
  const listening = await listen(handler, address, { shortRequests: "direct", ...options });
  t.after(() => listening.drain());
  return listening.port!;
}

const echo: HttpHandler = async (request) => {
  let body = "";
  for await (const chunk of request.body()) body += Buffer.from(chunk).toString("latin1");
  return { status: 200, headers: [["x-method", request.method]], body: `${request.target} ${body.length}` };
};

/** Sends the parts, each after a pause in which the server can read the one before. */
async function talk(port: number, ...parts: string[]): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  for (const part of parts) {
    await new Promise((resolve) => socket.write(part, "latin1", resolve));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  socket.end();
  return readAll(socket);
}

async function readAll(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  socket.on("error", () => {});
  await once(socket, "close");
  return text;
}

const get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
const put = "PUT /b HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n";

function bodies(text: string): string[] {
  return [...text.matchAll(/\r\n\r\n(\/\w+ \d+)/g)].map((match) => match[1]!);
}

const closing = "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

for (const [what, request] of [
  ["", get],
  [" to a client that closes its connection", closing],
] as const) {
  test(`a response${what} has the headers that Node's HTTP server would send`, async (t) => {
    const texts = [];
    for (const shortRequests of ["direct", "node"] as const) {
      const port = await listenTo(t, echo, { shortRequests });
      texts.push(
        (await talk(port, request))
          .replace(/Date: [^\r]*/, "Date")
          .split("\r\n")
          .sort(),
      );
    }
    assert.deepEqual(texts[0], texts[1]);
  });
}

test("a client that stays silent before its body is complete is disconnected", async (t) => {
  const options = { shortRequests: "direct when complete", idleMilliseconds: 100 } as const;
  const port = await listenTo(t, echo, options);
  const socket = connect({ port, host: "127.0.0.1" });
  socket.write(`${put}ab`);
  assert.equal(await readAll(socket), "");
});

const handedOver: readonly (readonly [string, string, RegExp])[] = [
  [
    "a chunked body",
    `${put.replace("Content-Length: 3", "Transfer-Encoding: chunked")}3\r\nabc\r\n0\r\n\r\n`,
    /\/b 3/,
  ],
  [
    "Expect: 100-continue",
    `${put.replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n")}abc`,
    /100 Continue[\s\S]*\/b 3/,
  ],
  ["HTTP/1.0", "GET /a HTTP/1.0\r\n\r\n", /\/a 0/],
  ["a large body", `${put.replace("3", "100000")}${"a".repeat(100_000)}`, /\/b 100000/],
  ["another option of the connection", get.replace("\r\n\r\n", "\r\nConnection: x\r\n\r\n"), /\/a 0/],
  ["no host", "GET /a HTTP/1.1\r\n\r\n", /^HTTP\/1.1 400 /],
  ["a bare line feed", "GET /a HTTP/1.1\nHost: a\n\n", /^HTTP\/1.1 (400|200) /],
  [
    "two lengths",
    "PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    /^HTTP\/1.1 400 /,
  ],
  ["large headers", `GET /a HTTP/1.1\r\nHost: a\r\nX: ${"a".repeat(20_000)}\r\n\r\n`, /^HTTP\/1.1 431 /],
  ["an invalid method", "G\0T / HTTP/1.1\r\nHost: a\r\n\r\n", /^HTTP\/1.1 400 /],
];
// With internals, all connections are read into the same memory.
for (const nodeInternals of ["on", "off"] as const) {
  test(`pipelined requests are answered in order, also with their bytes split anywhere (internals ${nodeInternals})`, async (t) => {
    const port = await listenTo(t, echo, { nodeInternals });
    const all = `${get}${put}abc${get}${put}def`;
    const expected = ["/a 0", "/b 3", "/a 0", "/b 3"];
    for (const at of [all.length, 3, get.length, get.length + 5, all.length - 4, all.length - 1]) {
      assert.deepEqual(bodies(await talk(port, all.slice(0, at), all.slice(at))), expected, `split at ${at}`);
    }
  });

  test(`a connection is closed after the response if the client asks for it, and reads no later request (internals ${nodeInternals})`, async (t) => {
    const port = await listenTo(t, echo, { nodeInternals });
    const socket = connect({ port, host: "127.0.0.1" });
    // The client does not close its side: the server must.
    socket.write(closing + get);
    assert.deepEqual(bodies(await readAll(socket)), ["/a 0"]);
  });

  test(`a handler that needs the whole body starts when it has arrived, also byte by byte (internals ${nodeInternals})`, async (t) => {
    let started = 0;
    const handler: HttpHandler = (request) => {
      started++;
      return { status: 200, headers: [], body: `/b ${request.bufferedBody!()!.length}` };
    };
    const port = await listenTo(t, handler, { shortRequests: "direct when complete", nodeInternals });
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    const text = readAll(socket);
    socket.write(put.replace("3", "200"));
    for (let i = 0; i < 199; i++) {
      await new Promise((resolve) => socket.write("a", resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(started, 0);
    socket.end(`a${closing}`);
    assert.deepEqual(bodies(await text), ["/b 200", "/b 0"]);
  });

  test(`bodies of requests in flight on other connections stay as they were sent (internals ${nodeInternals})`, async (t) => {
    const texts = Array.from({ length: 20 }, (_, i) => String.fromCharCode(97 + i).repeat(3));
    const allBegun = createSignal();
    let begun = 0;
    const handler: HttpHandler = async (request) => {
      const body = request.bufferedBody!()!;
      if (++begun === texts.length) allBegun.give();
      await allBegun.promise;
      return { status: 200, headers: [], body: Buffer.from(body) };
    };
    const port = await listenTo(t, handler, { shortRequests: "direct when complete", nodeInternals });
    const received = await Promise.all(
      texts.map((text) => {
        const socket = connect({ port, host: "127.0.0.1" });
        socket.write(put.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n") + text);
        return readAll(socket);
      }),
    );
    assert.deepEqual(
      received.map((text) => text.slice(-3)),
      texts,
    );
  });

  test(`a connection that changes its protocol after a short request is read to its end (internals ${nodeInternals})`, async (t) => {
    const upgrade: UpgradeHandler = async () => {
      return { status: 101, headers: [["upgrade", "echo"]], body: new PassThrough() };
    };
    const port = await listenTo(t, echo, { upgrade, nodeInternals });
    const request = get.replace("\r\n\r\n", "\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n");
    const text = await talk(port, get, request, "hello, ", "x".repeat(200_000));
    assert.deepEqual(bodies(text), ["/a 0"]);
    assert.match(text, /HTTP\/1.1 101 [\s\S]*\r\n\r\nhello, x{200000}$/);
  });

  for (const [what, request, expected] of handedOver) {
    test(`a request with ${what} is left to Node's HTTP server, also after a short one (internals ${nodeInternals})`, async (t) => {
      const port = await listenTo(t, echo, { nodeInternals });
      assert.match(await talk(port, request), expected);
      const both = await talk(port, get, request);
      assert.match(both, /^HTTP\/1.1 200 OK[\s\S]*\/a 0/);
      assert.match(both.slice(both.indexOf("/a 0") + 4), expected);
    });
  }
}

test("a body of unknown length is sent in chunks, and one of known length as it is", async (t) => {
  async function* chunks() {
    yield Buffer.from("abc");
    yield Buffer.alloc(0);
    yield Buffer.from("de");
  }
  const cancel = async () => {};
  const port = await listenTo(t, ({ target }) => {
    return { status: 200, headers: [], body: { length: target === "/a" ? undefined : 5, chunks, cancel } };
  });
  assert.match(await talk(port, get), /chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n$/);
  assert.match(await talk(port, get.replace("/a", "/b")), /content-length: 5\r\n\r\nabcde$/);
});

test("a client that receives slowly gets the whole body, and then the next response", async (t) => {
  const size = 4 * 1024 * 1024;
  const chunkBytes = 64 * 1024;
  let ahead = 0;
  let most = 0;
  const body = {
    length: size,
    async *chunks() {
      for (let sent = 0; sent < size; sent += chunkBytes) {
        most = Math.max(most, ++ahead);
        yield Buffer.alloc(chunkBytes, "x");
      }
    },
    release: () => void ahead--,
    cancel: async () => {},
  };
  const port = await listenTo(t, ({ target }) =>
    target === "/a" ? { status: 200, headers: [], body } : { status: 200, headers: [], body: "/b 0" },
  );
  const socket = connect({ port, host: "127.0.0.1" });
  socket.pause();
  socket.write(get + closing.replace("/a", "/b"));
  const text = await readAll(socket.resume());
  assert.match(text, /^HTTP[\s\S]*?\r\n\r\nx{100}/);
  assert.equal(text.split("x").length - 1, size);
  assert.match(text, /x{100}HTTP\/1.1 200 [\s\S]*\/b 0$/);
  // One chunk is being sent, one is in the buffer of the connection, and one is prepared.
  assert.ok(most <= 3, `${most} chunks were in memory`);
});

test("a body of the wrong length closes the connection", async (t) => {
  for (const length of [2, 10]) {
    async function* chunks() {
      yield Buffer.from("abc");
    }
    const body = { length, chunks, cancel: async () => {} };
    const port = await listenTo(t, () => ({ status: 200, headers: [], body }));
    const socket = connect({ port, host: "127.0.0.1" });
    socket.write(get);
    assert.match(await readAll(socket), length === 2 ? /\r\n\r\n$|^$/ : /\r\n\r\nabc$/);
  }
});

test("an invalid header of a response closes the connection, and is not sent", async (t) => {
  const port = await listenTo(t, () => ({ status: 200, headers: [["x", "a\r\ny: b"]], body: "" }));
  const socket = connect({ port, host: "127.0.0.1" });
  socket.write(get);
  assert.equal(await readAll(socket), "");
});

test("requests over the limit get 503, and a disconnected client is noticed", async (t) => {
  const [begun, gone] = [createSignal(), createSignal()];
  const limits = { ...defaultPortLimits, requests: 1 };
  const handler: HttpHandler = async (request) => {
    request.onDisconnect(gone.give);
    begun.give();
    await gone.promise;
    return { status: 200, headers: [], body: null };
  };
  const port = await listenTo(t, handler, { limits });
  const first = connect({ port, host: "127.0.0.1" });
  first.write(get);
  await begun.promise;
  assert.match(await talk(port, get), /^HTTP\/1.1 503 /);
  first.destroy();
  await gone.promise;
});

test("a draining listener finishes the request and closes its connection", async () => {
  const [begun, respond] = [createSignal(), createSignal()];
  const handler: HttpHandler = async () => {
    begun.give();
    await respond.promise;
    return { status: 200, headers: [], body: "done" };
  };
  const listening = await listen(handler, { host: "127.0.0.1", port: 0 }, { shortRequests: "direct" });
  const socket = connect({ port: listening.port!, host: "127.0.0.1" });
  socket.write(get);
  const text = readAll(socket);
  await begun.promise;
  const drained = listening.drain();
  respond.give();
  assert.match(await text, /Connection: close[\s\S]*done$/);
  await drained;
});

function createSignal() {
  let give = () => {};
  const promise = new Promise<void>((resolve) => {
    give = () => resolve();
  });
  return { promise, give };
}
