// Runs `store backup` and `store restore` as processes that a test can kill half way.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { program } from "../../cli/store.ts";

export interface Ended {
  /** The exit code, or the signal that ended the process. */
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
}

/** Runs a command. If it still runs after `killAfter` milliseconds, the process is killed. */
export async function runStore(
  args: readonly string[],
  killAfter?: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const begun = Date.now();
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, ...environment },
  });
  if (killAfter !== undefined) killLater(child, killAfter);
  const [stdout, stderr, [code, signal]] = await Promise.all([
    textOf(child.stdout!),
    textOf(child.stderr!),
    once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  return { code: code ?? signal!, stdout, stderr, milliseconds: Date.now() - begun };
}

function killLater(child: ChildProcess, milliseconds: number): void {
  const over = new AbortController();
  child.once("close", () => over.abort());
  delay(milliseconds, undefined, { signal: over.signal }).then(
    () => child.kill("SIGKILL"),
    () => {},
  );
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
