// A pipeline of requests that need no waiting does not keep other connections from being served.
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { defaultPortLimits } from "../../../src/http/server/limits.ts";
import { type ListenOptions, listen } from "../../../src/http/server/listen.ts";
import { maxPipelinedStarts } from "../../../src/http/server/pipelining.ts";
import { restOf } from "../../script/client.ts";

const pipelined = 100;
const connections = 4;
const requests = 300;
const head = (target: string, further = "") => `GET ${target} HTTP/1.1\r\nHost: a\r\n${further}\r\n`;

/** Each way in which requests are read. */
const readers: Readonly<Record<string, ListenOptions>> = {
  "by Node's HTTP server": {},
  "by Node's HTTP server, without internals": { nodeInternals: "off" },
  "as short requests": { shortRequests: "direct" },
  "as short requests with complete bodies": { shortRequests: "direct when complete" },
  "as short requests, without internals": { shortRequests: "direct", nodeInternals: "off" },
};

for (const [how, options] of Object.entries(readers)) {
  test(`few pipelined requests are served in one turn of the event loop, read ${how}`, async (t) => {
    let [inTurn, mostInTurn, total] = [0, 0, 0];
    const handler = () => {
      if (inTurn++ === 0) {
        setImmediate(() => {
          inTurn = 0;
        });
      }
      mostInTurn = Math.max(mostInTurn, inTurn);
      total++;
      return { status: 200, headers: [], body: "" };
    };
    const { port, drain } = await listen(handler, { host: "127.0.0.1", port: 0 }, options);
    t.after(drain);
    const pipeline = async () => {
      const socket = connect(port!, "127.0.0.1");
      await once(socket, "connect");
      socket.write(head("/").repeat(requests) + head("/last", "Connection: close\r\n"));
      return [...(await restOf(socket)).matchAll(/HTTP\/1\.1 200 /g)].length;
    };
    const answered = await Promise.all(Array.from({ length: connections }, pipeline));
    assert.deepEqual(answered, Array(connections).fill(requests + 1));
    assert.equal(total, connections * (requests + 1));
    // The first request of a connection starts when it is read. Two batches may meet in the handler's turn.
    assert.ok(mostInTurn <= 2 * maxPipelinedStarts + connections, `${mostInTurn} requests in one turn`);
  });
}

test("of a connection with more pipelined requests than may wait, the rest of what was read is skipped", async (t) => {
  let made = 0;
  const count = () => made++;
  subscribe("http.server.request.start", count);
  t.after(() => unsubscribe("http.server.request.start", count));
  const handler = async () => ({ status: 200, headers: [], body: "answered" });
  const limits = { ...defaultPortLimits, pipelined };
  const { port, drain } = await listen(handler, { host: "127.0.0.1", port: 0 }, { limits });
  t.after(drain);
  for (let round = 0; round < 5; round++) {
    made = 0;
    const socket = connect(port!, "127.0.0.1");
    socket.on("error", () => {}).resume();
    socket.write(head("/").repeat(2000));
    await once(socket, "close");
    // The first is served, and the last is the one that closes the connection.
    assert.ok(made >= pipelined && made <= pipelined + 2, `${made} requests were made`);
    // Node reuses its parsers, which must parse again.
    const next = connect(port!, "127.0.0.1");
    next.write(head("/next", "Connection: close\r\n"));
    assert.match(await restOf(next), /^HTTP\/1\.1 200 .*answered$/s);
  }
});
