// Ends a child process together with its parent, also while the child's event loop is blocked: such
// a child does not notice that its pipe closed, and would keep the port from the next server.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { URL } from "node:url";
import { Worker } from "node:worker_threads";

/**
 * "signal": the kernel kills the child, which costs nothing. "thread": a thread of the child checks
 * its parent, for systems without such a signal; it takes 7.5 MiB of memory.
 */
export type DeathWatch = "signal" | "thread";

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
}

/** First message to a child of Store's own. */
export interface WatchParent {
  readonly kind: "watch parent";
  readonly watch: DeathWatch;
  readonly pid: number;
}

let foundSetpriv: { readonly path: string | undefined } | undefined;

/** What this system offers to a child that calls `watchParent`. */
export function bestDeathWatch(): DeathWatch {
  return findSetpriv() === undefined ? "thread" : "signal";
}

/** Returns a command that the kernel kills with this process, if the system can do so. */
export function withDeathSignal(command: Command): Command {
  const path = findSetpriv();
  if (path === undefined) return command;
  return { program: path, args: ["--pdeathsig", "KILL", "--", command.program, ...command.args] };
}

/** Called in the child. */
export function watchParent({ watch, pid }: WatchParent): void {
  if (watch === "signal" && keptSignal()) return;
  const program = new URL("./parent-watch-thread.js", import.meta.url);
  // The thread needs nothing of the process, which may run a script.
  new Worker(program, { workerData: pid, env: {}, resourceLimits: threadLimits }).unref();
}

/** The thread keeps nothing. */
const threadLimits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 };

/** Places of the program that asks the kernel for the signal: part of util-linux. */
const setprivPaths = ["/usr/bin/setpriv", "/bin/setpriv", "/run/current-system/sw/bin/setpriv"];

function findSetpriv(): string | undefined {
  foundSetpriv ??= { path: process.platform === "linux" ? searchSetpriv() : undefined };
  return foundSetpriv.path;
}

function searchSetpriv(): string | undefined {
  const path = setprivPaths.find((path) => existsSync(path));
  if (path === undefined) return undefined;
  // That of busybox lacks the option.
  const { status, stdout } = spawnSync(path, ["--pdeathsig", "KILL", "--", path, "--dump"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return status === 0 && /death signal: \S*KILL/i.test(stdout) ? path : undefined;
}

/** Entry of /proc/self/auxv: whether the program has rights that its user lacks. */
const secureEntry = 23n;

/** The kernel forgets the signal if Node's program file has capabilities, such as for low ports. */
function keptSignal(): boolean {
  if (!process.arch.endsWith("64")) return false;
  try {
    const entries = new BigUint64Array(new Uint8Array(readFileSync("/proc/self/auxv")).buffer);
    return entries.some(
      (type, index) => index % 2 === 0 && type === secureEntry && entries[index + 1] === 0n,
    );
  } catch {
    // Not readable for a process with more rights than its user.
    return false;
  }
}
