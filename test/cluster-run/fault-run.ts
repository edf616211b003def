// The fault runs: every fault so many rounds, on one cluster and with the same Store processes as long as they live;
// at the end a table of what was counted.
import { join } from "node:path";
import { createRandom } from "../support/random.ts";
import { addressesOf, type Environment } from "./environment.ts";
import { type Figures, type RoundScene, runRound } from "./fault-round.ts";
import { type Fault, faults } from "./faults.ts";
import { startLoads } from "./loads.ts";
import { openStrictly, smallTimes } from "./open-cluster.ts";
import { createPlace } from "./place.ts";

export interface FaultOptions {
  readonly rounds: number;
  /** Parts of the names of the faults that are wanted; all when none is given. */
  readonly only: readonly string[];
  readonly seed: number;
  readonly isJson: boolean;
}

const clientsOfProcess = 4;
const bucket = "shared";
/** How long the service may be away after the leader's death. */
const mostBack = 15_000;

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
  // One through each radosgw.
  const loads = await startLoads([task(0), task(1)]);
  const scene: RoundScene = {
    environment,
    loads,
    random,
    observer,
    bucket,
    place,
    silence: smallTimes.silentSeconds * 1000,
    now: () => Number(process.hrtime.bigint() - zero),
    logs: join(environment.grounds.directory, "logs"),
  };
  try {
    const wanted = faults.filter(
      ({ name }) => options.only.length === 0 || options.only.some((part) => name.includes(part)),
    );
    const told: Record<string, unknown>[] = [];
    for (const [i, fault] of wanted.entries()) told.push(await runOne(fault, `${i}`, scene, options));
    if (options.isJson) for (const line of told) console.log(JSON.stringify(line));
    else console.table(told);
  } finally {
    await loads.end();
    await observer.engine.close();
  }
}

async function runOne(fault: Fault, number: string, scene: RoundScene, { rounds, seed }: FaultOptions) {
  const all: Figures[] = [];
  for (let round = 0; round < rounds; round++) {
    try {
      const figures = await runRound(fault, scene, `${number}-${round}`);
      all.push(figures);
      console.error(`${fault.name}, round ${round + 1}: ${JSON.stringify(figures)}`);
      if (figures.back !== undefined && figures.back > mostBack) {
        throw new Error(`The service was away for ${figures.back} ms after the leader's death`);
      }
    } catch (error) {
      throw new Error(`${fault.name}, round ${round + 1}, seed ${seed}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  return summaryOf(fault, all);
}

function summaryOf({ name }: Fault, all: readonly Figures[]) {
  const sum = (of: (figures: Figures) => number) => all.reduce((total, figures) => total + of(figures), 0);
  const backs = all.flatMap(({ back }) => back ?? []).sort((a, b) => a - b);
  const refusals = all.flatMap(({ longestRefusal }) => longestRefusal ?? []);
  return {
    fault: name,
    rounds: all.length,
    operations: sum(({ operations }) => operations),
    acknowledged: sum(({ acknowledged }) => acknowledged),
    unknown: sum(({ unknown }) => unknown),
    "503": sum((figures) => figures.refusals),
    "longest 503, ms": refusals.length === 0 ? undefined : Math.max(...refusals),
    "back, median ms": backs[backs.length >> 1],
    "back, most ms": backs.at(-1),
    "collected, most ms": Math.max(...all.map(({ collected }) => collected)),
    lost: 0,
    orphans: 0,
  };
}
