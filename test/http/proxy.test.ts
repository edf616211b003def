// Requests that are forwarded to a process which responds before it reads the body.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { forward } from "../../src/http/proxy.ts";
import { type HttpHandler, listen } from "../../src/http/server/listen.ts";
import { describeUpload, upload, uploads } from "./early-responses.ts";

const directory = mkdtempSync(join(tmpdir(), "store-proxy-"));
after(() => rmSync(directory, { recursive: true }));

/** Starts a process's listener and a router before it; returns the port of the router. */
async function route(handler: HttpHandler, name: string) {
  const socketPath = join(directory, name);
  const process = await listen(handler, { path: socketPath });
  const upstream = { socketPath, announcesStart: true, onAbandoned: () => () => {} };
  const router = await listen((request) => forward(request, upstream), { host: "127.0.0.1", port: 0 });
  return {
    port: router.port!,
    async end() {
      await Promise.all([router.drain(), process.drain()]);
    },
  };
}

for (const [i, kind] of uploads.entries()) {
  test(`a forwarded response before the body is received (${describeUpload(kind)})`, async (t) => {
    const { port, end } = await route(() => ({ status: 401, headers: [], body: "refused" }), `a${i}`);
    t.after(end);
    for (let round = 0; round < 20; round++) {
      const received = await upload({ host: "127.0.0.1", port }, kind);
      assert.match(received, /^HTTP\/1\.1 401 [\s\S]*refused/);
    }
  });
}

test("a client that waits for status 100 gets it when the process reads the body", async (t) => {
  const { port, end } = await route(async (request) => {
    if (request.target === "/refuse") return { status: 401, headers: [], body: "refused" };
    let size = 0;
    for await (const chunk of request.body()) size += chunk.length;
    return { status: 200, headers: [], body: `${size} bytes` };
  }, "continue");
  t.after(end);
  const address = { host: "127.0.0.1", port };
  const bytes = 100_000;
  assert.match(await upload(address, { framing: "length", expect: "wait", bytes }), /100000 bytes$/);
  const refused = await raw(address, "/refuse");
  assert.match(refused, /^HTTP\/1\.1 401 /);
});

async function raw(address: { host: string; port: number }, path: string): Promise<string> {
  const socket = connect(address);
  socket.write(
    `PUT ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n`,
  );
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}
