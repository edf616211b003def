import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request as send } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { forwardToRuntime, isUnreached } from "../../src/http/runtime-proxy.ts";
import { listen } from "../../src/http/server/listen.ts";

/** A port that forwards to a server on a Unix socket; that server responds with what it received. */
async function openProxy(t: TestContext, shortRequests: "direct" | "node"): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "store-proxy-"));
  const path = join(directory, "socket");
  const server = createServer(async (incoming, outgoing) => {
    let size = 0;
    for await (const chunk of incoming) size += (chunk as Buffer).length;
    const { method, url, rawHeaders } = incoming;
    if (url === "/stream") return void outgoing.writeHead(200, ["x-a", "1", "x-a", "2"]).end("streamed");
    const body = JSON.stringify({ method, url, rawHeaders, size });
    outgoing.writeHead(201, "Made", { "content-length": Buffer.byteLength(body) }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const front = await listen(
    (request) => forwardToRuntime(request, path),
    { host: "127.0.0.1", port: 0 },
    { shortRequests },
  );
  t.after(async () => {
    await front.drain();
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true });
  });
  return front.port!;
}

interface Answer {
  readonly status: number | undefined;
  readonly statusText: string | undefined;
  readonly headers: readonly string[];
  readonly body: string;
}

function ask(port: number, options: object, body?: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = send({ host: "127.0.0.1", port, agent: false, ...options }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode,
          statusText: response.statusMessage,
          headers: response.rawHeaders.filter((_, i, all) => /^x-|^content-/i.test(all[i - (i % 2)]!)),
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

for (const mode of ["direct", "node"] as const) {
  test(`requests are forwarded with bodies of every kind (${mode})`, async (t) => {
    const port = await openProxy(t, mode);
    const connection = { connection: "keep-alive" };
    for (const size of [0, 5, 20_000, 1_000_000]) {
      const lengthHeaders = { ...connection, "content-length": size };
      for (const headers of [lengthHeaders, { ...connection, "transfer-encoding": "chunked" }]) {
        const answer = await ask(port, { method: "POST", path: "/a?b", headers }, Buffer.alloc(size, 7));
        assert.deepEqual([answer.status, answer.statusText], [201, "Made"]);
        const received = JSON.parse(answer.body) as { method: string; url: string; size: number };
        assert.deepEqual([received.method, received.url, received.size], ["POST", "/a?b", size]);
      }
    }
  });

  test(`a request carries the client's address instead of forged headers (${mode})`, async (t) => {
    const port = await openProxy(t, mode);
    const headers = { "x-forwarded-for": "10.0.0.1", connection: "keep-alive", "x-own": "caf\xe9" };
    const { rawHeaders } = JSON.parse((await ask(port, { path: "/", headers })).body) as {
      rawHeaders: string[];
    };
    assert.equal(rawHeaders[rawHeaders.indexOf("x-forwarded-for") + 1], "127.0.0.1");
    assert.equal(rawHeaders[rawHeaders.indexOf("x-own") + 1], "caf\xe9");
    assert.ok(!rawHeaders.includes("10.0.0.1"));
  });

  test(`responses of GET and HEAD have the same headers (${mode})`, async (t) => {
    const port = await openProxy(t, mode);
    const headers = { connection: "keep-alive" };
    const streamed = await ask(port, { path: "/stream", headers });
    assert.deepEqual([streamed.headers, streamed.body], [["x-a", "1", "x-a", "2"], "streamed"]);
    const head = await ask(port, { method: "HEAD", path: "/stream", headers });
    assert.deepEqual([head.headers, head.body], [["x-a", "1", "x-a", "2"], ""]);
  });
}

test("an error says whether the runtime can have received the request", () => {
  assert.equal(isUnreached(Object.assign(new Error(), { code: "ENOENT" })), true);
  assert.equal(isUnreached(Object.assign(new Error(), { code: "ECONNRESET" })), false);
});
