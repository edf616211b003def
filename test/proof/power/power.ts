// Power cuts on ext4 and XFS: a process under load loses its file system at a random moment. Every
// acknowledged write is there afterwards, and every other write completely or not at all.
import { rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../../src/index.ts";
import type { Report, WriterTask } from "../../../src/prove/kill/object-writer.ts";
import { type Killing, runUntilCut } from "../../../src/prove/kill/run-until-killed.ts";
import { prepareVersions, versionedBucket } from "../../../src/prove/kill/version-journal.ts";
import { forgetUnsynced } from "../../support/disk/directory-entries.ts";
import { buildDiskLibrary, type DiskLibrary } from "../../support/disk/disk-library.ts";
import { content, createBucketLedger, names } from "../../support/kill/bucket-journal.ts";
import type { MakerReport, MakerTask } from "../../support/kill/bucket-writer.ts";
import { createCheckedJournal } from "../../support/kill/checked-journal.ts";
import { createRandom, type Random } from "../../support/random.ts";
import type { Budget, Figures, Proof } from "../proof.ts";
import { installTools, makeDisk, type PowerDisk } from "./disk.ts";

const buckets = ["load-one", versionedBucket];

/** The load during the cut. "new": in a new directory, whose parent folders must be synced too. */
const scenarios = ["load", "buckets", "new load", "load", "new buckets"] as const;

interface Ledger<T> {
  learn(report: T): number;
  learnInDoubt(report: T): void;
  assertRecovered(directory: string): Promise<number>;
}

/** A directory used for many cuts, with the writes it must contain. */
interface Lasting {
  readonly directory: string;
  readonly objects: Ledger<Report>;
  readonly inBuckets: { readonly directory: string; readonly ledger: Ledger<MakerReport> };
}

interface Cut {
  readonly disk: PowerDisk;
  readonly random: Random;
  /** Number of this cut, used to make values and seeds unique. */
  readonly number: number;
  readonly seed: number;
  /** If set, directory entries that were not synced are removed after the cut. */
  readonly entries: Entries | undefined;
}

interface Entries {
  readonly library: DiskLibrary;
  readonly notes: string;
}

export const power: Proof = {
  name: "power",
  unit: "cuts",
  bar: 200,
  async run(budget) {
    installTools();
    const folder = await mkdtemp(join(tmpdir(), "store-power-"));
    const disks: PowerDisk[] = [];
    try {
      for (const fileSystem of ["ext4", "xfs"] as const) disks.push(makeDisk(folder, fileSystem));
      return await cutOften(budget, disks, entriesIn(folder));
    } finally {
      for (const disk of disks) await disk.remove();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

function entriesIn(folder: string): Entries | undefined {
  const library = buildDiskLibrary(folder);
  if (library !== undefined) return { library, notes: join(folder, "notes") };
  console.error(
    "NOT TESTED: power cuts that lose directory entries that were not synced. No C compiler (cc) found.",
  );
  return undefined;
}

async function cutOften(
  budget: Budget,
  disks: readonly PowerDisk[],
  entries: Entries | undefined,
): Promise<Figures> {
  const random = createRandom(budget.seed);
  const cuts = { ext4: 0, xfs: 0 };
  let acknowledged = 0;
  let read = 0;
  let forgotten = 0;
  const lasting = new Map<PowerDisk, Lasting>();
  for (const disk of disks) lasting.set(disk, await prepareLasting(disk));
  for (let number = 0; budget.more(number); number++) {
    const disk = disks[number % disks.length]!;
    const scenario = scenarios[Math.floor(number / disks.length) % scenarios.length]!;
    // Half of the cuts also drop unsynced entries; the other cuts leave more files to clean up.
    const isStrict = random.below(2) === 0;
    const cut: Cut = { disk, random, number, seed: budget.seed, entries: isStrict ? entries : undefined };
    try {
      const done = await runScenario(scenario, cut, lasting.get(disk)!);
      acknowledged += done.acknowledged;
      read += done.read;
      forgotten += done.forgotten;
    } catch (error) {
      throw new Error(`Cut ${number} on ${disk.fileSystem}, ${scenario}: ${wordsOf(error)}`, {
        cause: error,
      });
    }
    cuts[disk.fileSystem]++;
    budget.say(`${cuts.ext4} cuts on ext4, ${cuts.xfs} on XFS, ${acknowledged} writes acknowledged`);
  }
  return {
    "cuts on ext4": cuts.ext4,
    "cuts on XFS": cuts.xfs,
    "acknowledged writes": acknowledged,
    "objects read back": read,
    "entries forgotten": forgotten,
    "lost or torn": 0,
  };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function prepareLasting(disk: PowerDisk): Promise<Lasting> {
  const directory = join(disk.directory, "load");
  await prepareBuckets(directory);
  const inBuckets = { directory: join(disk.directory, "buckets"), ledger: createBucketLedger() };
  return { directory, objects: createCheckedJournal(buckets), inBuckets };
}

/** Creates buckets. They are acknowledged, so they must exist after the first cut. */
async function prepareBuckets(directory: string): Promise<void> {
  const store = await openStore(directory);
  for (const name of buckets) await store.createBucket(name);
  await store.close();
  await prepareVersions(directory);
}

interface Done {
  readonly acknowledged: number;
  readonly read: number;
  readonly forgotten: number;
}

async function runScenario(scenario: (typeof scenarios)[number], cut: Cut, lasting: Lasting): Promise<Done> {
  const { disk, random, number, seed } = cut;
  const isNew = scenario === "new load" || scenario === "new buckets";
  const folder = join(disk.directory, `new-${number}`);
  const directory = join(folder, "a", "store");
  try {
    if (scenario === "load" || scenario === "new load") {
      if (isNew) await prepareBuckets(directory);
      const place = isNew ? directory : lasting.directory;
      const task: WriterTask = { directory: place, buckets, seed: seed + number * 1000, round: number };
      const killing = {
        program: new URL("../../../src/prove/kill/object-writer.js", import.meta.url),
        task,
        random,
        reports: isNew ? 40 : 1000,
      };
      const ledger = isNew ? createCheckedJournal(buckets) : lasting.objects;
      return await cutUnder<Report>(cut, killing, ledger, place);
    }
    const { directory: place, ledger } = isNew
      ? { directory, ledger: createBucketLedger() }
      : lasting.inBuckets;
    const task: MakerTask = { directory: place, names, content };
    const killing = {
      program: new URL("../../support/kill/bucket-writer.js", import.meta.url),
      task,
      random,
      reports: isNew ? 12 : 60,
    };
    return await cutUnder<MakerReport>(cut, killing, ledger, place);
  } finally {
    if (isNew) rmSync(folder, { recursive: true, force: true });
  }
}

async function cutUnder<T>(
  { disk, entries }: Cut,
  killing: Killing,
  ledger: Ledger<T>,
  directory: string,
): Promise<Done> {
  const env = { ...process.env, ...entries?.library.notesBy(entries.notes) };
  if (entries !== undefined) writeFileSync(entries.notes, "");
  const { before, inDoubt } = await runUntilCut<T>({ ...killing, env }, () => disk.cut());
  let acknowledged = 0;
  for (const report of before) acknowledged += ledger.learn(report);
  for (const report of inDoubt) ledger.learnInDoubt(report);
  await disk.restore();
  const forgotten = entries === undefined ? 0 : forgetUnsynced(entries.notes);
  const read = await ledger.assertRecovered(directory);
  return { acknowledged, read, forgotten };
}
