// The connections of the HTTP client: kept for a while, then opened again.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { createHttpClient } from "../../src/s3-client/http-client.ts";

const times = { connect: 60_000, answer: 60_000, idle: 60_000 };

/** Sends three requests, one after another, and returns how many connections they used. */
async function countConnections(t: TestContext, maxConnectionMilliseconds: number): Promise<number> {
  const server = createServer((_, response) => response.end("hello")).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  let connections = 0;
  server.on("connection", () => connections++);
  const service = { hostname: "127.0.0.1", port: (server.address() as AddressInfo).port, tls: false };
  const client = createHttpClient(service, times, { maxConnectionMilliseconds });
  t.after(() => client.close());
  for (let i = 0; i < 3; i++) {
    const request = { method: "GET", target: "/", headers: {}, parts: [] };
    const answer = await client.send(request, performance.now() + 60_000);
    const ended = once(answer, "close");
    answer.resume();
    await ended;
  }
  return connections;
}

test("a connection is used for several requests, until it reaches its maximum age", async (t) => {
  assert.equal(await countConnections(t, 600_000), 1);
  assert.equal(await countConnections(t, 0), 3);
});
