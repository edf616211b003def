// Responses before the body of a request has arrived: the client gets all of them, although the
// connection closes.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { defaultPortLimits } from "../../../src/http/server/limits.ts";
import { type HttpResponse, listen } from "../../../src/http/server/listen.ts";
import { describeUpload, upload, uploads } from "../early-responses.ts";

const rounds = 20;
const whole = { status: 401, headers: [], body: "refused" } satisfies HttpResponse;
const streamed = {
  ...{ status: 401, headers: [] },
  body: {
    length: undefined,
    async *chunks() {
      yield Buffer.from("ref");
      yield Buffer.from("used");
    },
    async cancel() {},
  },
} satisfies HttpResponse;

for (const [what, response] of [
  ["whole", whole],
  ["streamed", streamed],
] as const) {
  for (const kind of uploads) {
    test(`a ${what} response before the body is received (${describeUpload(kind)})`, async (t) => {
      const listener = await listen(() => response, { host: "127.0.0.1", port: 0 });
      t.after(() => listener.drain());
      for (let i = 0; i < rounds; i++) {
        const received = await upload({ host: "127.0.0.1", port: listener.port! }, kind);
        assert.match(received, /^HTTP\/1\.1 401 /);
        assert.match(received, /refused$|3\r\nref\r\n4\r\nused\r\n0\r\n\r\n$/);
      }
    });
  }
}

/** Waits for the response, then sends the body. Rejects if the server resets the connection. */
async function sendAfterResponse(port: number, framing: "length" | "chunked"): Promise<string> {
  const step = Buffer.alloc(1024 * 1024);
  const steps = 64;
  const frame =
    framing === "length" ? `Content-Length: ${steps * step.length}` : "Transfer-Encoding: chunked";
  const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
  socket.setEncoding("latin1");
  socket.write(`PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${frame}\r\n\r\n`);
  let received = "";
  while (!/refused$|\r\n0\r\n\r\n$/.test(received)) received += (await once(socket, "data")).join("");
  const reset = new Promise<void>((_, reject) => socket.once("error", reject));
  const write = (part: string | Buffer) =>
    Promise.race([reset, new Promise<void>((resolve) => socket.write(part, () => resolve()))]);
  for (let i = 0; i < steps; i++) {
    if (framing === "chunked") await write(`${step.length.toString(16)}\r\n`);
    await write(step);
    if (framing === "chunked") await write("\r\n");
  }
  socket.end(framing === "chunked" ? "0\r\n\r\n" : "");
  await Promise.race([reset, new Promise((resolve) => socket.once("close", resolve))]);
  return received;
}

for (const [what, response] of [
  ["whole", whole],
  ["streamed", streamed],
] as const) {
  for (const framing of ["length", "chunked"] as const) {
    test(`a connection is not reset while the client sends on after a ${what} response (${framing})`, async (t) => {
      const listener = await listen(() => response, { host: "127.0.0.1", port: 0 });
      t.after(() => listener.drain());
      const received = await sendAfterResponse(listener.port!, framing);
      assert.match(received, /^HTTP\/1\.1 401 /);
    });
  }
}

test("a refusal of a busy server is received before the body is sent", async (t) => {
  const limits = { ...defaultPortLimits, requests: 0 };
  const listener = await listen(() => whole, { host: "127.0.0.1", port: 0 }, { limits });
  t.after(() => listener.drain());
  for (let i = 0; i < rounds; i++) {
    const received = await upload({ host: "127.0.0.1", port: listener.port! }, { framing: "length" });
    assert.match(received, /^HTTP\/1\.1 503 [\s\S]*busy/);
  }
});

test("a request after the last one of a connection is not served", async (t) => {
  const served: string[] = [];
  const listener = await listen(
    ({ target }) => {
      served.push(target);
      return whole;
    },
    { host: "127.0.0.1", port: 0 },
  );
  t.after(() => listener.drain());
  const socket = connect(listener.port!, "127.0.0.1");
  socket.on("error", () => {});
  socket.write("PUT /first HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n");
  await once(socket, "data");
  socket.write(Buffer.alloc(100_000));
  socket.write("PUT /second HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  await once(socket, "close");
  assert.deepEqual(served, ["/first"]);
});
