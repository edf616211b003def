// Commands that go wrong on purpose: the process dies, a write or a sync fails, the disk is full, a bit flips.
import { both, type Command, type Counts, command, count, refusalOf, tasksFor } from "./commands.ts";
import { type Doubtful, settle } from "./doubt.ts";
import type { Answer, Operation } from "./operation.ts";
import type { Flip } from "./questions.ts";
import { resolve } from "./resolve.ts";
import { assertSame, Death, type Subject } from "./subject.ts";
import type { Wanted } from "./wanted.ts";
import type { World } from "./world.ts";

function fault(shown: object, run: (world: World, subject: Subject) => Promise<void>): Command {
  return command(shown, async (world, subject) => {
    await subject.flush();
    await run(world, subject);
  });
}

export interface WantedKill {
  /** Under way at once. */
  readonly writes: readonly Wanted[];
  /** Killed before the so-manieth change to the disk. */
  readonly step: number;
  /** When it lives on: killed in the sweep behind. */
  readonly sweeps: boolean;
  /** Killed again while it recovers, so many changes in; 0 for not. */
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
  readonly writes: readonly Wanted[];
  readonly step: number;
  /** How it is restarted. */
  readonly by: "close" | "kill";
}

/** A failed sync fences the store: from the first refusal on nothing is acknowledged until it is opened anew. */
export function failSync(wanted: WantedFailure, counts: Counts): Command {
  return fault({ do: "fail sync", ...wanted }, async (world, subject) => {
    if (subject.faults === undefined) return;
    subject.faults.arm("sync", wanted.step);
    const [refused, rest] = await untilRefused(world, subject, wanted.writes);
    const hasFired = subject.faults.hasFired();
    subject.faults.disarm();
    if (hasFired) {
      count(counts, "failed syncs");
      const probe: Wanted[] = [...rest, plainPut];
      for (const one of probe) await assertFenced(world, subject, one);
    }
    await restart(subject, wanted.by);
    await settle(world, subject, refused);
  });
}

/** A failed write is refused and leaves nothing half done. */
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

/** Until one is refused for the disk's sake; that one, which may have happened, and those that are left. */
async function untilRefused(
  world: World,
  subject: Subject,
  writes: readonly Wanted[],
): Promise<[refused: Doubtful[], rest: readonly Wanted[]]> {
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

const plainPut: Wanted = {
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

async function assertFenced(world: World, subject: Subject, wanted: Wanted): Promise<void> {
  const task = world.task(await resolve(world, wanted));
  const actual = await subject.perform(task);
  const refusal = refusalOf(actual);
  if (refusal === "ServiceUnavailable") return;
  if (await isRepetition(world, task.operation)) return;
  // What is refused for its own sake was refused before any disk was asked.
  if (refusal !== undefined || /"error":/.test(actual) || actual === "null") return;
  throw new Error(`Acknowledged behind a failed sync: ${JSON.stringify(task.operation)}: ${actual}`);
}

/** An upload that was completed before is answered as it was then, and nothing is written. */
async function isRepetition(world: World, operation: Operation): Promise<boolean> {
  if (operation.do !== "s3" || operation.method !== "POST") return false;
  const id = operation.query?.find(([name]) => name === "uploadId")?.[1];
  return id !== undefined && !(await world.activeUploads()).has(id);
}

/** On a full disk writes are done or refused as such; what frees space is always done, and reads go on. */
export function fillDisk(wanted: readonly Wanted[], counts: Counts): Command {
  return fault({ do: "fill disk", wanted }, async (world, subject) => {
    if (!subject.disk.canFill) return;
    subject.disk.fill();
    try {
      for (const one of wanted) {
        const task = world.task(await resolve(world, one));
        const actual = await subject.perform(task);
        const mayBeRefused = one.do !== "delete" && one.do !== "abort";
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

export interface WantedFlip {
  readonly flip: Flip;
  readonly reads: readonly Wanted[];
}

/** With a bit flipped, every read is right or fails loudly, and a verification names the object. */
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
      throw new Error(`Not found by a verification: ${JSON.stringify(flip)} in ${hit}`);
    }
    await subject.ask({ do: "mend" });
  });
}
