// Reads children, memory and open files of a process from /proc.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.split(" ").filter(Boolean).map(Number);
}

export function descendantsOf(pid: number): number[] {
  try {
    return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
  } catch {
    // The process has already ended.
    return [];
  }
}

/** Returns the ids of child processes that run a script, and of spare processes. */
export function scriptProcesses(pid: number): number[] {
  return childrenOf(pid).filter((child) => commandOf(child).includes("script/host/worker"));
}

/** Returns the command line; empty after the process has ended. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

export function isAlive(pid: number): boolean {
  // A zombie process has an empty command line.
  return commandOf(pid) !== "";
}

/** Returns the resident memory of a process in bytes. */
export function residentMemory(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return Number(kibibytes) * 1024;
}

/** Returns the paths of files below `directory` that the process has open. */
export function openFiles(pid: number, directory: string): string[] {
  return readdirSync(`/proc/${pid}/fd`)
    .map((descriptor) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${descriptor}`);
      } catch {
        return "";
      }
    })
    .filter((path) => path.startsWith(directory))
    .sort();
}

/** Polls until the condition holds; throws after a minute. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Timed out while waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
