// Proof: operations of many clients in several processes on one bucket, some killed in the middle,
// are linearizable: every read, list and condition saw the latest write.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../../src/index.ts";
import { assertNothingLeftOver } from "../../support/disk/on-disk.ts";
import { createRandom, type Random } from "../../support/random.ts";
import type { Budget, Proof } from "../proof.ts";
import { findViolation } from "./checker.ts";
import { readLogs } from "./log.ts";
import { findTornPage } from "./pages.ts";
import { readAll } from "./reader.ts";
import { s3ProcessCount, startS3Beside } from "./s3.ts";
import { checkVersions, turnVersioningOn } from "./versions.ts";
import { runRound, startWorkers, type Workers } from "./workers.ts";

/** Number of processes that open the directory, in addition to two processes of the S3 API. */
const processes = 3;
const clientsOfProcess = 16;
/** The rounds alternate between a bucket without versions and one with versions. */
const buckets = ["shared", "shared-versions"] as const;
/** Keys per round: about 400 operations per key; more operations would make the search slow. */
const keysOfRound = 48;
const shareOfProcess = 5000;
/** Operations per round through S3: fewer, because each opens its own connection and is slower. */
const shareOfS3 = 1200;

export const linearizable: Proof = {
  name: "linearizable",
  unit: "operations",
  bar: 1_000_000,
  async run(budget) {
    const directory = await mkdtemp(join(tmpdir(), "store-linearizable-"));
    const data = join(directory, "data");
    try {
      const store = await openStore(data);
      for (const bucket of buckets) await store.createBucket(bucket);
      await store.close();
      await turnVersioningOn(data, buckets[1]);
      const figures = await recordAndCheck(budget, directory, data);
      const after = await openStore(data);
      await after.sweep();
      await after.close();
      assertNothingLeftOver(data);
      return figures;
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
};

function noCounts() {
  return {
    operations: 0,
    clients: (processes + 1) * clientsOfProcess,
    processes: processes + s3ProcessCount,
    kills: 0,
    unknown: 0,
    pages: 0,
    keys: 0,
    versions: 0,
  };
}

async function recordAndCheck(budget: Budget, directory: string, data: string) {
  const zero = process.hrtime.bigint();
  const random = createRandom(budget.seed);
  const counts = noCounts();
  const s3 = await startS3Beside(data);
  let workers: Workers | undefined;
  try {
    const task = { directory: data, buckets, clients: clientsOfProcess, zero: String(zero) };
    workers = await startWorkers(processes, task, s3);
    for (let round = 0; budget.more(counts.operations); round++) {
      await oneRound(workers, { round, random, directory, data, zero, counts });
      budget.say(
        `${counts.operations} operations, ${counts.kills} kills, ${counts.unknown} unknown outcomes`,
      );
    }
  } finally {
    await workers?.end();
    await s3.end();
  }
  const { operations, clients, processes: all, kills, unknown, pages, keys, versions } = counts;
  return {
    operations,
    clients,
    processes: all,
    kills,
    "unknown outcomes": unknown,
    pages,
    keys,
    versions,
    violations: 0,
  };
}

interface Round {
  readonly round: number;
  readonly random: Random;
  readonly directory: string;
  readonly data: string;
  readonly zero: bigint;
  readonly counts: ReturnType<typeof noCounts>;
}

async function oneRound(
  workers: Workers,
  { round, random, directory, data, zero, counts }: Round,
): Promise<void> {
  const bucket = buckets[round % buckets.length]!;
  const prefix = `round ${round}/`;
  const keys = Array.from({ length: keysOfRound }, (_, i) => `${prefix}${String(i).padStart(3, "0")}`);
  const logs = join(directory, "logs");
  const plan = { bucket, logs, prefix, keys, share: shareOfProcess, shareOfS3, round, random };
  const { paths, kills } = await runRound(workers, plan);
  const last = join(logs, "last");
  await readAll({ data, bucket, prefix, keys, log: last, zero });

  const { operations, pages, count, unknown } = readLogs([...paths, last]);
  await rm(logs, { recursive: true, force: true });
  for (const [key, history] of operations) {
    const violation = findViolation(history);
    if (violation !== undefined)
      throw new Error(`"${key}" has a history that is not linearizable: ${violation}`);
  }
  const torn = findTornPage(pages, operations);
  if (torn !== undefined) throw new Error(torn);
  if (bucket === buckets[1]) counts.versions += await checkVersions(data, bucket, prefix, operations);
  counts.operations += count;
  counts.unknown += unknown;
  counts.pages += pages.length;
  counts.keys += operations.size;
  counts.kills += kills;
}
