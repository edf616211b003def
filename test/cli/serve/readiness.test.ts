// Readiness of a server: probes every port, writes to the store, and exposes no address or path.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { createReadiness, type NamedPort } from "../../../src/cli/serve/readiness.ts";
import { listen } from "../../../src/http/server/listen.ts";
import { createMemoryRecords } from "../../../src/memory/records.ts";
import { StoreError } from "../../../src/model/errors.ts";

const { documents } = createMemoryRecords();
const probe = "secret of this server";
const common = { documents, scripts: { scripts: [] }, probe, ports: () => [] as NamedPort[] };

function refusing(error: Error) {
  return { ...documents, put: () => Promise.reject(error) };
}

function portAt(port: number): NamedPort {
  return { title: "The port of the S3 API", host: "127.0.0.1", port, isSecure: false };
}

async function openPort(t: TestContext): Promise<{ port: number; served: () => number }> {
  let served = 0;
  const handler = () => {
    served++;
    return { status: 200, headers: [], body: null };
  };
  const listening = await listen(handler, { host: "127.0.0.1", port: 0 }, { probe });
  t.after(() => listening.drain());
  return { port: listening.port!, served: () => served };
}

test("a writable store is ready, and repeated readiness checks do not add records", async () => {
  for (let asked = 0; asked < 3; asked++) {
    assert.deepEqual(await createReadiness({ ...common, log: assert.fail })(), []);
  }
  assert.equal((await documents.list("housekeeping")).length, 1);
});

test("a store that cannot write is not ready, and the reason is logged once", async () => {
  const logged: string[] = [];
  const away = refusing(new Error("connect ECONNREFUSED 10.1.2.3:5432"));
  const troubles = createReadiness({ ...common, documents: away, log: (line) => logged.push(line) });
  const sentences = ["The store cannot write; see the server's log."];
  assert.deepEqual(await troubles(), sentences);
  assert.deepEqual(await troubles(), sentences);
  assert.deepEqual(logged, ["The store cannot write: connect ECONNREFUSED 10.1.2.3:5432"]);
});

test("a server with a full disk stays ready, because it can read and delete", async () => {
  const full = refusing(new StoreError("InsufficientStorage"));
  assert.deepEqual(await createReadiness({ ...common, documents: full, log: assert.fail })(), []);
});

test("a port answers the readiness probe without calling its request handler", async (t) => {
  const { port, served } = await openPort(t);
  assert.deepEqual(await createReadiness({ ...common, ports: () => [portAt(port)], log: assert.fail })(), []);
  assert.equal(served(), 0);
});

test("a server is not ready if a port accepts connections but never answers", async (t) => {
  const silent = createServer((socket) => t.after(() => socket.destroy()));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  t.after(() => silent.close());
  const { port } = silent.address() as { port: number };
  const troubles = createReadiness({ ...common, ports: () => [portAt(port)], log: assert.fail });
  assert.deepEqual(await troubles(), ["The port of the S3 API does not answer."]);
});

test("a readiness probe with a wrong secret is passed to the request handler", async (t) => {
  const { port, served } = await openPort(t);
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { "x-store-probe": "guess" } });
  assert.deepEqual([response.status, served()], [200, 1]);
});
