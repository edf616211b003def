// Runs a program, reads its reports and kills it at a random time.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Random } from "../random.ts";

/** Descriptor of the pipe to the parent process. Writes are synchronous, so a kill loses no report. */
const pipe = 3;

/** Sends a report to the parent process; called by the program that is killed. */
export function say(report: unknown): void {
  writeSync(pipe, `${JSON.stringify(report)}\n`);
}

/** Reads the task of the program that is killed. */
export function readTask<T>(): T {
  return JSON.parse(readFileSync(0, "utf8")) as T;
}

export interface Killing {
  /** Compiled file of the program. */
  readonly program: URL;
  readonly task: unknown;
  readonly random: Random;
  /** Maximum number of reports before the program is killed. */
  readonly reports: number;
  /** If given, the program is killed when this promise settles instead of at a random time. */
  readonly at?: Promise<unknown>;
  /** Environment of the program. Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs the program until it is killed; returns all reports that it sent. */
export async function runUntilKilled<T>(killing: Killing): Promise<T[]> {
  const { before, inDoubt, ended } = await runUntilCut<T>(killing, () => {});
  assert.equal(ended, "SIGKILL", `the program ended by itself with ${ended}`);
  return [...before, ...inDoubt];
}

export interface CutReports<T> {
  readonly before: readonly T[];
  /** Reports that were read after the cut, and may have been sent before it. */
  readonly inDoubt: readonly T[];
  /** Signal or exit code with which the program ended. */
  readonly ended: string;
}

/** Calls `cut`, then kills the program. Fails if the program ends earlier by itself. */
export async function runUntilCut<T>(killing: Killing, cut: () => void): Promise<CutReports<T>> {
  const { program, task, random, reports, at } = killing;
  const path = fileURLToPath(program);
  const child = spawn(process.execPath, [path], {
    stdio: ["pipe", "inherit", "pipe", "pipe"],
    env: killing.env,
    // Outside of this process group: Ctrl-C ends the proof, which then ends the program.
    detached: true,
  });
  // Ignored: a program that was killed early does not read its task.
  child.stdin!.on("error", () => {});
  child.stdin!.end(JSON.stringify(task));
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
  // One kill in four is timed to hit opening and recovery; the other kills hit writes.
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
