// Proof: a store killed with SIGKILL at any moment under load loses and tears no acknowledged
// write, and has no orphaned bytes, rows, files or descriptors after it is opened again.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../../src/index.ts";
import { assertNothingLeftOver, countUploads } from "../../support/disk/on-disk.ts";
import type { Report, WriterTask } from "../../support/kill/object-writer.ts";
import { runUntilKilled } from "../../support/kill/run-until-killed.ts";
import { prepareVersions, versionedBucket } from "../../support/kill/version-journal.ts";
import { createLedger, type Ledger } from "../../support/kill/write-journal.ts";
import { createRandom, type Random } from "../../support/random.ts";
import type { Budget, Proof } from "../proof.ts";
import { chooseInstant } from "./instants.ts";

const buckets = ["load-one", "load-two", versionedBucket];
/** Number of concurrent directories: one is verified while the other is under load. */
const lanes = 2;
/** Kills per directory; then a new directory starts from its first write. */
const killsOfDirectory = 25;
/** Minimum average number of acknowledged writes per counted kill. */
const writesOfKill = 200;
const mostReports = 2000;
const eightDays = 8 * 24 * 3600 * 1000;

export const kill: Proof = {
  name: "kill",
  unit: "kills",
  bar: 1000,
  async run(budget) {
    const { kills, acknowledged, inFlight, objectsRead, directories } = await runLanes(budget);
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

type Counts = Record<keyof ReturnType<typeof noCounts>, number>;

function noCounts() {
  return { kills: 0, acknowledged: 0, inFlight: 0, objectsRead: 0, directories: 0 };
}

async function runLanes(budget: Budget): Promise<Counts> {
  const counts = noCounts();
  let failed = false;
  const more = () => {
    const done = Math.min(counts.kills, Math.floor(counts.acknowledged / writesOfKill));
    return !failed && budget.more(done);
  };
  async function run(lane: number): Promise<void> {
    const random = createRandom(budget.seed + lane);
    while (more()) {
      counts.directories++;
      await liveAndDie({ random, counts, more, say: budget.say });
    }
  }
  const ended = await Promise.allSettled(
    Array.from({ length: lanes }, (_, lane) =>
      run(lane).catch((error: unknown) => {
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
  readonly say: Budget["say"];
}

async function liveAndDie({ random, counts, more, say }: Life): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "store-kill-"));
  try {
    const store = await openStore(directory);
    for (const name of buckets) await store.createBucket(name);
    await store.close();
    await prepareVersions(directory);
    const ledger = createLedger(buckets);
    for (let round = 0; round < killsOfDirectory && more(); round++) {
      await killOnce({ directory, ledger, random, round, counts });
      counts.kills++;
      if (counts.kills % 20 === 0) say(`${counts.kills} kills, ${counts.acknowledged} acknowledged writes`);
    }
    await assertUploadsEnd(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

interface Kill {
  readonly directory: string;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly round: number;
  readonly counts: Counts;
}

async function killOnce({ directory, ledger, random, round, counts }: Kill): Promise<void> {
  const task: WriterTask = { directory, buckets, seed: random.below(2 ** 31), round };
  // The first writes to a new directory create its folders and files, so kill early.
  const reports = round === 0 ? 40 : mostReports;
  const instant = chooseInstant(directory, random, round);
  try {
    const killing = {
      program: new URL("../../support/kill/object-writer.js", import.meta.url),
      task,
      random,
      reports,
      ...instant,
    };
    for (const report of await runUntilKilled<Report>(killing)) {
      counts.acknowledged += ledger.learn(report);
      if (report.said === "trying") counts.inFlight++;
      if (report.said === "done" || report.said === "refused") counts.inFlight--;
    }
  } finally {
    instant.close();
  }
  counts.objectsRead += await ledger.assertRecovered(directory);
}

/** Asserts that uploads left incomplete by clients expire and are swept. */
async function assertUploadsEnd(directory: string): Promise<void> {
  for (const days of [eightDays, 2 * eightDays]) {
    const store = await openStore(directory, { now: () => Date.now() + days });
    await store.sweep();
    await store.close();
  }
  assertNothingLeftOver(directory);
  assert.equal(countUploads(directory), 0, "no upload record remains after expiry");
}
