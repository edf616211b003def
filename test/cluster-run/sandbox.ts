// The sandbox of a test cluster: one temporary folder, and processes that always end with the run.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export interface Grounds {
  readonly directory: string;
  /** Starts a process; its output is written to a file named after the process. */
  start(name: string, command: string, args: readonly string[], as?: Identity): Daemon;
  /** Registers processes that were started by our processes and must be ended with the run. */
  alsoEnd(pids: () => readonly number[]): void;
  /** Returns the last lines of a process's output. */
  lastOutput(name: string): string;
  end(): Promise<void>;
}

/** The user of a process. Default: the user of the tests. */
export interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

export interface Daemon {
  readonly name: string;
  readonly pid: number;
  isAlive(): boolean;
  signal(signal: NodeJS.Signals): void;
  /** Sends SIGKILL and waits until the process has ended. */
  kill(): Promise<void>;
}

export function createGrounds(): Grounds {
  const directory = mkdtempSync(join(tmpdir(), "store-cluster-"));
  // Make the folder accessible to other users, because some processes run as another user.
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
  // Clean up after a run that ends without calling `end`.
  const atExit = () => {
    killAll();
    remove();
  };
  process.once("exit", atExit);

  const logPath = (name: string) => join(directory, `${name}.log`);
  return {
    directory,
    start(name, command, args, as = {}) {
      if (isOver) throw new Error(`Cannot start ${name}: the run is over`);
      const output = openSync(logPath(name), "a");
      const child = spawn(command, args, { stdio: ["ignore", output, output], cwd: directory, ...as });
      closeSync(output);
      child.once("error", (error) => console.error(`Cannot start ${name}: ${error.message}`));
      children.add(child);
      child.once("exit", () => children.delete(child));
      return createDaemon(name, child);
    },
    alsoEnd: (pids) => others.push(pids),
    lastOutput: (name) => spawnSync("tail", ["-n", "15", logPath(name)], { encoding: "utf8" }).stdout,
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

/** Ends the processes, with SIGQUIT first, so that they free shared memory. */
async function quit(pids: () => readonly number[]): Promise<void> {
  for (const signal of ["SIGCONT", "SIGQUIT"] as const) for (const pid of pids()) killPid(pid, signal);
  for (let i = 0; i < 100 && pids().length > 0; i++) await delay(50);
}

function createDaemon(name: string, child: ChildProcess): Daemon {
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
    // The process has already ended.
  }
}

/** Whether the process is running; a zombie does not count. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Returns a free port below the ephemeral range, so that a killed process can reuse it. */
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

/** Thrown by a condition of `eventually` that can never hold. */
export class Hopeless extends Error {}

/** Polls until the condition holds; throws after the timeout. */
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
  throw new Error(`Timed out after ${patience / 1000} s: ${what}`, { cause: last });
}
