// One process, the commit server, commits for others. When it ends, they continue without it, and
// no acknowledged write is lost.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { openEngine } from "../../../src/open.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { type Agent, withAgents } from "../agents/agents.ts";

const bucket = "shared";

function doorOf(directory: string): string {
  return readFileSync(join(directory, "writer-4"), "utf8");
}

async function put(agent: Agent, key: string): Promise<void> {
  await agent.ask({ do: "put", bucket, key, value: { name: "first", size: 10 } });
}

test("a process commits through the commit server and starts no writer thread", async (t) => {
  const directory = await temporaryDirectory(t);
  const host = await openEngine(directory);
  t.after(() => host.engine.close());
  await host.engine.createBucket(bucket);
  await withAgents(directory, 1, async (alone) => {
    const before = await workersOf(alone);
    await put(alone, "with a writer of its own");
    assert.ok((await workersOf(alone)) > before, "a worker was started to commit");
  });
  await host.commitForOthers();
  await withAgents(directory, 1, async (guest) => {
    const before = await workersOf(guest);
    await put(guest, "by another");
    assert.equal(await workersOf(guest), before, "no worker was started to commit");
  });
  assert.equal((await host.engine.head(bucket, "by another"))?.size, 10);
});

/** Returns the number of worker threads, without the threads that Node starts itself. */
function workersOf(agent: Agent): Promise<number> {
  return agent.ask<number>({ do: "count workers" });
}

test("after the commit server is killed, its clients commit by themselves", async (t) => {
  const directory = await temporaryDirectory(t);
  await withAgents(directory, 2, async (host, guest) => {
    await host.ask({ do: "create bucket", bucket });
    await host.ask({ do: "commit for others" });
    await put(guest, "before");
    // Writes are in flight during the kill. Each is stored or fails with an unknown outcome.
    const outcomes = Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        try {
          await put(guest, `meanwhile-${i}`);
          return { key: `meanwhile-${i}`, isThere: true };
        } catch (error) {
          assert.match(String(error), /the outcome of this write is unknown/);
          return { key: `meanwhile-${i}`, isThere: false };
        }
      }),
    );
    await host.kill();
    const settled = await outcomes;
    await put(guest, "after");
    const { engine } = await openEngine(directory);
    t.after(() => engine.close());
    for (const { key, isThere } of settled) {
      if (isThere) assert.ok(await engine.head(bucket, key), `${key} was acknowledged`);
    }
    assert.ok(await engine.head(bucket, "before"));
    assert.ok(await engine.head(bucket, "after"));
  });
});

test("the socket of a killed commit server is ignored, and the next commit server removes it", async (t) => {
  const directory = await temporaryDirectory(t);
  let left = "";
  await withAgents(directory, 1, async (host) => {
    await host.ask({ do: "create bucket", bucket });
    await host.ask({ do: "commit for others" });
    left = doorOf(directory);
    await host.kill();
  });
  assert.ok(existsSync(dirname(left)));
  const next = await openEngine(directory);
  t.after(() => next.engine.close());
  await next.engine.put(bucket, "alone", new Uint8Array(3));
  await next.commitForOthers();
  assert.notEqual(doorOf(directory), left);
  assert.ok(!existsSync(dirname(left)));
});

test("closing a store removes its socket", async (t) => {
  const directory = await temporaryDirectory(t);
  const { engine, commitForOthers } = await openEngine(directory);
  await commitForOthers();
  const door = doorOf(directory);
  assert.ok(existsSync(door));
  await engine.close();
  assert.ok(!existsSync(dirname(door)));
  assert.ok(!existsSync(join(directory, "writer-4")));
});

test("a socket path that is not a socket is ignored", async (t) => {
  const directory = await temporaryDirectory(t);
  const { engine } = await openEngine(directory);
  t.after(() => engine.close());
  writeFileSync(join(directory, "writer-4"), join(directory, "registry.db"));
  await engine.createBucket(bucket);
  assert.ok(await engine.bucket(bucket));
});
