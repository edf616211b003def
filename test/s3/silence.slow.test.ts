// The S3 listener's timeout for idle uploads, set to less than its default of a minute.
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { createCredentials } from "../../src/access/keys/credentials.ts";
import { listen } from "../../src/http/server/listen.ts";
import { encodeText } from "../../src/http/sigv4.ts";
import { openEngine } from "../../src/open.ts";
import { createS3Handler } from "../../src/s3/handler.ts";
import { s3PortOptions } from "../../src/s3/server/port.ts";
import { temporaryDirectory } from "../support/stores.ts";
import { type Raw, sendRaw, signRaw } from "./raw.ts";
import type { Key } from "./scene.ts";

const silenceMilliseconds = 800;

interface ShortTimeoutListener {
  readonly url: string;
  readonly key: Key;
  /**
   * Sends the headers of a presigned PUT. `answered` resolves to everything received until the end.
   */
  begin(key: string, bytes: number): { readonly socket: Socket; readonly answered: Promise<string> };
  call(raw: Raw): ReturnType<typeof sendRaw>;
}

async function startListener(t: TestContext): Promise<ShortTimeoutListener> {
  const { engine, documents } = await openEngine(await temporaryDirectory(t));
  await engine.createBucket("bucket");
  const credentials = createCredentials(documents, Buffer.alloc(32, 1), Date.now);
  const key = await credentials.create();
  const handler = createS3Handler({ engine, credentials, domains: [], now: Date.now, log: () => {} });
  const listening = await listen(
    handler,
    { host: "127.0.0.1", port: 0 },
    { ...s3PortOptions, silenceMilliseconds },
  );
  t.after(async () => {
    await listening.drain();
    await engine.close();
  });
  const url = `http://127.0.0.1:${listening.port}`;
  return {
    url,
    key,
    call: (raw) => sendRaw(url, signRaw(url, raw, { key, form: "header" })),
    begin(name, bytes) {
      const { path, query, headers } = signRaw(
        url,
        { method: "PUT", path: `/bucket/${name}` },
        { key, form: "query" },
      );
      const text = query.map(([one, value]) => `${one}=${encodeText(value)}`).join("&");
      const socket = connect(listening.port!, "127.0.0.1");
      socket.on("error", () => {});
      socket.write(
        `PUT ${path}?${text} HTTP/1.1\r\nhost: ${headers.host}\r\ncontent-length: ${bytes}\r\nconnection: close\r\n\r\n`,
      );
      return { socket, answered: readToEnd(socket) };
    },
  };
}

function readToEnd(socket: Socket): Promise<string> {
  let found = "";
  socket.on("data", (piece) => {
    found += piece.toString("latin1");
  });
  return new Promise((resolve) => socket.once("close", () => resolve(found)));
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test("an upload that sends bytes regularly is stored, however long it takes", async (t) => {
  const { begin, call } = await startListener(t);
  const letters = "0123456789".repeat(5);
  const { socket, answered } = begin("trickled", letters.length);
  const started = Date.now();
  // The pauses are far below the limit, since a busy machine adds delays.
  for (const letter of letters) {
    await pause(silenceMilliseconds / 8);
    socket.write(letter);
  }
  assert.match(await answered, /^HTTP\/1\.1 200 OK/);
  assert.ok(Date.now() - started > 5 * silenceMilliseconds, "the upload took much longer than the limit");
  assert.equal((await call({ method: "GET", path: "/bucket/trickled" })).text, letters);
});

test("a client that stops sending in the middle of an upload is disconnected, and nothing is stored", async (t) => {
  const { begin, call } = await startListener(t);
  for (const sent of ["", "a few", "x".repeat(200_000)]) {
    const { socket, answered } = begin("silent", 300_000);
    const started = Date.now();
    socket.write(sent);
    assert.equal(await answered, "");
    const lasted = Date.now() - started;
    assert.ok(lasted >= silenceMilliseconds * 0.9, `cut after ${lasted} ms`);
    assert.ok(lasted < silenceMilliseconds * 10, `cut after ${lasted} ms`);
  }
  assert.equal((await call({ method: "HEAD", path: "/bucket/silent" })).status, 404);
});

test("a client that sends its request headers byte by byte is disconnected after the idle limit", async (t) => {
  const { url } = await startListener(t);
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  const answered = readToEnd(socket);
  socket.write("GET /bucket/x HTTP/1.1\r\nHost: a\r\nX-Slow: ");
  const letters = setInterval(() => socket.writable && socket.write("a"), silenceMilliseconds / 4);
  const response = await answered;
  clearInterval(letters);
  assert.match(response, /^(HTTP\/1\.1 408 [\s\S]*)?$/);
});
