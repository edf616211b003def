// One process commits for others: they go on without it when it ends, and nothing acknowledged is lost with it.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { openEngine } from "../../../src/open.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { type Agent, withAgents } from "../agents/agents.ts";

const bucket = "shared";

function doorOf(directory: string): string {
  return readFileSync(join(directory, "writer-3"), "utf8");
}

async function put(agent: Agent, key: string): Promise<void> {
  await agent.ask({ do: "put", bucket, key, value: { name: "first", size: 10 } });
}

test("a process commits through the one that offers it, and has no writer of its own", async (t) => {
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

/** Workers that the process started itself: its threads are no measure, since Node adds some whenever it likes. */
function workersOf(agent: Agent): Promise<number> {
  return agent.ask<number>({ do: "count workers" });
}

test("when the process that commits is killed, the others commit for themselves", async (t) => {
  const directory = await temporaryDirectory(t);
  await withAgents(directory, 2, async (host, guest) => {
    await host.ask({ do: "create bucket", bucket });
    await host.ask({ do: "commit for others" });
    await put(guest, "before");
    // Writes are under way all the time while it is killed: each is there, or was refused as unknown.
    const outcomes = Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        try {
          await put(guest, `meanwhile-${i}`);
          return { key: `meanwhile-${i}`, isThere: true };
        } catch (error) {
          assert.match(String(error), /not known whether this was written/);
          return { key: `meanwhile-${i}`, isThere: false };
        }
      }),
    );
    await host.kill();
    const told = await outcomes;
    await put(guest, "after");
    const { engine } = await openEngine(directory);
    t.after(() => engine.close());
    for (const { key, isThere } of told) {
      if (isThere) assert.ok(await engine.head(bucket, key), `${key} was acknowledged`);
    }
    assert.ok(await engine.head(bucket, "before"));
    assert.ok(await engine.head(bucket, "after"));
  });
});

test("a door that a killed process has left is passed by, and cleared away by the next", async (t) => {
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

test("a closed store leaves no door behind", async (t) => {
  const directory = await temporaryDirectory(t);
  const { engine, commitForOthers } = await openEngine(directory);
  await commitForOthers();
  const door = doorOf(directory);
  assert.ok(existsSync(door));
  await engine.close();
  assert.ok(!existsSync(dirname(door)));
  assert.ok(!existsSync(join(directory, "writer-3")));
});

test("what stands in the place of a door and is none is passed by", async (t) => {
  const directory = await temporaryDirectory(t);
  const { engine } = await openEngine(directory);
  t.after(() => engine.close());
  writeFileSync(join(directory, "writer-3"), join(directory, "registry.db"));
  await engine.createBucket(bucket);
  assert.ok(await engine.bucket(bucket));
});
