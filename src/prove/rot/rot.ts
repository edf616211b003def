// Bit rot: flips random bits in every kind of stored data. Every read is correct or fails, no data
// reads as absent or is removed, and verify reports every harmful flip with the affected object.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Engine } from "../../engine/engine.ts";
import type { Damage, VerifyReport } from "../../engine/maintenance/reports.ts";
import { StoreError } from "../../model/errors.ts";
import type { Budget, Proof, ProofCounts } from "../proof.ts";
import { createRandom, type Random } from "../random.ts";
import { flipByte } from "./flip-byte.ts";
import { chooseSpot, findTargets, type Spot } from "./locations.ts";
import { type Answers, type Readings, readAnswers, readDamaged } from "./reads.ts";
import { emptyBucket, fillStore, keepPristine, openRot, type Pristine } from "./store.ts";

export const rot: Proof = {
  name: "rot",
  unit: "flips",
  bar: 10_000,
  async run(budget) {
    const directory = await mkdtemp(join(budget.folder, "store-rot-"));
    const warnings = quietly();
    try {
      await fillStore(directory);
      return await flipOften(budget, directory);
    } finally {
      warnings.end();
      await rm(directory, { recursive: true, force: true });
    }
  },
};

interface Counts {
  flips: number;
  found: number;
  harmless: number;
  refusedToOpen: number;
  failedReads: number;
  shortLists: number;
  sweeps: number;
  scrubs: number;
}

async function flipOften(budget: Budget, directory: string): Promise<ProofCounts> {
  const random = createRandom(budget.seed);
  const pristine = keepPristine(directory);
  const answers = await soundAnswers(directory);
  pristine.restore();
  const targets = findTargets(pristine.files);
  const counts: Counts = {
    ...{
      flips: 0,
      found: 0,
      harmless: 0,
      refusedToOpen: 0,
      failedReads: 0,
      shortLists: 0,
      sweeps: 0,
      scrubs: 0,
    },
  };
  let reported = Date.now();
  while (budget.more(counts.flips)) {
    const spot = chooseSpot(targets, random);
    flipByte(spot);
    try {
      await proveOne(directory, { pristine, answers, random, counts, spot });
    } catch (error) {
      const where = `${spot.kind}: ${spot.path.slice(directory.length)} at ${spot.offset}, mask ${spot.mask}`;
      throw new Error(`flip ${counts.flips} in ${where}: ${String(error)}`, { cause: error });
    }
    pristine.restore();
    counts.flips++;
    if (Date.now() - reported < 5000) continue;
    reported = Date.now();
    budget.say(`${counts.flips} flips, ${counts.found} found, ${counts.harmless} harmless`);
  }
  const { flips, found, harmless, refusedToOpen, failedReads, shortLists, sweeps, scrubs } = counts;
  return {
    ...{ flips, found, harmless, "refused to open": refusedToOpen },
    ...{ "failed reads": failedReads, "short lists": shortLists, sweeps, scrubs },
    ...{ "wrong bytes": 0, "silent absences": 0 },
  };
}

async function soundAnswers(directory: string): Promise<Answers> {
  const { engine, documents } = await openRot(directory);
  const answers = await readAnswers(engine, documents);
  assert.deepEqual((await engine.verify()).damages, [], "the store is sound before any damage");
  await engine.close();
  return answers;
}

interface Flipped {
  readonly pristine: Pristine;
  readonly answers: Answers;
  readonly random: Random;
  readonly counts: Counts;
  readonly spot: Spot;
}

async function proveOne(directory: string, flipped: Flipped): Promise<void> {
  const { pristine, answers, random, counts } = flipped;
  const opened = await openRot(directory).catch((error: unknown) => {
    assert.ok(error instanceof Error && error.message !== "", "a store that does not open gives a reason");
    return undefined;
  });
  if (opened === undefined) {
    counts.refusedToOpen++;
    counts.found++;
  } else {
    try {
      const readings = await readDamaged(opened, answers, random);
      counts.failedReads += readings.failures;
      counts.shortLists += readings.short.length;
      judge(readings, await verified(opened.engine), counts);
      if (random.below(20) === 0) await scrubbed(opened.engine, readings, counts);
      if (random.below(8) === 0) await sweep(opened.engine, counts);
    } finally {
      await opened.engine.close();
    }
  }
  assert.deepEqual(pristine.lost(), [], "a body was removed");
}

/** Returns the report of verify; undefined if verify fails with a StoreError. */
async function verified(engine: Engine): Promise<VerifyReport | undefined> {
  try {
    return await engine.verify();
  } catch (error) {
    assert.ok(error instanceof StoreError, `verify fails with ${String(error)}`);
    return undefined;
  }
}

function judge(readings: Readings, report: VerifyReport | undefined, counts: Counts): void {
  const isHarmed = readings.failures > 0 || readings.short.length > 0;
  if (report !== undefined && report.damages.length === 0) {
    assert.ok(!isHarmed, `verify finds nothing, but ${describeReadings(readings)}`);
    counts.harmless++;
    return;
  }
  counts.found++;
  if (report !== undefined) assertNamed("verify", readings, report.damages);
}

function assertNamed(who: string, { failed }: Readings, damages: readonly Damage[]): void {
  // Damage of a bucket's pages or of the registry can affect all keys.
  const isWhole = damages.some(({ bucket: of, key }) => of !== emptyBucket && key === undefined);
  for (const key of failed) {
    const isNamed = isWhole || damages.some((damage) => damage.key === key);
    assert.ok(isNamed, `${who} does not name "${key}": ${JSON.stringify(damages)}`);
  }
}

/** Runs a scrub. Like verify, it must name every object that cannot be read. */
async function scrubbed(engine: Engine, readings: Readings, counts: Counts): Promise<void> {
  counts.scrubs++;
  const damages: Damage[] = [];
  const onDamage = (damage: Damage) => damages.push(damage);
  try {
    assert.equal(await engine.scrub({ onDamage, bytesPerSecond: 1e12 }), "ended");
  } catch (error) {
    // With a damaged registry, the scrub cannot record that it runs.
    if (!(error instanceof StoreError)) throw error;
    return;
  }
  assertNamed("the scrub", readings, damages);
}

function describeReadings({ failed, short, failures }: Readings): string {
  return `${failures} reads failed (${[...failed].slice(0, 3).join(", ")}) and lists were short: ${short}`;
}

/** Runs a sweep. Even if it fails on damage, it must not remove stored data. */
async function sweep(engine: Engine, counts: Counts): Promise<void> {
  counts.sweeps++;
  await engine.sweep().catch((error: unknown) => {
    assert.ok(error instanceof StoreError, `a sweep fails with ${String(error)}`);
  });
}

/** Silences the warning of each postponed recovery, of which there are thousands. */
function quietly(): { end(): void } {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  return {
    end() {
      process.emitWarning = emitWarning;
    },
  };
}
