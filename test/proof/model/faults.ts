// Commands that inject faults: a killed process, a failed write or sync, a full disk, a bit flip.
import { existsSync } from "node:fs";
import { dataLayout } from "../../../src/local/disk/layout.ts";
import { both, type Command, type Counts, command, count, refusalOf, tasksFor } from "./commands.ts";
import { type Doubtful, settle } from "./doubt.ts";
import type { Answer, Operation } from "./operation.ts";
import type { Flip } from "./questions.ts";
import { type AnyWanted, resolve } from "./resolve.ts";
import { assertSame, Death, type Subject } from "./subject.ts";
import type { World } from "./world.ts";

function fault(shown: object, run: (world: World, subject: Subject) => Promise<void>): Command {
  return command(shown, async (world, subject) => {
    await subject.flush();
    await run(world, subject);
  });
}

export interface WantedKill {
  /** Writes in flight at the same time. */
  readonly writes: readonly AnyWanted[];
  /** The process is killed before this change to the disk, counted from 1. */
  readonly step: number;
  /** Whether to run a sweep if the process survives the writes; the kill may then hit the sweep. */
  readonly sweeps: boolean;
  /** Kills the process again during recovery, before this change to the disk; 0: no second kill. */
  readonly again: number;
}

export function kill(wanted: WantedKill, counts: Counts): Command {
  return fault({ do: "kill", ...wanted }, async (world, subject) => {
    const tasks = await tasksFor(world, wanted.writes);
    subject.faults?.arm("death", wanted.step);
    const doubts = await Promise.all(
      tasks.map(async (task): Promise<Doubtful> => {
        const answer = await unlessDead(subject.ask<Answer>({ do: "begin", task }));
        return { task, answer };
      }),
    );
    if (wanted.sweeps) await unlessDead(subject.perform(world.task({ do: "sweep" })));
    count(counts, "kills");
    await subject.kill();
    if (subject.faults?.hasFired()) count(counts, "kills amid writes");
    subject.faults?.disarm();
    if (wanted.again > 0) await killRecovery(subject, wanted.again, counts);
    await subject.start();
    await settle(world, subject, doubts);
  });
}

async function unlessDead<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Death) return undefined;
    throw error;
  }
}

async function killRecovery(subject: Subject, step: number, counts: Counts): Promise<void> {
  subject.faults?.arm("death", step);
  await unlessDead(subject.start());
  await subject.kill();
  if (subject.faults?.hasFired()) count(counts, "kills amid recovery");
  subject.faults?.disarm();
}

export interface WantedFailure {
  readonly writes: readonly AnyWanted[];
  readonly step: number;
  /** How the store is restarted. */
  readonly by: "close" | "kill";
}

/** Makes a sync fail: no write may be acknowledged until the store is opened again. */
export function failSync(wanted: WantedFailure, counts: Counts): Command {
  return fault({ do: "fail sync", ...wanted }, async (world, subject) => {
    if (subject.faults === undefined) return;
    subject.faults.arm("sync", wanted.step);
    const [refused, rest] = await untilRefused(world, subject, wanted.writes);
    const hasFired = subject.faults.hasFired();
    subject.faults.disarm();
    if (hasFired) {
      count(counts, "failed syncs");
      const probe: AnyWanted[] = [...rest, plainPut];
      for (const one of probe) await assertFenced(world, subject, one);
    }
    await restart(subject, wanted.by);
    await settle(world, subject, refused);
  });
}

/** Makes a disk write fail: the operation must be refused and not partly applied. */
export function failWrite(wanted: WantedFailure, counts: Counts): Command {
  return fault({ do: "fail write", ...wanted }, async (world, subject) => {
    if (subject.faults === undefined) return;
    subject.faults.arm("write", wanted.step);
    const [refused] = await untilRefused(world, subject, wanted.writes);
    if (subject.faults.hasFired()) count(counts, "failed writes");
    subject.faults.disarm();
    await restart(subject, wanted.by);
    await settle(world, subject, refused);
  });
}

async function restart(subject: Subject, by: "close" | "kill"): Promise<void> {
  if (by === "close") return subject.ask({ do: "reopen" });
  await subject.kill();
  await subject.start();
}

/** Performs writes until the fault makes one fail; returns the failed write and the writes left. */
async function untilRefused(
  world: World,
  subject: Subject,
  writes: readonly AnyWanted[],
): Promise<[refused: Doubtful[], rest: readonly AnyWanted[]]> {
  for (const [i, one] of writes.entries()) {
    const task = world.task(await resolve(world, one));
    const actual = await subject.perform(task);
    if (refusalOf(actual) === "ServiceUnavailable") {
      return [[{ task, answer: undefined }], writes.slice(i + 1)];
    }
    assertSame(task.operation, actual, await world.apply(task));
  }
  return [[], []];
}

