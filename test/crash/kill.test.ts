// Killed at any instant under load: no acknowledged write is lost, none is torn, no byte is orphaned.
import assert from "node:assert/strict";
import { watch } from "node:fs";
import { type TestContext, test } from "node:test";
import { openStore } from "../../src/index.ts";
import { seeded } from "../support/random.ts";
import { temporaryDirectory } from "../support/stores.ts";
import type { Report, WriterTask } from "./kill-writer.ts";
import { runUntilKilled } from "./killed.ts";
import { createLedger } from "./ledger.ts";

const rounds = 10;
const freshRounds = 4;
const buckets = ["load-one", "load-two"];

async function directoryWithBuckets(t: TestContext): Promise<string> {
  const directory = await temporaryDirectory(t);
  const store = await openStore(directory);
  for (const name of buckets) await store.createBucket(name);
  await store.close();
  return directory;
}

test("after kill -9 at any instant every acknowledged write is there, and nothing else", async (t) => {
  await seeded(async (random, seed) => {
    const directory = await directoryWithBuckets(t);
    const ledger = createLedger(buckets);
    let acknowledged = 0;
    for (let round = 0; round < rounds; round++) {
      const task: WriterTask = { directory, buckets, seed: seed + round * 1000, round };
      const killing = { program: "./kill-writer.js", task, random, reports: 500 };
      for (const report of await runUntilKilled<Report>(killing)) acknowledged += ledger.learn(report);
      await ledger.assertRecovered(directory);
    }
    assert.ok(acknowledged > rounds, "there was a load");
    t.diagnostic(`${rounds} kills, ${acknowledged} acknowledged writes`);
  });
});

test("after kill -9 in the first writes to a new directory nothing is left over", async (t) => {
  await seeded(async (random, seed) => {
    for (let round = 0; round < freshRounds; round++) {
      const directory = await directoryWithBuckets(t);
      const ledger = createLedger(buckets);
      const task: WriterTask = { directory, buckets, seed: seed + round * 1000, round };
      const killing = { program: "./kill-writer.js", task, random, reports: 20 };
      for (const report of await runUntilKilled<Report>(killing)) ledger.learn(report);
      await ledger.assertRecovered(directory);
    }
  });
});

test("after kill -9 while space is set aside for deletes on a full disk nothing is left over", async (t) => {
  await seeded(async (random, seed) => {
    const directory = await directoryWithBuckets(t);
    const task: WriterTask = { directory, buckets, seed, round: 0 };
    const ledger = createLedger(buckets);
    const at = created(directory, (name) => name.startsWith("reserve"));
    const killing = { program: "./kill-writer.js", task, random, reports: 1000, at };
    for (const report of await runUntilKilled<Report>(killing)) ledger.learn(report);
    await ledger.assertRecovered(directory);
  });
});

/** Resolves when a file with such a name appears in the directory. */
function created(directory: string, isWanted: (name: string) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(directory, { persistent: false }, (_, name) => {
      if (name === null || !isWanted(name)) return;
      watcher.close();
      resolve();
    });
  });
}
