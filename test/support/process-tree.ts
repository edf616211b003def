// Memory and CPU time of a server as the system counts them, summed over all of its processes.
import { readFileSync } from "node:fs";
import { descendantsOf, residentMemory } from "../script/inside.ts";

/** The clock tick of /proc/PID/stat: 100 a second on every Linux that Node supports. */
const tickMilliseconds = 10;

function sumOver(pid: number, measure: (pid: number) => number): number {
  let sum = 0;
  for (const one of [pid, ...descendantsOf(pid)]) {
    try {
      sum += measure(one);
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum;
}

/** Resident bytes of the process and all of its descendants. */
export function treeMemory(pid: number): number {
  return sumOver(pid, residentMemory);
}

/** CPU time spent by the process and its descendants so far, those that have ended included. */
export function treeCpuMilliseconds(pid: number): number {
  return sumOver(pid, (one) => {
    const stat = readFileSync(`/proc/${one}/stat`, "utf8");
    // The command's name, in parentheses, may hold spaces: fields are counted after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [user, system, childUser, childSystem] = fields.slice(11, 15).map(Number);
    return (user! + system! + childUser! + childSystem!) * tickMilliseconds;
  });
}

/**
 * For how long the main thread of each process was ready to run and had no core, in milliseconds by process. What a busy
 * machine holds back is no fault of the server. Empty where the system does not count it.
 */
export function coreWaits(pid: number): ReadonlyMap<number, number> {
  const waits = new Map<number, number>();
  for (const one of [pid, ...descendantsOf(pid)]) {
    try {
      const [, nanoseconds] = readFileSync(`/proc/${one}/schedstat`, "utf8").split(" ");
      waits.set(one, Number(nanoseconds) / 1_000_000);
    } catch {
      // It has ended meanwhile.
    }
  }
  return waits;
}

/** The longest that one of the processes has waited for a core since then. */
export function longestCoreWait(pid: number, since: ReadonlyMap<number, number>): number {
  const waits = [...coreWaits(pid)].map(([one, wait]) => wait - (since.get(one) ?? 0));
  return Math.round(Math.max(0, ...waits));
}
