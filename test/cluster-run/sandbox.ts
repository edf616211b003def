// Where a cluster lives while it is tested: one temporary folder, and processes that all end with the run, whatever
// becomes of it.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export interface Grounds {
  readonly directory: string;
  /** Its output goes into a file of its name. */
  start(name: string, command: string, args: readonly string[], as?: Identity): Daemon;
  /** What a program started by one of the processes, and not by us, must be ended with. */
  alsoEnd(pids: () => readonly number[]): void;
  /** The end of what it said. */
  words(name: string): string;
  end(): Promise<void>;
}

/** Whom a process runs as; the one who tests when it is not said. */
export interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

export interface Daemon {
  readonly name: string;
  readonly pid: number;
  isAlive(): boolean;
  signal(signal: NodeJS.Signals): void;
  /** Ended for good, at once. */
  kill(): Promise<void>;
}

export function createGrounds(): Grounds {
  const directory = mkdtempSync(join(tmpdir(), "store-cluster-"));
  // Not all of them run as the one who made it.
  chmodSync(directory, 0o755);
  const children = new Set<ChildProcess>();
  const others: (() => readonly number[])[] = [];
  let isOver = false;

  function killAll(): void {
    isOver = true;
    for (const child of children) child.kill("SIGKILL");
    for (const pid of others.flatMap((pids) => pids())) killPid(pid, "SIGKILL");
  }
  function remove(): void {
    rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
  // The last resort: the run ended without saying so.
  const atExit = () => {
    killAll();
    remove();
  };
  process.once("exit", atExit);

  const wordsOf = (name: string) => join(directory, `${name}.log`);
  return {
    directory,
    start(name, command, args, as = {}) {
      if (isOver) throw new Error(`Cannot start ${name}: the run is over`);
      const output = openSync(wordsOf(name), "a");
      const child = spawn(command, args, { stdio: ["ignore", output, output], cwd: directory, ...as });
      closeSync(output);
      child.once("error", (error) => console.error(`Cannot start ${name}: ${error.message}`));
      children.add(child);
      child.once("exit", () => children.delete(child));
      return daemonOf(name, child);
    },
    alsoEnd: (pids) => others.push(pids),
    words: (name) => spawnSync("tail", ["-n", "15", wordsOf(name)], { encoding: "utf8" }).stdout,
    async end() {
      isOver = true;
      const exits = [...children].map((child) => once(child, "exit"));
      for (const child of children) child.kill("SIGKILL");
      await Promise.all(exits);
      await quit(() => others.flatMap((pids) => pids()));
      killAll();
      remove();
      process.off("exit", atExit);
    },
  };
}

/** Given the chance to free what the system would keep for them, as shared memory. */
async function quit(pids: () => readonly number[]): Promise<void> {
  for (const signal of ["SIGCONT", "SIGQUIT"] as const) for (const pid of pids()) killPid(pid, signal);
  for (let i = 0; i < 100 && pids().length > 0; i++) await delay(50);
}

function daemonOf(name: string, child: ChildProcess): Daemon {
  const isAlive = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  return {
    name,
    pid: child.pid ?? -1,
    isAlive,
    signal: (signal) => void child.kill(signal),
    async kill() {
      if (!isAlive()) return;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}

export function killPid(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

/** As /proc tells: one that has ended and was not yet asked how counts as gone. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/**
 * A port of loopback that nobody listens on, below those the system gives to connections: a process that was killed
 * comes back on the port it had.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 17_000);
    if (given.has(port)) continue;
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (!isFree) continue;
    given.add(port);
    return port;
  }
}

const given = new Set<number>();

/** Thrown by what is asked: waiting does not help. */
export class Hopeless extends Error {}

/** Asks again until it holds; who waits in vain is told for what. */
export async function eventually(
  what: string,
  holds: () => Promise<boolean> | boolean,
  patience = 60_000,
): Promise<void> {
  const deadline = Date.now() + patience;
  let last: unknown;
  while (Date.now() < deadline) {
    try {
      if (await holds()) return;
    } catch (error) {
      if (error instanceof Hopeless) throw error;
      last = error;
    }
    await delay(50);
  }
  throw new Error(`Waited ${patience / 1000} s in vain: ${what}`, { cause: last });
}
