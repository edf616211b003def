// One round of a fault: two Store processes under load, the fault in the middle, then all that must hold: the
// histories of both are linearizable, so no acknowledged write is lost; every blob is named and every named one there;
// the service came back by itself.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findViolation, type Operation } from "../proof/linearizable/checker.ts";
import { openLog, readLogs } from "../proof/linearizable/log.ts";
import { findTornPage } from "../proof/linearizable/pages.ts";
import { bindingTarget } from "../proof/linearizable/target.ts";
import type { Fault, Scene } from "./faults.ts";
import { findLeftovers, isNothing } from "./leftovers.ts";
import type { Place } from "./location.ts";
import type { OpenedStore } from "./open-cluster.ts";
import { eventually } from "./sandbox.ts";

export interface Figures {
  readonly operations: number;
  readonly acknowledged: number;
  readonly unknown: number;
  /** Answers that the service is not available, and how long the longest took, in milliseconds. */
  readonly refusals: number;
  readonly longestRefusal: number | undefined;
  /** From the leader's death to the first write that began after it and was acknowledged, in milliseconds. */
  readonly back: number | undefined;
  /** Until nothing was left of what nobody names, in milliseconds. */
  readonly collected: number;
  readonly blobs: number;
}

export interface RoundScene extends Scene {
  /** Looks at what is there once nobody writes; it had the cluster open all the time. */
  readonly observer: OpenedStore;
  readonly bucket: string;
  readonly place: Place;
  readonly logs: string;
}

const keysOfRound = 400;
/** A key sees some hundred operations: more make the search long. */
const pace = 300;
const patienceForCollection = 60_000;

export async function runRound(fault: Fault, scene: RoundScene, round: string): Promise<Figures> {
  const { loads, random, logs } = scene;
  const prefix = `${round}/`;
  const keys = Array.from({ length: keysOfRound }, (_, i) => `${prefix}${String(i).padStart(3, "0")}`);
  mkdirSync(logs, { recursive: true });
  loads.begin({ logs, round, random, prefix, keys, pace });
  await loads.goOn(random.between(20, 60));
  const { leaderDied, stoodStill } = await fault.strike(scene);
  await loads.goOn(20);
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
      throw new Error(`"${key}" has no order: ${violation}\n${died}${all.join("\n")}`);
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

/** Once nobody writes any more, every key is read: an acknowledged write that is missing has a read that shows it. */
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
  await eventually("nothing is left over", isClean, patienceForCollection).catch((error: unknown) => {
    throw new Error(`Something is left over: ${JSON.stringify(last)}`, { cause: error });
  });
  return { collected: Date.now() - begun, blobs };
}
