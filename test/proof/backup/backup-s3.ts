// Backs up a store under load to a second Store server and kills the backups at random moments, with
// retention in between. Each complete backup must restore what was acknowledged before it began.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertCopy, type Churn, type Progress, whileWriting } from "../../local/backup/churn.ts";
import { type Ended, runStore } from "../../local/backup/command.ts";
import { createRandom, type Random } from "../../support/random.ts";
import type { Budget, Figures, Proof } from "../proof.ts";
import { type StoreService, startStoreService } from "./store-service.ts";

const processes = 2;
const bucket = "backups";
/** After this many rounds, a new repository is used. Every second one is encrypted. */
const roundsPerRepository = 4;

export const backupS3: Proof = {
  name: "backup-s3",
  unit: "kills",
  bar: 20,
  async run(budget) {
    const directory = await mkdtemp(join(tmpdir(), "store-proof-"));
    try {
      const service = await startStoreService(join(directory, "service"), bucket);
      try {
        return await prove(directory, budget, service);
      } finally {
        await service.end();
      }
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
};

/** Progress of the writers before and after a backup, to check its contents. */
interface Bounds {
  readonly before: Progress;
  readonly after: Progress;
}

type Counts = Record<
  | "kills"
  | "backups"
  | "backups removed"
  | "restores"
  | "restores killed"
  | "older backups restored"
  | "objects"
  | "acknowledged writes",
  number
>;

interface Scene {
  readonly directory: string;
  readonly data: string;
  readonly churn: Churn;
  readonly random: Random;
  readonly counts: Counts;
  readonly environment: Readonly<Record<string, string>>;
  /** Address of the bucket of the second server. */
  readonly url: string;
  /** Duration of the last run of each command, in milliseconds. */
  readonly took: Map<string, number>;
}

async function prove(directory: string, budget: Budget, service: StoreService): Promise<Figures> {
  const { environment } = service;
  const url = `s3://${service.host}/${bucket}`;
  const counts: Counts = {
    ...{ kills: 0, backups: 0, "backups removed": 0, restores: 0, "restores killed": 0 },
    ...{ "older backups restored": 0, objects: 0, "acknowledged writes": 0 },
  };
  const data = join(directory, "data");
  await writeFile(join(directory, "backup.key"), "ab".repeat(32), { mode: 0o600 });
  await whileWriting(data, processes, async (churn) => {
    const random = createRandom(budget.seed);
    const scene: Scene = { ...{ directory, data, churn, random, counts, environment, url }, took: new Map() };
    for (let number = 0; budget.more(counts.kills); number++) await proveRepository(scene, number, budget);
    for (const { acknowledged } of (await churn.progress()).values())
      counts["acknowledged writes"] += acknowledged;
  });
  return counts;
}

interface Repository {
  readonly url: string;
  readonly keyArguments: readonly string[];
  /** The backups that are known to be complete. */
  readonly complete: Map<string, Bounds>;
}

async function proveRepository(scene: Scene, number: number, budget: Budget): Promise<void> {
  const { counts, random, directory, data, churn } = scene;
  const keyArguments = number % 2 === 0 ? [] : ["--key-file", join(directory, "backup.key")];
  const repository: Repository = { url: `${scene.url}/${number}`, keyArguments, complete: new Map() };
  for (let round = 0; round < roundsPerRepository && budget.more(counts.kills); round++) {
    const keep = random.below(2) === 0 ? [] : ["--keep", "1d,1w"];
    const args = ["backup", "--data", data, "--to", repository.url, ...keyArguments, ...keep, "--json"];
    await killBackup(scene, repository, args);
    const before = await churn.progress();
    const { backup, removedBackups } = JSON.parse((await succeed(scene, args)).stdout);
    counts.backups++;
    counts["backups removed"] += removedBackups;
    repository.complete.set(backup, { before, after: await churn.progress() });
    await settle(scene, repository, undefined);
    await restoreAndCompare(scene, repository, backup);
    const older = [...repository.complete.keys()].filter((name) => name !== backup);
    if (older.length > 0 && random.below(2) === 0) {
      await restoreAndCompare(scene, repository, random.pick(older));
      counts["older backups restored"]++;
    }
    budget.say(`${counts.kills} kills, ${counts.backups} backups, ${counts.objects} objects restored`);
  }
}

/** Kills a backup. What was complete must still be there, unless retention removed it. */
async function killBackup(scene: Scene, repository: Repository, args: readonly string[]): Promise<void> {
  const { churn, counts } = scene;
  const before = await churn.progress();
  const ended = await runKilled(scene, args);
  if (ended.code === "SIGKILL") counts.kills++;
  const completed = await settle(scene, repository, { before, after: await churn.progress() });
  for (const backup of completed) await restoreAndCompare(scene, repository, backup);
}

/**
 * Lists the backups, and compares the list with those that must be and may be there. Returns those
 * that were completed by a killed process.
 */
async function settle(scene: Scene, { url, keyArguments, complete }: Repository, bounds: Bounds | undefined) {
  const listed = await runStore(
    ["backup", "list", "--from", url, ...keyArguments, "--json"],
    undefined,
    scene.environment,
  );
  // A backup that was killed before its first object leaves no repository.
  if (listed.code !== 0 && complete.size === 0) {
    assert.match(listed.stderr, /There are no backups at/);
    return [];
  }
  assert.equal(listed.code, 0, listed.stderr);
  const found: { readonly backup: string; readonly isDamaged?: true }[] = JSON.parse(listed.stdout);
  assert.deepEqual(
    found.filter(({ isDamaged }) => isDamaged),
    [],
  );
  const names = new Set(found.map(({ backup }) => backup));
  const newest = [...complete.keys()].at(-1);
  const completed: string[] = [];
  for (const { backup } of found) {
    if (complete.has(backup)) continue;
    // Only a backup that was killed after its manifest was written is unknown here.
    assert.ok(bounds !== undefined, `${backup} appeared by itself`);
    complete.set(backup, bounds);
    completed.push(backup);
    scene.counts.backups++;
  }
  if (newest !== undefined && names.size > 0 && bounds !== undefined && names.has(newest) === false)
    assert.ok(
      [...names].some((name) => name > newest),
      "the latest complete backup was lost",
    );
  for (const name of [...complete.keys()]) if (!names.has(name)) complete.delete(name);
  assert.ok(complete.size > 0 || newest === undefined, "complete backups were lost");
  return completed;
}

async function restoreAndCompare(scene: Scene, repository: Repository, backup: string): Promise<void> {
  const { directory, random, counts } = scene;
  const { url, keyArguments, complete } = repository;
  const target = join(directory, "restored");
  const args = ["restore", "--from", url, "--backup", backup, "--data", target, ...keyArguments];
  if (random.below(3) === 0) {
    const ended = await runKilled(scene, args);
    if (ended.code === "SIGKILL") counts["restores killed"]++;
  }
  const isRestored =
    existsSync(join(target, "registry.db")) && !existsSync(join(target, "restore.unfinished"));
  if (!isRestored) await succeed(scene, args);
  const { before, after } = complete.get(backup)!;
  counts.objects += await assertCopy(target, before, after);
  counts.restores++;
  await rm(target, { recursive: true });
}

async function succeed({ took, environment }: Scene, args: readonly string[]): Promise<Ended> {
  const ended = await runStore(args, undefined, environment);
  assert.equal(ended.code, 0, `store ${args.join(" ")}: ${ended.stderr}`);
  took.set(args[0]!, ended.milliseconds);
  return ended;
}

/** Runs a command and kills it at a random time, unless it has ended before. */
async function runKilled({ took, random, environment }: Scene, args: readonly string[]): Promise<Ended> {
  const ended = await runStore(args, random.between(1, took.get(args[0]!) ?? 3000), environment);
  assert.ok(ended.code === "SIGKILL" || ended.code === 0, `store ${args.join(" ")}: ${ended.stderr}`);
  return ended;
}