const plainPut: AnyWanted = {
  do: "put",
  face: "binding",
  key: "a",
  body: { size: 64, name: 0, as: "bytes" },
  condition: null,
  metadata: 0,
  checksum: "none",
  algorithm: 0,
  storageClass: "none",
  seal: null,
  payload: "signed",
};

async function assertFenced(world: World, subject: Subject, wanted: AnyWanted): Promise<void> {
  const task = world.task(await resolve(world, wanted));
  const actual = await subject.perform(task);
  const refusal = refusalOf(actual);
  if (refusal === "ServiceUnavailable") return;
  if (changesNothing(actual) || (await isRepetition(world, task.operation))) return;
  // An invalid request is refused before the disk is used.
  if (refusal !== undefined || /"error":/.test(actual) || actual === "null") return;
  throw new Error(`Acknowledged after a failed sync: ${JSON.stringify(task.operation)}: ${actual}`);
}

/** Whether no version was deleted or restored: then nothing is written. */
function changesNothing(answer: Answer): boolean {
  const parsed = JSON.parse(answer) as
    | { outcome?: string }[]
    | { restored?: string[]; deleted?: string[] }
    | null;
  if (Array.isArray(parsed))
    return parsed.every(({ outcome }) => outcome === "missing" || outcome === "locked");
  return parsed?.restored?.length === 0 && parsed.deleted?.length === 0;
}

/** Whether the operation repeats the completion of an upload, which writes nothing. */
async function isRepetition(world: World, operation: Operation): Promise<boolean> {
  if (operation.do !== "s3" || operation.method !== "POST") return false;
  const id = operation.query?.find(([name]) => name === "uploadId")?.[1];
  return id !== undefined && !(await world.activeUploads()).has(id);
}

/** Fills the disk: writes succeed or are refused for space; deletes, aborts and reads succeed. */
export function fillDisk(wanted: readonly AnyWanted[], counts: Counts): Command {
  return fault({ do: "fill disk", wanted }, async (world, subject) => {
    if (!subject.disk.canFill) return;
    await fillBesideReserve(world, subject);
    try {
      for (const one of wanted) {
        const task = world.task(await resolve(world, one));
        const actual = await subject.perform(task);
        const mayBeRefused = !(await freesSpace(world, one));
        if (mayBeRefused && refusalOf(actual) === "InsufficientStorage") count(counts, "refused for space");
        else assertSame(task.operation, actual, await world.apply(task));
      }
    } finally {
      subject.disk.free();
    }
    count(counts, "full disks");
    await both(world, subject, await resolve(world, plainPut));
  });
}

/**
 * Fills the disk around the store's reserve. If the store is using the reserve at that moment, in the
 * background, the ballast takes its space too, and no delete can succeed: fills the disk again after a
 * put has restored the reserve, and a sweep has left no work for the background.
 */
async function fillBesideReserve(world: World, subject: Subject): Promise<void> {
  const { reserve } = dataLayout(subject.disk.directory);
  for (let attempt = 0; attempt < 10; attempt++) {
    subject.disk.fill();
    if (existsSync(reserve)) return;
    subject.disk.free();
    await both(world, subject, await resolve(world, plainPut));
    await both(world, subject, { do: "sweep" });
  }
  throw new Error("The store does not restore its reserve.");
}

/** A delete that writes a delete marker needs space. */
async function freesSpace(world: World, wanted: AnyWanted): Promise<boolean> {
  if (wanted.do === "delete") return !(await world.isVersioned());
  return wanted.do === "abort" || wanted.do === "delete versions";
}

export interface WantedFlip {
  readonly flip: Flip;
  readonly reads: readonly AnyWanted[];
}

/** Flips a bit: every read must be correct or fail, and a verification must report the object. */
export function flipBit({ flip, reads }: WantedFlip, counts: Counts): Command {
  return fault({ do: "flip bit", flip, reads }, async (world, subject) => {
    const hit = await subject.ask<string | null>({ do: "flip", flip });
    if (hit === null) return;
    count(counts, `flips of ${hit}`);
    for (const one of reads) {
      const task = world.task(await resolve(world, one));
      const [expected, actual] = [await world.apply(task), await subject.perform(task)];
      if (refusalOf(actual) === "InternalError" && refusalOf(expected) !== "InternalError") continue;
      assertSame(task.operation, actual, expected);
    }
    const damages = await subject.ask<readonly { key?: string }[]>({ do: "verify" });
    if (!damages.some(({ key }) => key === flip.key)) {
      throw new Error(`A verification did not report the damage: ${JSON.stringify(flip)} in ${hit}`);
    }
    await subject.ask({ do: "mend" });
  });
}
