// Runs a program that reports what it does and kills it at an instant that chance decides.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Random } from "../support/random.ts";

/** Descriptor of the pipe to the test. Written synchronously: what was said is not lost with the process. */
const pipe = 3;

/** Says something to the test, for the program that is going to be killed. */
export function say(report: unknown): void {
  writeSync(pipe, `${JSON.stringify(report)}\n`);
}

export interface Killing {
  /** Program beside this file. */
  readonly program: string;
  readonly task: unknown;
  readonly random: Random;
  /** Killed after so many reports at the latest. */
  readonly reports: number;
  /** Killed when the promise resolves, instead of at an instant that chance decides. */
  readonly at?: Promise<unknown>;
}

/** Everything the program said before it was killed. */
export async function runUntilKilled<T>({ program, task, random, reports, at }: Killing): Promise<T[]> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, [path, JSON.stringify(task)], {
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  const closed = once(child, "close");
  const said: T[] = [];
  // One time in four while it opens and recovers, else in the middle of its writes.
  const whileOpening = random.below(4) === 0 ? delay(random.between(50, 400)) : undefined;
  const last = at === undefined ? random.between(1, reports) : reports;
  const instant = at ?? whileOpening;
  instant?.then(
    () => child.kill("SIGKILL"),
    () => child.kill("SIGKILL"),
  );
  for await (const line of createInterface(child.stdio[pipe] as Readable)) {
    said.push(JSON.parse(line) as T);
    if (said.length === last) child.kill("SIGKILL");
  }
  const [code, signal] = await closed;
  assert.equal(signal, "SIGKILL", `the program ended by itself with ${String(code)}`);
  return said;
}
