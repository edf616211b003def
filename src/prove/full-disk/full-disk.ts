// Proof: writes that fail for lack of space are reported as failed, and no acknowledged write is
// lost. The lack of space is simulated by a limit on the size of each file.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { openStore } from "../../open.ts";
import { prepareVersions, versionedBucket } from "../kill/version-journal.ts";
import { createWriteJournal, type WriteJournal } from "../kill/write-journal.ts";
import { type Budget, NotTested, type Proof, type ProofCounts } from "../proof.ts";
import { createRandom, type Random } from "../random.ts";
import type { FailureReport, LimitedReport, LimitedTask } from "./limited-writer.ts";
import { runLimited } from "./run-limited.ts";

const buckets = ["load-one", versionedBucket];
const roundsOfDirectory = 10;
const operations = 12;
/** Limits are between these: less would not let SQLite open, more would hardly be reached. */
const [minLimit, maxLimit] = [48 * 1024, 512 * 1024];
/** After this many rounds without a failed write, the limit is taken to have no effect. */
const maxRoundsWithout = 20;

type Counts = Record<
  "rounds" | "roundsFull" | "failedOpens" | "failedWrites" | "acknowledged" | "objectsRead",
  number
>;

export const fullDisk: Proof = {
  name: "full disk",
  unit: "rounds without space",
  bar: 100,
  async run(budget) {
    const random = createRandom(budget.seed);
    const counts: Counts = {
      ...{ rounds: 0, roundsFull: 0, failedOpens: 0, failedWrites: 0, acknowledged: 0, objectsRead: 0 },
    };
    while (budget.more(counts.roundsFull)) await useDirectory(budget, random, counts);
    return toProofCounts(counts);
  },
};

function toProofCounts(counts: Counts): ProofCounts {
  const { rounds, roundsFull, failedOpens, failedWrites, acknowledged, objectsRead } = counts;
  return {
    ...{ rounds, "rounds without space": roundsFull },
    ...{ "failed opens": failedOpens, "failed writes": failedWrites },
    ...{ "acknowledged writes": acknowledged, "objects read back": objectsRead, "lost or torn": 0 },
  };
}

async function useDirectory(budget: Budget, random: Random, counts: Counts): Promise<void> {
  const directory = await mkdtemp(join(budget.folder, "store-full-"));
  try {
    const store = await openStore(directory);
    for (const name of buckets) await store.createBucket(name);
    await store.close();
    await prepareVersions(directory);
    const journal = createWriteJournal(buckets);
    for (let round = 0; round < roundsOfDirectory && budget.more(counts.roundsFull); round++) {
      const task = { directory, buckets, seed: random.below(2 ** 31), round, operations };
      // Small limits are chosen as often as large ones.
      const limitBytes = Math.round(minLimit * (maxLimit / minLimit) ** (random.below(1000) / 1000));
      await fillUp(task, limitBytes, journal, counts);
      counts.objectsRead += await journal.assertRecovered(directory);
      counts.rounds++;
      if (counts.roundsFull === 0 && counts.rounds === maxRoundsWithout)
        throw new NotTested(
          `No write failed in ${maxRoundsWithout} rounds with a limit on the size of files.`,
        );
      budget.say(`${counts.rounds} rounds, ${counts.failedWrites} failed writes`);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function fillUp(task: LimitedTask, limitBytes: number, journal: WriteJournal, counts: Counts) {
  const program = new URL("./limited-writer.js", import.meta.url);
  const before = counts.failedOpens + counts.failedWrites;
  for (const report of await runLimited<LimitedReport>({ program, task, limitBytes })) {
    if (report.said === "failure") countFailure(report, counts);
    else counts.acknowledged += journal.learn(report);
  }
  if (counts.failedOpens + counts.failedWrites > before) counts.roundsFull++;
}

function countFailure({ during, isClear, message }: FailureReport, counts: Counts): void {
  assert.ok(isClear, `not a clear error of ${during}: ${message}`);
  if (during === "open") counts.failedOpens++;
  else counts.failedWrites++;
}
