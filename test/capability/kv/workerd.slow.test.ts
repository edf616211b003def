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
import type { Scene, Scenes } from "../../contracts/key-value/scene.ts";
import { start } from "../../contracts/key-value/scene.ts";
import { serveOnSocket } from "../../support/workerd/socket-client.ts";
import { startWorkerd } from "../../support/workerd/workerd-process.ts";
import { remoteNamespace, script } from "./remote-namespace.ts";

interface Remote {
  readonly kv: StoreKvNamespace;
  /** Serves the binding of the script from now on. */
  use(handler: HttpHandler): void;
}

async function startRemote(t: TestContext): Promise<Remote> {
  let current: HttpHandler | undefined;
  const { path } = await serveOnSocket(t, (request) => current!(request));
  const { port } = await startWorkerd(t, {
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
  const clock = { time: 0 };
  let opened: Promise<readonly [Engine, Remote]> | undefined;
  let count = 0;

  async function shared(): Promise<Scene> {
    opened ??= Promise.all([
      openEngine("memory:", { now: () => clock.time }).then(({ engine }) => {
        endings.push(() => engine.close());
        return engine;
      }),
      startRemote(suite),
    ]);
    const [engine, { kv, use }] = await opened;
    clock.time = start * 1000 + 500;
    const namespace = `sessions-${count++}`;
    await engine.kv.createNamespace(namespace);
    use(createKvCapability({ engine, namespace }));
    return { store: engine as unknown as Scene["store"], kv, clock };
  }
  return { shared, own: shared, differences };
}

/** The runtime decides these before or after it uses the protocol. */
const differences = {
  "a key that is not a string is converted to one, and a missing key is refused":
    "the runtime converts undefined to a string too",
  "put converts numbers and other primitives to strings, and refuses other objects":
    "the runtime converts undefined to a string too",
  "an endless stream is cancelled at the size limit, and nothing is stored":
    "the runtime sends a whole body before it reads the response",
  "a put with an invalid argument cancels its stream": "the runtime does not cancel the stream",
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
