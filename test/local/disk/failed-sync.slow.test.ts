// The first failed sync stops the writes of the process: no later write is acknowledged, reads
// continue, and after a restart every write acknowledged before the failure exists.
import assert from "node:assert/strict";
import { readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openStore, type Store } from "../../../src/index.ts";
import { bucketPaths, dataLayout } from "../../../src/local/disk/layout.ts";
import { bytesOf, digestOf, KiB, type Value } from "../../support/bodies.ts";
import { assertBytes } from "../../support/bytes.ts";
import { assertNothingLeftOver, bucketIds } from "../../support/disk/on-disk.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import type { Stormed } from "../agents/agent.ts";
import { type Agent, Refusal, withAgents } from "../agents/agents.ts";
import { findSyncFailures } from "./sync-failures.ts";

const bucket = "on-a-bad-disk";
const small: Value = { name: "small", size: 300 };
const middle: Value = { name: "middle", size: 64 * KiB };
const large: Value = { name: "large", size: 300 * KiB };
const before = [
  ...Array.from({ length: 5 }, (_, i) => ({ key: `small before ${i}`, value: small })),
  ...Array.from({ length: 5 }, (_, i) => ({ key: `middle before ${i}`, value: middle })),
  ...Array.from({ length: 5 }, (_, i) => ({ key: `large before ${i}`, value: large })),
];

interface Scene {
  readonly agent: Agent;
  readonly database: string;
  /** The folder to which the process writes blobs. */
  readonly folder: string;
  /** The path of the next blob of the process. */
  readonly nextBlob: string;
  /** The segment to which the process appends medium-sized bodies. */
  readonly segment: string;
  failNextSyncOf(path: string): Promise<void>;
}

/**
 * Calls the function with a process that has acknowledged writes, then reopens and checks the
 * directory.
 */
async function onBadDisk(
  t: TestContext,
  work: (scene: Scene) => Promise<void>,
  look: (store: Store) => Promise<void> = async () => {},
): Promise<void> {
  const tools = await temporaryDirectory(t);
  const failures = await findSyncFailures(tools);
  if (failures === undefined) return;
  const directory = realpathSync(await temporaryDirectory(t));
  const prepare = async (agent: Agent) => {
    await agent.ask({ do: "create bucket", bucket });
    for (const { key, value } of before) await agent.ask({ do: "put", bucket, key, value });
    const { database, blobs, segments } = bucketPaths(
      dataLayout(directory),
      bucketIds(directory).get(bucket)!,
    );
    const folder = join(blobs, readdirSync(blobs)[0]!);
    const segment = join(segments, readdirSync(segments)[0]!);
    return { database, folder, segment, nextBlob: join(folder, String(readdirSync(folder).length)) };
  };
  await withAgents(
    directory,
    1,
    async (first) => {
      const agent = first!;
      const scene = await prepare(agent);
      const armed: { release(): Promise<void> }[] = [];
      const failNextSyncOf = async (path: string) => {
        armed.push(await failures.arm(agent.pid, path));
      };
      try {
        await work({ agent, ...scene, failNextSyncOf });
        await assertReads(agent);
      } finally {
        for (const { release } of armed) await release();
      }
    },
    { env: failures.env },
  );
  await assertAfterRestart(directory, look);
}

async function assertReads(agent: Agent): Promise<void> {
  for (const { key, value } of before) {
    assert.equal(await agent.ask({ do: "get", bucket, key }), digestOf(bytesOf(key, value)), key);
  }
  assert.ok((await agent.ask<string[]>({ do: "list", bucket })).length >= before.length);
}

/**
 * Checks that writes stay refused. Tries often enough that a retried sync in any thread would
 * succeed.
 */
async function assertFenced(agent: Agent): Promise<void> {
  for (let i = 0; i < 10; i++) {
    await assertUnavailable(agent.ask({ do: "put", bucket, key: `small after ${i}`, value: small }));
    await assertUnavailable(agent.ask({ do: "put", bucket, key: `middle after ${i}`, value: middle }));
    await assertUnavailable(agent.ask({ do: "put", bucket, key: `large after ${i}`, value: large }));
    await assertUnavailable(agent.ask({ do: "delete", bucket, keys: ["small before 0"] }));
  }
  await assertUnavailable(agent.ask({ do: "create bucket", bucket: "another" }));
}

async function assertUnavailable(asked: Promise<unknown>): Promise<void> {
  await assert.rejects(asked, (error: unknown) => {
    assert.ok(error instanceof Refusal, String(error));
    assert.equal(error.code, 10043, error.message);
    return true;
  });
}

async function assertAfterRestart(directory: string, look: (store: Store) => Promise<void>): Promise<void> {
  const store = await openStore(directory);
  try {
    const kept = store.bucket(bucket);
    for (const { key, value } of before) {
      assertBytes(await (await kept.get(key))!.bytes(), bytesOf(key, value), key);
    }
    // A refused write is stored completely or not at all.
    for (const { key } of (await kept.list()).objects) {
      if (/ before |^storm /.test(key)) continue;
      const value = [small, middle].find(({ name }) => key.startsWith(name)) ?? large;
      assertBytes(await (await kept.get(key))!.bytes(), bytesOf(key, value), key);
    }
    await look(store);
    await store.sweep();
  } finally {
    await store.close();
  }
  assertNothingLeftOver(directory);
}

