// Takes backups of a store while several processes write to it, restores each and compares it with
// the writes acknowledged before the backup. Backups, restores and writers are also killed.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../../src/index.ts";
import { verifyBackup } from "../../../src/maintenance.ts";
import { BackupError } from "../../../src/model/backup.ts";
import { assertCopy, type Churn, type Progress, whileWriting } from "../../local/backup/churn.ts";
import { runStore } from "../../local/backup/command.ts";
import { createRandom, type Random } from "../../support/random.ts";
import type { Budget, Figures, Proof } from "../proof.ts";

const processes = 3;
/** After this many backups, a new backup directory is used and a writer is killed. */
const newPlaceEvery = 5;
/** A store grows with each killed writer, and backups with it; after this many places, a new one. */
const placesPerStore = 2;

export const backup: Proof = {
  name: "backup",
  unit: "backups",
  bar: 50,
  async run(budget) {
    const directory = await mkdtemp(join(tmpdir(), "store-proof-"));
    try {
      return await prove(directory, budget);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
};

/** Progress of the writers before and after the last complete backup, to check its contents. */
interface Complete {
  readonly before: Progress;
  readonly after: Progress;
}

type Counts = Record<
  "backups" | "objects" | "backups killed" | "restores killed" | "writers killed" | "acknowledged writes",
  number
>;

interface Scene {
  readonly directory: string;
  readonly data: string;
  readonly churn: Churn;
  readonly random: Random;
  readonly counts: Counts;
  /** Duration of the last run of each command, in milliseconds. */
  readonly took: Map<string, number>;
}

async function prove(directory: string, budget: Budget): Promise<Figures> {
  const random = createRandom(budget.seed);
  const took = new Map<string, number>();
  const counts: Counts = {
    backups: 0,
    objects: 0,
    "backups killed": 0,
    "restores killed": 0,
    "writers killed": 0,
    "acknowledged writes": 0,
  };
  while (budget.more(counts.backups)) {
    const data = join(directory, "data");
    await whileWriting(data, processes, (churn) =>
      proveOneStore({ directory, data, churn, random, counts, took }, budget),
    );
    await rm(data, { recursive: true });
  }
  return counts;
}

async function proveOneStore(scene: Scene, budget: Budget): Promise<void> {
  const { directory, counts, churn, random } = scene;
  for (let place = 0; place < placesPerStore && budget.more(counts.backups); place++) {
    await proveOnePlace(scene, join(directory, `backup-${place}`), budget);
    await churn.replaceOne(random.below(processes));
    counts["writers killed"]++;
  }
  for (const { acknowledged } of (await churn.progress()).values())
    counts["acknowledged writes"] += acknowledged;
}

async function proveOnePlace(scene: Scene, place: string, budget: Budget): Promise<void> {
  const { counts, random, directory, churn } = scene;
  let complete: Complete | undefined;
  for (let round = 0; round < newPlaceEvery && budget.more(counts.backups); round++) {
    if (random.below(2) === 0) complete = await killBackup(scene, place, complete);
    const before = await churn.progress();
    await succeed(scene, ["backup", "--data", scene.data, "--to", place]);
    complete = { before, after: await churn.progress() };
    const target = join(directory, "restored");
    if (random.below(2) === 0) await killRestore(scene, place, target);
    if (!isComplete(target)) await succeed(scene, ["restore", "--from", place, "--data", target]);
    counts.objects += await assertCopy(target, complete.before, complete.after);
    await rm(target, { recursive: true });
    counts.backups++;
    budget.say(`${counts.backups} backups restored, ${counts.objects} objects read`);
  }
  await rm(place, { recursive: true });
}

function isComplete(target: string): boolean {
  return existsSync(join(target, "registry.db")) && !existsSync(join(target, "restore.unfinished"));
}

async function succeed({ took }: Scene, args: readonly string[]): Promise<void> {
  const { code, stderr, milliseconds } = await runStore(args);
  assert.equal(code, 0, `store ${args.join(" ")}: ${stderr}`);
  took.set(args[0]!, milliseconds);
}

/** Kills the command at a random time; returns false if the command finished earlier. */
async function kill({ took, random }: Scene, args: readonly string[]): Promise<boolean> {
  const { code, stderr } = await runStore(args, random.between(1, took.get(args[0]!) ?? 2000));
  if (code === 0) return false;
  assert.equal(code, "SIGKILL", stderr);
  return true;
}

/** Kills a backup. Its directory must then hold the earlier backup, the new backup or none. */
async function killBackup(
  scene: Scene,
  place: string,
  earlier: Complete | undefined,
): Promise<Complete | undefined> {
  const { churn, counts, directory } = scene;
  const before = await churn.progress();
  if (await kill(scene, ["backup", "--data", scene.data, "--to", place])) counts["backups killed"]++;
  const after = await churn.progress();
  const found = await verifyBackup(place).catch((error: unknown) => error);
  if (found instanceof BackupError) {
    assert.equal(earlier, undefined, `a complete backup was lost: ${found.message}`);
    return undefined;
  }
  if (found instanceof Error) throw found;
  assert.deepEqual(
    (found as Awaited<ReturnType<typeof verifyBackup>>).damages,
    [],
    "the backup has no damage",
  );
  const target = join(directory, "after a kill");
  await succeed(scene, ["restore", "--from", place, "--data", target]);
  // The kill may have come after this backup completed, so the bounds cover both runs.
  const complete = { before: earlier?.before ?? before, after };
  counts.objects += await assertCopy(target, complete.before, complete.after);
  await rm(target, { recursive: true });
  return complete;
}

async function killRestore(scene: Scene, place: string, target: string): Promise<void> {
  if (!(await kill(scene, ["restore", "--from", place, "--data", target]))) return;
  scene.counts["restores killed"]++;
  if (existsSync(join(target, "restore.unfinished"))) await assert.rejects(openStore(target), /not finished/);
}
