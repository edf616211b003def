// Processor time of a process and its descendants, all threads included. It is stable on a busy
// machine, where rates are not. Linux only.
import { readdirSync, readFileSync } from "node:fs";

/** Returns milliseconds of processor time so far, or NaN where /proc does not report it. */
export function processorMilliseconds(pid: number): number {
  try {
    return familyOf(pid).reduce((sum, one) => sum + threadsMilliseconds(one), 0);
  } catch {
    return Number.NaN;
  }
}

/** Returns the ids of a process and its descendants. */
export function familyOf(pid: number): number[] {
  const parents = parentsOfAll();
  return [...parents.keys()].filter((one) => one === pid || descends(one, pid, parents));
}

function descends(pid: number, ancestor: number, parents: ReadonlyMap<number, number>): boolean {
  for (let at = parents.get(pid); at !== undefined && at > 1; at = parents.get(at)) {
    if (at === ancestor) return true;
  }
  return false;
}

function parentsOfAll(): Map<number, number> {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const status = readOrEmpty(`/proc/${name}/stat`);
    // The name of the program is in parentheses and may itself contain some.
    const [, parent] = status.slice(status.lastIndexOf(")") + 2).split(" ");
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  return parents;
}

function threadsMilliseconds(pid: number): number {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [nanoseconds] = readOrEmpty(`/proc/${pid}/task/${thread}/schedstat`).split(" ");
    sum += Number(nanoseconds ?? 0) / 1e6;
  }
  return sum;
}

/** A process or thread may end between being listed and being read. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
