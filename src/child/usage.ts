// Reads the processor time of another process's main thread, and whether it sleeps. A process that
// waits to be scheduled on a busy machine uses no time and does not sleep.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { promisify } from "node:util";

export interface ThreadUsage {
  readonly cpuMilliseconds: number;
  /** Whether the thread waits for anything but a processor. */
  readonly isSleeping: boolean;
}

/** Linux reports the time in ticks of 10 ms. */
const tickMilliseconds = 10;

/** Reads the usage of the main thread; undefined if the process has ended. */
export async function mainThreadUsage(pid: number): Promise<ThreadUsage | undefined> {
  try {
    return process.platform === "linux" ? await fromProc(pid) : await fromPs(pid);
  } catch {
    return undefined;
  }
}

async function fromProc(pid: number): Promise<ThreadUsage> {
  const text = await readFile(`/proc/${pid}/task/${pid}/stat`, "utf8");
  // The program's name is in parentheses and may contain any character, so search from the end.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { cpuMilliseconds: ticks * tickMilliseconds, isSleeping: fields[0] === "S" || fields[0] === "D" };
}

/** For systems without /proc. `ps` prints the time of all threads: `1:02.34` or `1-02:03:04`. */
async function fromPs(pid: number): Promise<ThreadUsage> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "state=,time=", "-p", String(pid)]);
  const [state = "", time = ""] = stdout.trim().split(/\s+/);
  const [, days = "0", clock = ""] = /^(?:(\d+)-)?(.*)$/.exec(time) ?? [];
  const seconds = clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return { cpuMilliseconds: (Number(days) * 86_400 + seconds) * 1000, isSleeping: /^[SIDU]/.test(state) };
}
