// The priority of runtimes: one that is busy for long must not delay short requests of the scripts
// beside it. Each runtime has a session of its own; outside of control groups, Linux gives processor time
// to sessions first, by their priority.
import { readdir, writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { mainThreadUsage, type ThreadUsage } from "../../child/usage.ts";

const { PRIORITY_NORMAL: normal, PRIORITY_BELOW_NORMAL: belowNormal, PRIORITY_LOW: low } = constants.priority;

/** Lowers the priority of a blocked runtime until it is ended. Does what the system permits. */
export async function lowerPriority(pid: number): Promise<void> {
  await setSessionPriority(pid, low);
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [String(pid)]);
  for (const thread of threads) {
    try {
      setPriority(Number(thread), low);
    } catch {
      // The thread has ended, or the system does not permit it.
    }
  }
}

/** Shares of a processor: a runtime that uses more is busy, until it uses less than the second. */
const busyShare = 0.6;
const idleShare = 0.3;

export interface BusyWatchOptions {
  readonly readUsage?: (pid: number) => Promise<ThreadUsage | undefined>;
  readonly setPriority?: (pid: number, priority: number) => Promise<boolean>;
  readonly now?: () => number;
}

/** Returns a function that lowers the priority of a runtime which was busy since the last call. */
export function watchBusyRuntime(pid: number, options: BusyWatchOptions = {}): () => Promise<void> {
  // Other systems do not have such sessions.
  const readLinux = async (id: number) => (process.platform === "linux" ? mainThreadUsage(id) : undefined);
  const { readUsage = readLinux, now = () => performance.now() } = options;
  const changePriority = options.setPriority ?? setSessionPriority;
  let previous: { readonly cpu: number; readonly time: number } | undefined;
  let isLowered = false;
  return async () => {
    const usage = await readUsage(pid);
    if (usage === undefined) return;
    const current = { cpu: usage.cpuMilliseconds, time: now() };
    const before = previous;
    previous = current;
    if (before === undefined || current.time <= before.time) return;
    const share = (current.cpu - before.cpu) / (current.time - before.time);
    const isBusy = share > (isLowered ? idleShare : busyShare);
    if (isBusy === isLowered) return;
    if (await changePriority(pid, isBusy ? belowNormal : normal)) isLowered = isBusy;
  };
}

/** Returns false if the system does not permit it, or not again so soon. */
async function setSessionPriority(pid: number, priority: number): Promise<boolean> {
  try {
    await writeFile(`/proc/${pid}/autogroup`, String(priority));
    return true;
  } catch {
    return false;
  }
}