test("a failed sync of a blob's file stops all writes of the process", async (t) => {
  await onBadDisk(t, async ({ agent, nextBlob, failNextSyncOf }) => {
    await failNextSyncOf(nextBlob);
    await assertUnavailable(agent.ask({ do: "put", bucket, key: "large victim", value: large }));
    await assertFenced(agent);
  });
});

test("a failed sync of a segment stops all writes of the process", async (t) => {
  await onBadDisk(t, async ({ agent, segment, failNextSyncOf }) => {
    await failNextSyncOf(segment);
    await assertUnavailable(agent.ask({ do: "put", bucket, key: "middle victim", value: middle }));
    await assertFenced(agent);
  });
});

test("a failed sync of a blob's folder stops all writes of the process", async (t) => {
  await onBadDisk(t, async ({ agent, folder, failNextSyncOf }) => {
    await failNextSyncOf(folder);
    await assertUnavailable(agent.ask({ do: "put", bucket, key: "large victim", value: large }));
    await assertFenced(agent);
  });
});

test("a failed sync of a folder from which a blob was removed stops all writes of the process", async (t) => {
  await onBadDisk(t, async ({ agent, folder, failNextSyncOf }) => {
    await agent.ask({ do: "put", bucket, key: "large victim", value: large });
    await agent.ask({ do: "sweep" });
    await failNextSyncOf(folder);
    await agent.ask({ do: "delete", bucket, keys: ["large victim"] });
    // Either this sweep or the background sweep removes the file and gets the error.
    await agent.ask({ do: "sweep" }).catch(() => {});
    await assertFenced(agent);
  });
});

test("a failed sync of the write-ahead log of the records stops all writes of the process", async (t) => {
  await onBadDisk(t, async ({ agent, database, failNextSyncOf }) => {
    await failNextSyncOf(`${database}-wal`);
    await assertUnavailable(agent.ask({ do: "put", bucket, key: "small victim", value: small }));
    await assertFenced(agent);
  });
});

test("a failed sync of the folder of a new write-ahead log stops all writes of the process", async (t) => {
  await onBadDisk(t, async ({ agent, database, failNextSyncOf }) => {
    await agent.ask({ do: "create bucket", bucket: "new" });
    const root = join(database, "../../..");
    await failNextSyncOf(bucketPaths(dataLayout(root), bucketIds(root).get("new")!).directory);
    await assertUnavailable(agent.ask({ do: "put", bucket: "new", key: "small victim", value: small }));
    await assertFenced(agent);
  });
});

test("a failed sync of the write-ahead log of the registry stops all writes of the process", async (t) => {
  await onBadDisk(
    t,
    async ({ agent, database, failNextSyncOf }) => {
      const root = join(database, "../../..");
      await failNextSyncOf(join(root, "registry.db-wal"));
      await assertUnavailable(agent.ask({ do: "create bucket", bucket: "victim" }));
      await assertFenced(agent);
    },
    async (store) => {
      const names = (await store.listBuckets()).map(({ name }) => name);
      if (!names.includes("victim")) await store.createBucket("victim");
      await store.bucket("victim").put("key", "value");
    },
  );
});

for (const [what, size] of [
  ["small bodies", 300],
  ["medium-sized bodies", 20 * KiB],
  ["large bodies", 300 * KiB],
] as const) {
  test(`after a failed sync none of several concurrent puts of ${what} is acknowledged`, async (t) => {
    let stormed: Stormed | undefined;
    await onBadDisk(
      t,
      async ({ agent, database, failNextSyncOf }) => {
        await agent.ask({ do: "begin storm", bucket, writers: 64, size });
        await failNextSyncOf(`${database}-wal`);
        stormed = await agent.ask<Stormed>({ do: "end storm" });
        const codes = new Set(stormed.refusals.map(({ code }) => code));
        assert.deepEqual([...codes], [10043]);
        assert.equal(stormed.refusals.length, 64, "every writer was refused in the end");
        assert.equal(stormed.late, 0, "puts acknowledged after the first was refused");
        await assertFenced(agent);
      },
      async (store) => {
        for (const [key, name] of Object.entries(stormed?.acknowledged ?? {})) {
          const found = await (await store.bucket(bucket).get(key))!.bytes();
          const names = [name, String(Number(name) + 1)];
          const isWhole = names.some((each) => bytesOf(key, { name: each, size }).equals(found));
          assert.ok(isWhole, `"${key}" is as acknowledged, or as tried after that`);
        }
      },
    );
  });
}

test("a failed sync of the database during a checkpoint stops all writes of the process", async (t) => {
  await onBadDisk(t, async ({ agent, database, failNextSyncOf }) => {
    await failNextSyncOf(database);
    await agent.ask({ do: "begin storm", bucket, writers: 16, size: 3 * KiB });
    const { refusals, late } = await agent.ask<Stormed>({ do: "end storm" });
    assert.deepEqual([...new Set(refusals.map(({ code }) => code))], [10043]);
    assert.equal(late, 0, "puts acknowledged after the first was refused");
    await assertFenced(agent);
  });
});
