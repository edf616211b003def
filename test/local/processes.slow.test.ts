// Several processes on one directory: the next read in any process sees every acknowledged write.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStore } from "../../src/index.ts";
import { bytesOf, digestOf, KiB, MiB, type Value } from "../support/bodies.ts";
import { assertNothingLeftOver, blobFiles } from "../support/disk/on-disk.ts";
import { temporaryDirectory } from "../support/stores.ts";
import type { Agent } from "./agents/agents.ts";
import { Refusal, withAgents } from "./agents/agents.ts";

const bucket = "shared";

async function directoryWithBucket(t: Parameters<typeof temporaryDirectory>[0]): Promise<string> {
  const directory = await temporaryDirectory(t);
  const store = await openStore(directory);
  await store.createBucket(bucket);
  await store.close();
  return directory;
}

/**
 * Opens and sweeps the directory after all agents have ended, and checks that no orphans remain.
 */
async function assertClean(directory: string): Promise<void> {
  const store = await openStore(directory);
  await store.sweep();
  await store.close();
  assertNothingLeftOver(directory);
}

test("exactly one of 100 concurrent create-only puts from four processes succeeds", async (t) => {
  const directory = await directoryWithBucket(t);
  await withAgents(directory, 4, async (...agents) => {
    for (const [round, size] of [10, 10, 10, 64 * KiB, 64 * KiB, 10, 10, 64 * KiB].entries()) {
      const key = `wanted by all ${round}`;
      const winners = await Promise.all(
        agents.map((agent, a) => {
          const values = Array.from({ length: 25 }, (_, i) => ({ name: `${a}.${i}`, size }));
          return agent.ask<string[]>({ do: "create only", bucket, key, values });
        }),
      );
      const [winner, ...others] = winners.flat();
      assert.ok(
        winner !== undefined && others.length === 0,
        `winners of ${key}: ${winners.flat().join(" ")}`,
      );
      const digest = digestOf(bytesOf(key, { name: winner, size }));
      for (const agent of agents) assert.equal(await agent.ask({ do: "get", bucket, key }), digest);
    }
  });
  await assertClean(directory);
});

test("a write acknowledged in one process is always visible to the next read in another process", async (t) => {
  const directory = await directoryWithBucket(t);
  await withAgents(directory, 2, async (a, b) => {
    for (let i = 0; i < 300; i++) {
      const key = `ping ${i % 7}`;
      const value: Value = { name: String(i), size: i % 10 === 0 ? 20 * KiB : 100 };
      await a!.ask({ do: "put", bucket, key, value });
      assert.equal(await b!.ask({ do: "get", bucket, key }), digestOf(bytesOf(key, value)), `get ${i}`);
      assert.equal(await b!.ask({ do: "head", bucket, key }), value.size, `head ${i}`);
      await b!.ask({ do: "delete", bucket, keys: [key] });
      assert.equal(await a!.ask({ do: "get", bucket, key }), null, `get after the delete ${i}`);
      assert.deepEqual(await a!.ask({ do: "list", bucket }), [], `list after the delete ${i}`);
    }
  });
  await assertClean(directory);
});

test("a bucket that is deleted and created again is immediately a new bucket in every process", async (t) => {
  const directory = await directoryWithBucket(t);
  const old: Value = { name: "old", size: 10 };
  const large: Value = { name: "new", size: 100 * KiB };
  await withAgents(directory, 2, async (a, b) => {
    for (let life = 0; life < 10; life++) {
      await a!.ask({ do: "put", bucket, key: "old", value: old });
      assert.equal(await b!.ask({ do: "head", bucket, key: "old" }), old.size);
      await a!.ask({ do: "delete", bucket, keys: ["old"] });
      await a!.ask({ do: "delete bucket", bucket });
      if (life % 2 === 1) {
        await assert.rejects(b!.ask({ do: "head", bucket, key: "old" }), isCode(10006));
        await assert.rejects(b!.ask({ do: "put", bucket, key: "old", value: large }), isCode(10006));
        assert.deepEqual(await b!.ask({ do: "list buckets" }), []);
      }
      await a!.ask({ do: "create bucket", bucket });
      assert.equal(await b!.ask({ do: "head", bucket, key: "old" }), null);
      await b!.ask({ do: "put", bucket, key: "new", value: large });
      assert.equal(await a!.ask({ do: "get", bucket, key: "new" }), digestOf(bytesOf("new", large)));
      await b!.ask({ do: "delete", bucket, keys: ["new"] });
    }
  });
  await assertClean(directory);
});

