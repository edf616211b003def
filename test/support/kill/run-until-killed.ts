// Runs a program that reports what it does and kills it at an instant that chance decides.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Random } from "../random.ts";

/** Descriptor of the pipe to the test. Written synchronously: what was said is not lost with the process. */
const pipe = 3;

/** Says something to the test, for the program that is going to be killed. */
export function say(report: unknown): void {
  writeSync(pipe, `${JSON.stringify(report)}\n`);
}

export interface Killing {
  /** Compiled file of the program. */
  readonly program: URL;
  readonly task: unknown;
  readonly random: Random;
  /** Killed after so many reports at the latest. */
  readonly reports: number;
  /** Killed when the promise resolves, instead of at an instant that chance decides. */
  readonly at?: Promise<unknown>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Everything the program said before it was killed. */
export async function runUntilKilled<T>(killing: Killing): Promise<T[]> {
  const { before, inDoubt, ended } = await runUntilCut<T>(killing, () => {});
  assert.equal(ended, "SIGKILL", `the program ended by itself with ${ended}`);
  return [...before, ...inDoubt];
}

export interface Told<T> {
  readonly before: readonly T[];
  /** What was read behind the cut, whenever it was said. */
  readonly inDoubt: readonly T[];
  /** By which signal or with which code. */
  readonly ended: string;
}

/** Cuts the ground from under the program, then kills it; it may not end before that. */
export async function runUntilCut<T>(killing: Killing, cut: () => void): Promise<Told<T>> {
  const { program, task, random, reports, at } = killing;
  const path = fileURLToPath(program);
  const child = spawn(process.execPath, [path, JSON.stringify(task)], {
    stdio: ["ignore", "inherit", "pipe", "pipe"],
    env: { ...process.env, ...killing.env },
  });
  const closed = once(child, "close");
  const complaints: Buffer[] = [];
  child.stderr!.on("data", (piece: Buffer) => complaints.push(piece));
  const before: T[] = [];
  const inDoubt: T[] = [];
  let isCut = false;
  const end = () => {
    if (isCut || child.exitCode !== null || child.signalCode !== null) return;
    isCut = true;
    cut();
    child.kill("SIGKILL");
  };
  // One time in four while it opens and recovers, else in the middle of its writes.
  const whileOpening = random.below(4) === 0 ? delay(random.between(50, 400)) : undefined;
  const last = at === undefined ? random.between(1, reports) : reports;
  (at ?? whileOpening)?.then(end, end);
  for await (const line of createInterface(child.stdio[pipe] as Readable)) {
    (isCut ? inDoubt : before).push(JSON.parse(line) as T);
    if (before.length === last) end();
  }
  const [code, signal] = await closed;
  const said = Buffer.concat(complaints).toString();
  assert.ok(isCut, `the program ended by itself with ${String(code ?? signal)}: ${said}`);
  return { before, inDoubt, ended: String(signal ?? code) };
}
