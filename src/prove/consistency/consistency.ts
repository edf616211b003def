// Proof: operations of many clients in several processes on one bucket, some killed in the middle,
// are linearizable: every read, list and condition saw the latest write.
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { openStore } from "../../open.ts";
import type { Budget, Proof, ProofCounts } from "../proof.ts";
import { createRandom, type Random } from "../random.ts";
import { findViolation } from "./checker.ts";
import { readLogs } from "./log.ts";
import { findTornPage } from "./pages.ts";
import { readAll } from "./reader.ts";
import { checkVersions, turnVersioningOn } from "./versions.ts";
import type { WorkerTask } from "./worker.ts";
import { runRound, startWorkers, type WorkerPlan, type Workers } from "./workers.ts";

/** Number of processes that open the directory. */
const processes = 3;
const clientsOfProcess = 16;
/** The rounds alternate between a bucket without versions and one with versions. */
const buckets = ["shared", "shared-versions"] as const;
/** Rounds per directory; then a new directory bounds the disk space in use. */
const roundsOfDirectory = 50;

/** A front end that further clients use beside the processes that open the directory. */
export interface FrontEnd {
  readonly processes: number;
  worker(task: WorkerTask): WorkerPlan;
  end(): Promise<void>;
}

export interface ConsistencyOptions {
  readonly name: string;
  /** Operations of each process in a round. */
  readonly share: number;
  /** Keys per round, for about 400 operations per key: more would make the search slow. */
  readonly keys: number;
  /** Starts a front end on the directory. */
  readonly startFrontEnd?: (directory: string) => Promise<FrontEnd>;
  /** Checks the directory after its last round. */
  readonly afterwards?: (directory: string) => void;
}

export function createConsistencyProof(options: ConsistencyOptions): Proof {
  return {
    name: options.name,
    unit: "operations",
    bar: 1_000_000,
    async run(budget) {
      const counts = noCounts();
      const random = createRandom(budget.seed);
      while (budget.more(counts.operations)) await recordAndCheck({ budget, options, random, counts });
      return toProofCounts(counts);
    },
  };
}

type Counts = Record<keyof ReturnType<typeof noCounts>, number>;

function noCounts() {
  return {
    ...{ operations: 0, clients: 0, processes: 0, kills: 0 },
    ...{ unknown: 0, pages: 0, keys: 0, versions: 0 },
  };
}

function toProofCounts({ unknown, pages, keys, versions, ...counts }: Counts): ProofCounts {
  return { ...counts, "unknown outcomes": unknown, pages, keys, versions, violations: 0 };
}

interface Run {
  readonly budget: Budget;
  readonly options: ConsistencyOptions;
  readonly random: Random;
  readonly counts: Counts;
}

async function recordAndCheck({ budget, options, random, counts }: Run): Promise<void> {
  const directory = await mkdtemp(join(budget.folder, "store-consistency-"));
  const data = join(directory, "data");
  try {
    const store = await openStore(data);
    for (const bucket of buckets) await store.createBucket(bucket);
    await store.close();
    await turnVersioningOn(data, buckets[1]);
    const zero = process.hrtime.bigint();
    const frontEnd = await options.startFrontEnd?.(data);
    let workers: Workers | undefined;
    try {
      const task = { directory: data, buckets, clients: clientsOfProcess, zero: String(zero) };
      workers = await startWorkers([
        ...Array.from({ length: processes }, () => localWorker(task, options.share)),
        ...(frontEnd === undefined ? [] : [frontEnd.worker(task)]),
      ]);
      counts.clients = workers.plans.length * clientsOfProcess;
      counts.processes = processes + (frontEnd?.processes ?? 0);
      for (let round = 0; round < roundsOfDirectory && budget.more(counts.operations); round++) {
        await oneRound(workers, { round, random, directory, data, zero, counts, keys: options.keys });
        budget.say(
          `${counts.operations} operations, ${counts.kills} kills, ${counts.unknown} unknown outcomes`,
        );
      }
    } finally {
      await workers?.end();
      await frontEnd?.end();
    }
    const after = await openStore(data);
    await after.sweep();
    await after.close();
    options.afterwards?.(data);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function localWorker(task: WorkerTask, share: number): WorkerPlan {
  return { program: new URL("./process.js", import.meta.url), task, share };
}

interface Round {
  readonly round: number;
  readonly random: Random;
  readonly directory: string;
  readonly data: string;
  readonly zero: bigint;
  readonly counts: Counts;
  readonly keys: number;
}

async function oneRound(
  workers: Workers,
  { round, random, directory, data, zero, counts, keys: keyCount }: Round,
): Promise<void> {
  const bucket = buckets[round % buckets.length]!;
  const prefix = `round ${round}/`;
  const keys = Array.from({ length: keyCount }, (_, i) => `${prefix}${String(i).padStart(3, "0")}`);
  const logs = join(directory, "logs");
  const { paths, kills } = await runRound(workers, { bucket, logs, prefix, keys, round, random });
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
