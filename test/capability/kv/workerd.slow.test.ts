// The contracts of key-value namespaces, on a binding of a script in a real workerd.
import assert from "node:assert/strict";
import { after, describe, type TestContext, test } from "node:test";
import { createKvCapability } from "../../../src/capability/kv/kv-capability.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import type { HttpHandler } from "../../../src/http/server/listen.ts";
import type { StoreKvNamespace } from "../../../src/index.ts";
import { openEngine } from "../../../src/open.ts";
import { bulkContract } from "../../contracts/key-value/bulk.ts";
import { deleteContract } from "../../contracts/key-value/delete.ts";
import { expiryContract } from "../../contracts/key-value/expiry.ts";
import { getContract } from "../../contracts/key-value/get.ts";
import { keysContract } from "../../contracts/key-value/keys.ts";
import { listContract } from "../../contracts/key-value/list.ts";
import { putContract } from "../../contracts/key-value/put.ts";
import { racesContract } from "../../contracts/key-value/races.ts";
import { type Clock, type Scene, type Scenes, start, streamOf } from "../../contracts/key-value/scene.ts";
import { serveOnSocket } from "../../support/workerd/socket-client.ts";
import { startModules } from "../../support/workerd/start-modules.ts";
import { remoteNamespace, script } from "./remote-namespace.ts";

interface Remote {
  readonly kv: StoreKvNamespace;
  /** Serves the binding of the script from now on. */
  use(handler: HttpHandler): void;
}

async function startRemote(t: TestContext): Promise<Remote> {
  let current: HttpHandler | undefined;
  const { path } = await serveOnSocket(t, (request) => current!(request));
  const { port } = await startModules(t, {
    modules: [{ name: "script.js", kind: "esm", contents: script }],
    bindings: ['(name = "KV", kvNamespace = "kv-0")'],
    services: { "kv-0": path },
  });
  return {
    kv: remoteNamespace(port),
    use(handler) {
      current = handler;
    },
  };
}

/** One script for all tests of the suite: each test gets a new namespace behind its binding. */
function createRemoteScenes(): Scenes {
  const endings: (() => unknown)[] = [];
  after(async () => {
    for (const end of endings.reverse()) await end();
  });
  const suite = { after: (end: () => unknown) => endings.push(end) } as unknown as TestContext;
  const sharedClock = { time: 0 };
  let sharedEngine: Promise<Engine> | undefined;
  let remote: Promise<Remote> | undefined;
  let count = 0;

  async function scene(engine: Engine, clock: Clock): Promise<Scene> {
    remote ??= startRemote(suite);
    const { kv, use } = await remote;
    clock.time = start * 1000 + 500;
    const namespace = `sessions-${count++}`;
    await engine.kv.createNamespace(namespace);
    use(createKvCapability({ engine, namespace }));
    return { store: engine as unknown as Scene["store"], kv, clock };
  }

  return {
    differences,
    async shared() {
      sharedEngine ??= openMemory(suite, sharedClock);
      return scene(await sharedEngine, sharedClock);
    },
    async own(t) {
      const clock = { time: 0 };
      return scene(await openMemory(t, clock), clock);
    },
  };
}

async function openMemory(t: TestContext, clock: Clock): Promise<Engine> {
  const { engine } = await openEngine("memory:", { now: () => clock.time });
  t.after(() => engine.close());
  return engine;
}

/** The runtime decides these before it uses the protocol. */
const differences = {
  "a missing key is refused": 'the runtime converts undefined to "undefined"',
  "put without a value is refused": 'the runtime converts undefined to "undefined"',
  "a lone surrogate in a value is replaced with U+FFFD": "the runtime sends three bytes for it",
  "an endless stream is cancelled at the size limit, and nothing is stored":
    "the runtime sends a whole body before it reads the response",
  "a put with an invalid argument cancels its stream": "the runtime does not cancel the stream",
  "metadata that JSON cannot represent is refused with a TypeError": "the runtime sends it",
};

describe("key-value namespaces through workerd fulfil their contract", () => {
  const scenes = createRemoteScenes();
  keysContract(scenes);
  getContract(scenes);
  bulkContract(scenes);
  putContract(scenes);
  deleteContract(scenes);
  listContract(scenes);
  expiryContract(scenes);
  racesContract(scenes);
});

test("a script reads an error of the store with its status and reason", async (t) => {
  const { engine } = await openEngine("memory:");
  t.after(() => engine.close());
  const { kv, use } = await startRemote(t);
  use(createKvCapability({ engine, namespace: "none" }));
  const reason = 'There is no key-value namespace "none".';
  await assert.rejects(kv.get("key"), { message: `KV GET failed: 400 ${reason}` });
  await assert.rejects(kv.put("key", "value"), { message: `KV PUT failed: 404 ${reason}` });
  await assert.rejects(kv.list(), { message: `KV GET failed: 404 ${reason}` });
});

test("a script that puts a stream of 40 MiB gets the limit as an error", async (t) => {
  const { engine } = await openEngine("memory:");
  t.after(() => engine.close());
  await engine.kv.createNamespace("sessions");
  const { kv, use } = await startRemote(t);
  use(createKvCapability({ engine, namespace: "sessions" }));
  const { stream } = streamOf(40 * 1024 * 1024);
  await assert.rejects(kv.put("key", stream), /KV PUT failed: 413 Value length of \d+ exceeds limit/);
  assert.equal(await kv.get("key"), null);
});