test("a put fails and leaves no file if another process deletes its bucket meanwhile", async (t) => {
  const directory = await directoryWithBucket(t);
  const value: Value = { name: "late", size: MiB };
  await withAgents(directory, 2, async (a, b) => {
    for (const next of ["gone", "made again"]) {
      await b!.ask({ do: "begin put", bucket, key: "late", value });
      await a!.ask({ do: "delete bucket", bucket });
      if (next === "made again") await a!.ask({ do: "create bucket", bucket });
      await assert.rejects(b!.ask({ do: "finish put" }), isCode(10006));
      assert.deepEqual(blobFiles(directory), []);
      if (next === "gone") await a!.ask({ do: "create bucket", bucket });
      assert.deepEqual(await b!.ask({ do: "list", bucket }), []);
    }
  });
  await assertClean(directory);
});

test("if three processes create and delete one bucket, each creation and deletion succeeds in one process only", async (t) => {
  const directory = await directoryWithBucket(t);
  await withAgents(directory, 3, async (a, b, c) => {
    const times = 60;
    const [deleted, alsoDeleted, created] = await Promise.all([
      a!.ask<number>({ do: "keep deleting", bucket, times }),
      b!.ask<number>({ do: "keep deleting", bucket, times }),
      c!.ask<number>({ do: "keep creating", bucket, times: 2 * times }),
    ]);
    const left = await c!.ask<string[]>({ do: "list buckets" });
    assert.equal(1 + created - deleted - alsoDeleted, left.length, `${created} made, ${deleted} deleted`);
  });
  await assertClean(directory);
});

test("a read in progress completes while another process replaces or deletes the object and sweeps", async (t) => {
  const directory = await directoryWithBucket(t);
  const value: Value = { name: "read", size: 3 * MiB };
  const digest = digestOf(bytesOf("body", value));
  const write = (agent: Agent, shape: string) =>
    shape === "parts"
      ? agent.ask({ do: "put parts", bucket, key: "body", value, partSize: MiB })
      : agent.ask({ do: "put", bucket, key: "body", value });
  await withAgents(directory, 2, async (a, b) => {
    for (const shape of ["parts", "one file"]) {
      for (const ending of ["replaced", "replaced by parts", "deleted"]) {
        await write(a!, shape);
        await b!.ask({ do: "begin get", bucket, key: "body" });
        if (ending === "deleted") await a!.ask({ do: "delete", bucket, keys: ["body"] });
        else await write(a!, ending === "replaced" ? "one file" : "parts");
        await a!.ask({ do: "sweep" });
        await b!.ask({ do: "sweep" });
        assert.equal(await b!.ask({ do: "finish get" }), digest, `${shape}, ${ending}`);
      }
      await a!.ask({ do: "delete", bucket, keys: ["body"] });
      await a!.ask({ do: "sweep" });
      assert.deepEqual(blobFiles(directory), [], "bodies are removed after the last reader");
    }
  });
  await assertClean(directory);
});

test("a read in progress completes while another process deletes the bucket", async (t) => {
  const directory = await directoryWithBucket(t);
  const value: Value = { name: "read", size: 3 * MiB };
  await withAgents(directory, 2, async (a, b) => {
    for (const shape of ["one file", "parts"]) {
      if (shape === "parts") {
        await a!.ask({ do: "create bucket", bucket });
        await a!.ask({ do: "put parts", bucket, key: "body", value, partSize: MiB });
      } else {
        await a!.ask({ do: "put", bucket, key: "body", value });
      }
      await b!.ask({ do: "begin get", bucket, key: "body" });
      await a!.ask({ do: "delete", bucket, keys: ["body"] });
      await a!.ask({ do: "delete bucket", bucket });
      assert.equal(await b!.ask({ do: "finish get" }), digestOf(bytesOf("body", value)), shape);
    }
  });
  await assertClean(directory);
});

test("a deleted body that only a killed process was reading is removed", async (t) => {
  const directory = await directoryWithBucket(t);
  const value: Value = { name: "read", size: 3 * MiB };
  await withAgents(directory, 2, async (a, b) => {
    await a!.ask({ do: "put parts", bucket, key: "body", value, partSize: MiB });
    await b!.ask({ do: "begin get", bucket, key: "body" });
    await a!.ask({ do: "delete", bucket, keys: ["body"] });
    await a!.ask({ do: "sweep" });
    assert.equal(blobFiles(directory).length, 3);
    await b!.kill();
    await a!.ask({ do: "sweep" });
    assert.deepEqual(blobFiles(directory), []);
  });
  await assertClean(directory);
});

function isCode(code: number) {
  return (error: unknown) => {
    assert.ok(error instanceof Refusal, String(error));
    assert.equal(error.code, code, error.message);
    return true;
  };
}
