// On a full disk puts are refused with a clear error, reads and deletes work, and deletes free
// space.
import assert from "node:assert/strict";
import { readdirSync, realpathSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openStore } from "../../../src/index.ts";
import { bytesOf, digestOf, KiB, MiB, type Value } from "../../support/bodies.ts";
import { assertNothingLeftOver } from "../../support/disk/on-disk.ts";
import { mountSmallDisk, type SmallDisk } from "../../support/disk/small-disk.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import type { Filled } from "../agents/agent.ts";
import { type Agent, Refusal, withAgents } from "../agents/agents.ts";

const bucket = "on-a-full-disk";
const full = 10044;
const parts: Value = { name: "parts", size: 300 * KiB };

/** Calls the function with a new small disk. Skips the test if this machine cannot create one. */
async function onSmallDisk(
  t: TestContext,
  size: number,
  work: (directory: string, disk: SmallDisk) => Promise<void>,
) {
  const disk = mountSmallDisk(realpathSync(await temporaryDirectory(t)), size);
  try {
    if (disk.isSmall) await work(join(disk.directory, "store"), disk);
    else t.skip("no small disk can be mounted here");
  } finally {
    disk.remove();
  }
}

function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** Puts in rounds until a round stores nothing, since a put may fit after another was refused. */
async function fill(agent: Agent, stored: Map<string, Value>, prefix: string, size: number): Promise<void> {
  for (let round = 0; ; round++) {
    const numbered = `${prefix}${round} `;
    const { keys, refused } = await agent.ask<Filled>({ do: "fill", bucket, prefix: numbered, size });
    assert.equal(refused.code, full, `${numbered} after ${keys.length} puts: ${refused.message}`);
    for (const key of keys) stored.set(key, { name: "fill", size });
    if (keys.length === 0) return;
  }
}

async function assertReads(agent: Agent, stored: ReadonlyMap<string, Value>): Promise<void> {
  for (const [key, value] of stored) {
    assert.equal(await agent.ask({ do: "get", bucket, key }), digestOf(bytesOf(key, value)), key);
  }
  const listed = await agent.ask<string[]>({ do: "list", bucket });
  assert.deepEqual(listed, [...stored.keys()].sort().slice(0, 1000));
}

async function assertRefused(asked: Promise<unknown>, what: string): Promise<void> {
  await assert.rejects(asked, (error: unknown) => {
    assert.ok(error instanceof Refusal, String(error));
    assert.equal(error.code, full, `${what}: ${error.message}`);
    return true;
  });
}

async function assertFull(agent: Agent, stored: Map<string, Value>): Promise<void> {
  const key = "one more";
  // Database pages of other keys may have space for a few more rows.
  await fill(agent, stored, `${key} `, KiB);
  const large = { name: "late", size: MiB };
  await assertRefused(agent.ask({ do: "put", bucket, key, value: large }), "put");
  const value = { name: "late", size: 2 * MiB };
  await assertRefused(agent.ask({ do: "put parts", bucket, key, value, partSize: MiB }), "put parts");
  await assertRefused(agent.ask({ do: "create bucket", bucket: "another" }), "create bucket");
}

/** Deletes one key at a time, so that the first delete runs on the full disk. */
async function deleteSome(agent: Agent, stored: Map<string, Value>, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    await agent.ask({ do: "delete", bucket, keys: [key] });
    stored.delete(key);
  }
}

async function assertNothingHalfDone(directory: string): Promise<void> {
  const store = await openStore(directory);
  await store.sweep();
  await store.close();
  assertNothingLeftOver(directory);
}

interface Filling {
  readonly disk: number;
  readonly prefixes: readonly (readonly [prefix: string, size: number])[];
}

