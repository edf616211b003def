// Proof: a store killed with SIGKILL at any moment under load loses and tears no acknowledged
// write, and has no orphaned data after it is opened again.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { openEngine, openStore } from "../../open.ts";
import type { Budget, Proof } from "../proof.ts";
import { createRandom, type Random } from "../random.ts";
import { chooseInstant } from "./instants.ts";
import type { Report, WriterTask } from "./object-writer.ts";
import { runUntilKilled } from "./run-until-killed.ts";
import { prepareVersions, versionedBucket } from "./version-journal.ts";
import { createWriteJournal, type WriteJournal } from "./write-journal.ts";

const buckets = ["load-one", "load-two", versionedBucket];
/** Number of concurrent directories: one is verified while the other is under load. */
const concurrency = 2;
/** Kills per directory; then a new directory starts from its first write. */
const killsOfDirectory = 25;
/** Minimum average number of acknowledged writes per counted kill. */
const writesOfKill = 200;
const maxReports = 2000;
const eightDays = 8 * 24 * 3600 * 1000;

/** Further checks and faults, for tests. */
export interface KillHooks {
  /** Called after each kill, before the store is opened again. */
  readonly beforeCheck?: (directory: string) => void;
  /** Called after the store was compared with the acknowledged writes and closed. */
  readonly afterRecovery?: (directory: string) => void;
  /** Called when all uploads have expired and were swept. */
  readonly afterExpiry?: (directory: string) => void;
}

export function createKillProof(hooks: KillHooks = {}): Proof {
  return {
    name: "kill",
    unit: "kills",
    bar: 1000,
    async run(budget) {
      const { kills, acknowledged, inFlight, objectsRead, directories } = await runAll(budget, hooks);
      return {
        kills,
        "acknowledged writes": acknowledged,
        "cut off in flight": inFlight,
        "objects read back": objectsRead,
        directories,
        "lost or torn": 0,
      };
    },
  };
}

type Counts = Record<keyof ReturnType<typeof noCounts>, number>;

function noCounts() {
  return { kills: 0, acknowledged: 0, inFlight: 0, objectsRead: 0, directories: 0 };
}

async function runAll(budget: Budget, hooks: KillHooks): Promise<Counts> {
  const counts = noCounts();
  let failed = false;
  const more = () => {
    const done = Math.min(counts.kills, Math.floor(counts.acknowledged / writesOfKill));
    return !failed && budget.more(done);
  };
  async function run(number: number): Promise<void> {
    const random = createRandom(budget.seed + number);
    while (more()) {
      counts.directories++;
      await liveAndDie({ random, counts, more, budget, hooks });
    }
  }
  const ended = await Promise.allSettled(
    Array.from({ length: concurrency }, (_, number) =>
      run(number).catch((error: unknown) => {
        failed = true;
        throw error;
      }),
    ),
  );
  for (const result of ended) if (result.status === "rejected") throw result.reason;
  return counts;
}

interface Life {
  readonly random: Random;
  readonly counts: Counts;
  readonly more: () => boolean;
  readonly budget: Budget;
  readonly hooks: KillHooks;
}

async function liveAndDie({ random, counts, more, budget, hooks }: Life): Promise<void> {
  const directory = await mkdtemp(join(budget.folder, "store-kill-"));
  try {
    const store = await openStore(directory);
    for (const name of buckets) await store.createBucket(name);
    await store.close();
    await prepareVersions(directory);
    const journal = createWriteJournal(buckets, hooks.afterRecovery);
    for (let round = 0; round < killsOfDirectory && more(); round++) {
      await killOnce({ directory, journal, random, round, counts, hooks });
      counts.kills++;
      if (counts.kills % 20 === 0)
        budget.say(`${counts.kills} kills, ${counts.acknowledged} acknowledged writes`);
    }
    await assertUploadsEnd(directory);
    hooks.afterExpiry?.(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

interface Kill {
  readonly directory: string;
  readonly journal: WriteJournal;
  readonly random: Random;
  readonly round: number;
  readonly counts: Counts;
  readonly hooks: KillHooks;
}

async function killOnce({ directory, journal, random, round, counts, hooks }: Kill): Promise<void> {
  const task: WriterTask = { directory, buckets, seed: random.below(2 ** 31), round };
  // The first writes to a new directory create its folders and files, so kill early.
  const reports = round === 0 ? 40 : maxReports;
  const instant = chooseInstant(directory, random, round);
  try {
    const program = new URL("./object-writer.js", import.meta.url);
    const killing = { program, task, random, reports, ...instant };
    for (const report of await runUntilKilled<Report>(killing)) {
      counts.acknowledged += journal.learn(report);
      if (report.said === "trying") counts.inFlight++;
      if (report.said === "done" || report.said === "refused") counts.inFlight--;
    }
  } finally {
    instant.close();
  }
  hooks.beforeCheck?.(directory);
  counts.objectsRead += await journal.assertRecovered(directory);
}

/** Asserts that uploads left incomplete by clients expire and are swept, and that no byte is damaged. */
async function assertUploadsEnd(directory: string): Promise<void> {
  for (const days of [eightDays, 2 * eightDays]) {
    const store = await openStore(directory, { now: () => Date.now() + days });
    await store.sweep();
    await store.close();
  }
  const { engine } = await openEngine(directory);
  try {
    for (const name of buckets) {
      const { uploads } = await engine.listUploads(name);
      assert.deepEqual(uploads, [], "no upload remains after expiry");
    }
    assert.deepEqual((await engine.verify()).damages, [], "verify finds no damage");
  } finally {
    await engine.close();
  }
}
