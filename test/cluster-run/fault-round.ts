// One round of a fault: two Store processes under load, a fault, then the checks. The history is
// linearizable, blobs and records agree, and the service recovers by itself.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findViolation, type Operation } from "../../src/prove/consistency/checker.ts";
import { openLog, readLogs } from "../../src/prove/consistency/log.ts";
import { findTornPage } from "../../src/prove/consistency/pages.ts";
import { bindingTarget } from "../../src/prove/consistency/target.ts";
import type { Fault, Scene } from "./faults.ts";
import { findLeftovers, isNothing } from "./leftovers.ts";
import type { Place } from "./location.ts";
import type { OpenedStore } from "./open-cluster.ts";
import { eventually } from "./sandbox.ts";

export interface RoundResult {
  readonly operations: number;
  readonly acknowledged: number;
  readonly unknown: number;
  /** Number of "service unavailable" responses, and the duration of the longest in milliseconds. */
  readonly refusals: number;
  readonly longestRefusal: number | undefined;
  /** Milliseconds from the leader's failure to the first acknowledged write that began later. */
  readonly back: number | undefined;
  /** Milliseconds until all garbage was removed. */
  readonly collected: number;
  readonly blobs: number;
}

export interface RoundScene extends Scene {
  /** The store that reads all keys after the load has stopped; it stays open. */
  readonly observer: OpenedStore;
  readonly bucket: string;
  readonly place: Place;
  readonly logs: string;
}

const keysOfRound = 400;
/** Milliseconds per group of keys: short, because long histories take too long to check. */
const pace = 300;
const patienceForCollection = 60_000;

export async function runRound(fault: Fault, scene: RoundScene, round: string): Promise<RoundResult> {
  const { loads, random, logs } = scene;
  const prefix = `${round}/`;
  const keys = Array.from({ length: keysOfRound }, (_, i) => `${prefix}${String(i).padStart(3, "0")}`);
  mkdirSync(logs, { recursive: true });
  loads.begin({ logs, round, random, prefix, keys, pace });
  await loads.waitForWrites(random.between(20, 60));
  const { leaderDied, stoodStill } = await fault.inject(scene);
  await loads.waitForWrites(20);
  const { logs: paths, counts } = await loads.stop();
  const last = join(logs, "last");
  await readAll(scene, { prefix, keys, log: last });

  const { operations, pages, count, unknown } = readLogs([...paths, last]);
  rmSync(logs, { recursive: true, force: true });
  for (const [key, history] of operations) {
    const violation = findViolation(history);
    if (violation !== undefined) {
      const all = [...history].sort((a, b) => a.begin - b.begin).map((one) => JSON.stringify(one));
      const died = leaderDied === undefined ? "" : `The leader died at ${leaderDied}.\n`;
      throw new Error(`The history of "${key}" is not linearizable: ${violation}\n${died}${all.join("\n")}`);
    }
  }
  const torn = findTornPage(pages, operations);
  if (torn !== undefined) throw new Error(torn);
  const writes = [...operations.values()].flat().filter(isAcknowledgedWrite);
  return {
    operations: count,
    acknowledged: writes.length,
    unknown,
    refusals: counts.reduce((sum, { refusals }) => sum + refusals, 0),
    longestRefusal: stoodStill ? undefined : Math.max(...counts.map(({ longestRefusal }) => longestRefusal)),
    back: leaderDied === undefined ? undefined : firstAfter(writes, leaderDied),
    ...(await collect(scene)),
  };
}

function isAcknowledgedWrite({ action, end }: Operation): boolean {
  if (end === Number.POSITIVE_INFINITY || action.kind === "read") return false;
  return action.kind === "write" || action.outcome === "stored";
}

function firstAfter(writes: readonly Operation[], instant: number): number {
  const ends = writes.filter(({ begin }) => begin > instant).map(({ end }) => end);
  return Math.round((Math.min(...ends) - instant) / 1e6);
}

/** Reads every key after the load has stopped, so that a lost acknowledged write is found. */
async function readAll(
  { observer, bucket, now }: RoundScene,
  { prefix, keys, log: path }: { prefix: string; keys: readonly string[]; log: string },
): Promise<void> {
  const log = openLog(path);
  const target = bindingTarget(observer.bucket(bucket));
  const begin = now();
  const { etags } = await target.list(prefix, prefix, 1000);
  log.page(begin, now(), Object.fromEntries(keys.map((key) => [key, etags.get(key) ?? null])));
  for (const key of etags.keys()) {
    const begin = now();
    const found = await target.get(key);
    log.read(begin, now(), key, found);
  }
  log.close();
}

async function collect({
  observer,
  loads,
  environment,
  place,
}: RoundScene): Promise<{ collected: number; blobs: number }> {
  const begun = Date.now();
  let last: unknown;
  let blobs = 0;
  const isClean = async () => {
    await observer.engine.sweep();
    await loads.sweep();
    const found = await findLeftovers(environment, place);
    last = found;
    blobs = found.blobs;
    return isNothing(found);
  };
  await eventually("there are no leftovers", isClean, patienceForCollection).catch((error: unknown) => {
    throw new Error(`There are leftovers: ${JSON.stringify(last)}`, { cause: error });
  });
  return { collected: Date.now() - begun, blobs };
}