function fullDiskTest(name: string, { disk, prefixes }: Filling): void {
  test(name, async (t) => {
    await onSmallDisk(t, disk, async (directory) => {
      const stored = new Map<string, Value>();
      await withAgents(directory, 1, async (first) => {
        const agent = first!;
        await agent.ask({ do: "create bucket", bucket });
        await agent.ask({ do: "put parts", bucket, key: "parts", value: parts, partSize: 100 * KiB });
        stored.set("parts", parts);
        for (const [prefix, size] of prefixes) await fill(agent, stored, prefix, size);
        await assertFull(agent, stored);
        await assertReads(agent, stored);
        // A second process must also be able to read on the full disk.
        await withAgents(directory, 1, (second) => assertReads(second!, stored));
      });

      await withAgents(directory, 1, async (first) => {
        const agent = first!;
        await assertReads(agent, stored);
        // The restart may have freed some space.
        for (const [prefix, size] of prefixes) await fill(agent, stored, `${prefix}again `, size);
        await assertFull(agent, stored);
        const before = freeBytes(directory);
        const [most] = prefixes[0]!;
        const doomed = [...stored.keys()].filter((key) => key.startsWith(most));
        await deleteSome(agent, stored, doomed.slice(1));
        await agent.ask({ do: "sweep" });
        await assertReads(agent, stored);
        // Check only large bodies: the freed space of small bodies stays in the database file.
        if (prefixes[0]![1] === MiB) assert.ok(freeBytes(directory) > before, "deletes have freed space");
        for (const size of [KiB, MiB]) {
          const key = `new ${size}`;
          await agent.ask({ do: "put", bucket, key, value: { name: "new", size } });
          stored.set(key, { name: "new", size });
        }
        await assertReads(agent, stored);
        await agent.ask({ do: "close" });
      });
      await assertNothingHalfDone(directory);
      assert.ok(readdirSync(directory).includes("reserve"), "the space reserve exists again");
      t.diagnostic(`${stored.size} objects left`);
    });
  });
}

fullDiskTest("puts are refused on a disk full of large bodies, and deletes free space for new puts", {
  disk: 24 * MiB,
  prefixes: [
    ["large ", MiB],
    ["small ", KiB],
  ],
});

fullDiskTest("puts are refused on a disk full of medium-sized bodies, and deletes free space for new puts", {
  disk: 24 * MiB,
  prefixes: [
    ["middle ", 40 * KiB],
    ["small ", KiB],
  ],
});

fullDiskTest("puts are refused on a disk full of small bodies, and deletes free space for new puts", {
  disk: 12 * MiB,
  prefixes: [["small ", KiB]],
});

test("a bucket whose log has no index yet can be read on a full disk", async (t) => {
  await onSmallDisk(t, 24 * MiB, async (directory, disk) => {
    const value: Value = { name: "before", size: KiB };
    await withAgents(directory, 1, async (agent) => {
      await agent!.ask({ do: "create bucket", bucket });
      await agent!.ask({ do: "put", bucket, key: "a", value });
      await agent!.ask({ do: "close" });
    });
    for (const file of readdirSync(directory, { recursive: true, encoding: "utf8" }))
      if (/records\.db-(wal|shm)$/.test(file)) rmSync(join(directory, file));
    await withAgents(directory, 1, async (agent) => {
      disk.fill(0);
      assert.equal(await agent!.ask({ do: "get", bucket, key: "a" }), digestOf(bytesOf("a", value)));
    });
  });
});

test("deletes on a full disk succeed even if their write-ahead log exceeds the space reserve", async (t) => {
  await onSmallDisk(t, 64 * MiB, async (directory, disk) => {
    const store = await openStore(directory);
    t.after(() => store.close());
    await store.createBucket(bucket);
    const objects = store.bucket(bucket);
    const count = 6000;
    const atOnce = 200;
    const keys = Array.from({ length: count }, (_, i) => `key ${String(i).padStart(5, "0")}`);
    for (let from = 0; from < count; from += atOnce) {
      await Promise.all(keys.slice(from, from + atOnce).map((key) => objects.put(key, new Uint8Array(KiB))));
    }
    disk.fill(0);
    // The keys are far apart, so that each delete changes as many pages as possible.
    const stride = count / atOnce;
    for (let at = 0; at < stride; at++) {
      await objects.delete(Array.from({ length: atOnce }, (_, i) => keys[at + i * stride]!));
    }
    assert.deepEqual((await objects.list()).objects, []);
    disk.empty();
    assert.ok(await objects.put("after", new Uint8Array(KiB)));
  });
});
