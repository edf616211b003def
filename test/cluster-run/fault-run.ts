// Runs every fault for a number of rounds on one cluster, and prints a table of the results. Store
// processes are reused unless a fault kills them.
import { join } from "node:path";
import { createRandom } from "../support/random.ts";
import { addressesOf, type Environment } from "./environment.ts";
import { type RoundResult, type RoundScene, runRound } from "./fault-round.ts";
import { type Fault, faults } from "./faults.ts";
import { startLoads } from "./loads.ts";
import { createPlace } from "./location.ts";
import { openStrictly, smallTimes } from "./open-cluster.ts";

export interface FaultOptions {
  readonly rounds: number;
  /** Parts of the names of faults to run. Default: all faults. */
  readonly only: readonly string[];
  readonly seed: number;
  readonly isJson: boolean;
}

const clientsOfProcess = 4;
const bucket = "shared";
/** Maximum time without service after the leader's failure. */
const maxUnavailableMilliseconds = 15_000;

export async function runFaults(environment: Environment, options: FaultOptions): Promise<void> {
  const random = createRandom(options.seed);
  const place = await createPlace(addressesOf(environment));
  const zero = process.hrtime.bigint();
  const observer = await openStrictly(place.through(0));
  await observer.engine.createBucket(bucket);
  const task = (gateway: number) => ({
    place: place.through(gateway),
    bucket,
    clients: clientsOfProcess,
    zero: String(zero),
  });
  // Each Store process uses its own radosgw.
  const loads = await startLoads([task(0), task(1)]);
  const scene: RoundScene = {
    environment,
    loads,
    random,
    observer,
    bucket,
    place,
    silence: smallTimes.processTimeoutSeconds * 1000,
    now: () => Number(process.hrtime.bigint() - zero),
    logs: join(environment.grounds.directory, "logs"),
  };
  const { rounds, only, seed } = options;
  const wanted = faults.filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)));
  const results = new Map<Fault, RoundResult[]>(wanted.map((fault) => [fault, []]));
  try {
    // Each round runs every fault once, so that an interrupted run has tried every fault.
    for (let round = 1; round <= rounds; round++) {
      for (const [fault, all] of results) all.push(await runOne(fault, round, scene, seed));
    }
  } finally {
    const lines = [...results]
      .filter(([, all]) => all.length > 0)
      .map(([fault, all]) => summarize(fault, all));
    if (options.isJson) for (const line of lines) console.log(JSON.stringify(line));
    else console.table(lines);
    await loads.end();
    await observer.engine.close();
  }
}

async function runOne(fault: Fault, round: number, scene: RoundScene, seed: number): Promise<RoundResult> {
  try {
    const results = await runRound(fault, scene, `${faults.indexOf(fault)}-${round}`);
    console.error(`${fault.name}, round ${round}: ${JSON.stringify(results)}`);
    if (results.back === undefined || results.back <= maxUnavailableMilliseconds) return results;
    throw new Error(`The service was unavailable for ${results.back} ms after the leader's failure`);
  } catch (cause) {
    // Print the failure now: stopping the cluster may hang for the same reason.
    console.error(`${fault.name}, round ${round}, fails: ${(cause as Error).message}`);
    throw new Error(`${fault.name}, round ${round}, seed ${seed}: ${(cause as Error).message}`, { cause });
  }
}

function summarize({ name }: Fault, all: readonly RoundResult[]) {
  const sum = (of: (results: RoundResult) => number) =>
    all.reduce((total, results) => total + of(results), 0);
  const backs = all.flatMap(({ back }) => back ?? []).sort((a, b) => a - b);
  const refusals = all.flatMap(({ longestRefusal }) => longestRefusal ?? []);
  return {
    fault: name,
    rounds: all.length,
    operations: sum(({ operations }) => operations),
    acknowledged: sum(({ acknowledged }) => acknowledged),
    unknown: sum(({ unknown }) => unknown),
    "503": sum((results) => results.refusals),
    "longest 503, ms": refusals.length === 0 ? undefined : Math.max(...refusals),
    "back, median ms": backs[backs.length >> 1],
    "back, most ms": backs.at(-1),
    "collected, most ms": Math.max(...all.map(({ collected }) => collected)),
    // Lost writes and orphans are always 0: the first violation ends the run.
    lost: 0,
    orphans: 0,
  };
}
