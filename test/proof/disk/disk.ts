// Makes disk calls fail at random moments under load and fills the disk. No write is acknowledged
// after a failed sync, errors are clear, and every acknowledged write is there afterwards.
import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../../src/index.ts";
import { prepareVersions, versionedBucket } from "../../../src/prove/kill/version-journal.ts";
import type { WriteJournal } from "../../../src/prove/kill/write-journal.ts";
import { buildDiskLibrary } from "../../support/disk/disk-library.ts";
import { mountSmallDisk, type SmallDisk } from "../../support/disk/small-disk.ts";
import { createCheckedJournal } from "../../support/kill/checked-journal.ts";
import { createRandom, type Random } from "../../support/random.ts";
import { type Budget, type Figures, NotTested, type Proof } from "../proof.ts";
import { type Control, createControl, type Fault, faults } from "./faults.ts";
import { assertMeaning, createObserver } from "./observer.ts";
import { type DiskProcess, startDiskProcess } from "./process.ts";
import type { Life } from "./writer.ts";

const buckets = ["load-one", versionedBucket];
/** Rounds per directory. After every `livesOfProcess` rounds, the process is killed, not closed. */
const livesOfDirectory = 20;
const livesOfProcess = 15;

interface Scene {
  readonly random: Random;
  readonly seed: number;
  readonly control: Control;
  readonly disk: SmallDisk;
  readonly env: Readonly<Record<string, string>>;
  process: DiskProcess;
  directory: string;
  ledger: WriteJournal;
}

export const disk: Proof = {
  name: "disk",
  unit: "faults",
  bar: 1000,
  async run(budget) {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "store-disk-")));
    const library = buildDiskLibrary(folder);
    if (library === undefined)
      throw new NotTested("No C compiler (cc) found to build the library that makes system calls fail.");
    const control = createControl(join(folder, "control"));
    const small = mountSmallDisk(folder);
    const env = library.faultsBy(control.path);
    const scene: Scene = {
      random: createRandom(budget.seed),
      seed: budget.seed,
      control,
      disk: small,
      env,
      process: startDiskProcess(env),
      directory: "",
      ledger: createCheckedJournal(buckets),
    };
    try {
      return await failOften(budget, scene);
    } finally {
      await scene.process.kill();
      control.close();
      small.remove();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function failOften(budget: Budget, scene: Scene): Promise<Figures> {
  const kinds: readonly (Fault | "full")[] = scene.disk.isSmall ? [...faults, "full", "full"] : faults;
  const met = { failed: 0, full: 0, fences: 0, acknowledged: 0 };
  for (let life = 0; budget.more(met.failed + met.full); life++) {
    const kind = kinds[life % kinds.length]!;
    if (life % livesOfDirectory === 0) await beginDirectory(scene, life);
    try {
      const lived = await live(scene, kind, life);
      if (lived.hit) met[kind === "full" ? "full" : "failed"]++;
      if (lived.fenced) met.fences++;
      met.acknowledged += lived.acknowledged;
    } catch (error) {
      const what = kind === "full" ? "a full disk" : `${kind.what}, error ${kind.error}`;
      const words = error instanceof Error ? error.message : String(error);
      throw new Error(`Life ${life}, ${what}: ${words}`, { cause: error });
    }
    if (life % 20 === 0)
      budget.say(`${met.failed} failed calls, ${met.full} full disks, in ${life + 1} lives`);
  }
  return {
    "failed calls met": met.failed,
    "full disks met": met.full,
    "processes fenced": met.fences,
    "acknowledged writes": met.acknowledged,
    "acknowledged after a failed sync": 0,
    "lost or torn": 0,
  };
}

async function beginDirectory(scene: Scene, life: number): Promise<void> {
  if (scene.directory !== "") rmSync(scene.directory, { recursive: true, force: true });
  scene.directory = join(scene.disk.directory, `store-${life}`);
  mkdirSync(scene.directory);
  scene.ledger = createCheckedJournal(buckets);
  const store = await openStore(scene.directory);
  for (const name of buckets) await store.createBucket(name);
  await store.close();
  await prepareVersions(scene.directory);
}

interface Lived {
  readonly hit: boolean;
  readonly fenced: boolean;
  readonly acknowledged: number;
}

/** Runs one round: opens the directory, injects the fault under load, probes and checks. */
async function live(scene: Scene, kind: Fault | "full", number: number): Promise<Lived> {
  const { random, disk, control, ledger, directory } = scene;
  const observer = createObserver(ledger);
  const load = kind === "full" ? 2 : (kind.load ?? 1);
  const life: Life = {
    directory,
    buckets,
    seed: scene.seed + number * 1000,
    round: number,
    clients: 8,
    turns: 4 * load,
  };
  const opensOnBadDisk = kind !== "full" && random.below(8) === 0;
  if (opensOnBadDisk) control.arm(directory, kind, random);
  const refused = await scene.process.ask({ do: "open", life });
  if (refused !== undefined) {
    assert.ok(control.disarm().hits > 0, `the directory was not opened: ${refused.message}`);
    observer.open(refused);
    assert.equal(
      await scene.process.ask({ do: "open", life }),
      undefined,
      "the store opens after the disk works again",
    );
  }
  if (kind !== "full" && !opensOnBadDisk) control.arm(directory, kind, random);
  if (kind === "full") observer.after(random.between(1, 60), () => disk.fill(random.below(200 * 1024)));
  await scene.process.ask({ do: "take turns" }, observer.hear);
  const { hits, file } = control.disarm();
  if (kind === "full") {
    await scene.process.ask({ do: "delete" }, observer.hear);
    disk.empty();
  }
  await scene.process.ask({ do: "probe" }, observer.hear);
  const observed = observer.observed();
  assertMeaning(
    kind === "full" ? "full" : kind.means,
    { hits: refused === undefined ? hits : 0, file },
    observed,
  );
  await end(scene, number);
  await ledger.assertRecovered(directory);
  return { hit: hits > 0 || observed.fullTroubles > 0, ...observed };
}

async function end(scene: Scene, life: number): Promise<void> {
  if (life % livesOfProcess !== livesOfProcess - 1) {
    assert.equal(await scene.process.ask({ do: "close" }), undefined, "the store closes");
    return;
  }
  await scene.process.kill();
  scene.process = startDiskProcess(scene.env);
}
