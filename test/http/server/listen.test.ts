// Timeouts of the listener: idle clients are disconnected, and clients that wait for the server are
// not.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import {
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  listen,
} from "../../../src/http/server/listen.ts";
import { converse, restOf } from "../../script/client.ts";
import { until } from "../../script/inside.ts";

const silenceMilliseconds = 100;
const timeouts = { silenceMilliseconds, idleMilliseconds: silenceMilliseconds };

async function listenTo(t: TestContext, handler: HttpHandler): Promise<number> {
  const listening = await listen(handler, { host: "127.0.0.1", port: 0 }, timeouts);
  t.after(() => listening.drain());
  return listening.port!;
}

const answering = async (request: HttpRequest): Promise<HttpResponse> => {
  let size = 0;
  for await (const chunk of request.body()) size += chunk.length;
  return { status: 200, headers: [], body: `${size} bytes` };
};

test("an idle connection is closed after the idle timeout, before or after its first request", async (t) => {
  const port = await listenTo(t, answering);
  const unused = await converse(port);
  // The header timeout equals the idle timeout. Either may close the connection, with or without
  // 408.
  assert.match(await restOf(unused), /^(HTTP\/1\.1 408 |$)/);
  // Retried, since on a busy machine the request may be sent after the idle timeout.
  await until(async () => {
    const used = await converse(port, "GET / HTTP/1.1", "Host: a", "");
    return /0 bytes$/.test(await restOf(used));
  }, "a connection serves a request and is closed");
});

test("a client that stops sending in the middle of its body is disconnected", async (t) => {
  const faults: string[] = [];
  const port = await listenTo(t, async (request) => {
    await answering(request).catch((error: NodeJS.ErrnoException) =>
      faults.push(error.code ?? error.message),
    );
    return { status: 400, headers: [], body: null };
  });
  const socket = await converse(port, "PUT / HTTP/1.1", "Host: a", "Content-Length: 10", "", "abc");
  assert.equal(await restOf(socket), "");
  await until(() => faults.length > 0, "the handler gets an error");
  assert.deepEqual(faults, ["ECONNRESET"]);
});

test("a slow handler does not make the client time out, even before it reads the body", async (t) => {
  const port = await listenTo(t, async (request) => {
    await new Promise((resolve) => setTimeout(resolve, 4 * silenceMilliseconds));
    return answering(request);
  });
  const size = 1_000_000;
  const socket = await converse(
    port,
    "PUT / HTTP/1.1",
    "Host: a",
    `Content-Length: ${size}`,
    "Connection: close",
    "",
  );
  socket.write(Buffer.alloc(size));
  assert.match(await restOf(socket), /1000000 bytes$/);
});

test("a client that pauses reading its response is not disconnected", async (t) => {
  const size = 30_000_000;
  const port = await listenTo(t, () => ({ status: 200, headers: [], body: Buffer.alloc(size) }));
  const socket = await converse(port, "GET / HTTP/1.1", "Host: a", "Connection: close", "");
  await once(socket, "readable");
  await new Promise((resolve) => setTimeout(resolve, 4 * silenceMilliseconds));
  assert.ok((await restOf(socket)).length > size);
});

test("a pipelined request with Expect: 100-continue gets its 100 after the previous response is complete", async (t) => {
  const port = await listenTo(t, async (request) => {
    if (request.method === "GET") {
      await new Promise((resolve) => setTimeout(resolve, silenceMilliseconds / 2));
      return { status: 200, headers: [], body: "first" };
    }
    const { body } = await answering(request);
    const chunks = async function* () {
      yield Buffer.from(body as string);
    };
    return { status: 200, headers: [], body: { length: 7, chunks, cancel: async () => {} } };
  });
  const second = [
    "PUT / HTTP/1.1",
    "Host: a",
    "Expect: 100-continue",
    "Content-Length: 3",
    "Connection: close",
    "",
    "abc",
  ];
  const socket = await converse(port, "GET / HTTP/1.1", "Host: a", "", ...second);
  const text = await restOf(socket);
  const answers = text
    .split(/(?=HTTP\/1\.1 )/)
    .map((response) => response.replace(/\r\n[\s\S]*\r\n\r\n/, "|"));
  assert.deepEqual(answers.length, 3, text);
  assert.equal(answers[0], "HTTP/1.1 200 OK|first");
  assert.match(answers[1]!, /^HTTP\/1\.1 100 Continue/);
  assert.equal(answers[2], "HTTP/1.1 200 OK|3 bytes", text);
});
