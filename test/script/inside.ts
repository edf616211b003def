// What the system knows of a process: its children, its memory, the files it holds.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.split(" ").filter(Boolean).map(Number);
}

export function descendantsOf(pid: number): number[] {
  try {
    return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
  } catch {
    // It has ended meanwhile.
    return [];
  }
}

/** Those that run scripts, or wait for one. */
export function scriptProcesses(pid: number): number[] {
  return childrenOf(pid).filter((child) => commandOf(child).includes("script/host/worker"));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

export function isAlive(pid: number): boolean {
  // One that has ended and was not yet asked how has no command any more.
  return commandOf(pid) !== "";
}

/** In bytes. */
export function residentMemory(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return Number(kibibytes) * 1024;
}

/** Paths of the files below the folder that it holds open. */
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

/** Waits for what nobody tells: the system is asked again and again. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
