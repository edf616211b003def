// Kills a process whose script does not finish loading. Loading is slow on a busy machine, so
// processor time and idle time have tight limits, and total time a generous limit.
import type { HostProcess } from "../../host/host-process.ts";

const checkMilliseconds = 500;
/** Maximum processor time for loading. */
const cpuMilliseconds = 10_000;
/** Maximum idle time while loading. */
const asleepMilliseconds = 8000;
/** Maximum total time for loading. */
const wallMilliseconds = 120_000;

export interface LoadDeadline {
  /** Whether the process was killed because of this deadline. */
  readonly isLate: boolean;
  clear(): void;
}

export function startLoadDeadline(process: Pick<HostProcess, "standstill" | "kill">): LoadDeadline {
  const startedAt = performance.now();
  let isLate = false;

  async function check(): Promise<void> {
    const standstill = await process.standstill();
    isLate ||=
      standstill.cpuMilliseconds >= cpuMilliseconds ||
      standstill.asleepMilliseconds >= asleepMilliseconds ||
      performance.now() - startedAt >= wallMilliseconds;
    if (isLate) process.kill();
  }

  const checkTimer = setInterval(() => void check(), checkMilliseconds);
  return {
    get isLate() {
      return isLate;
    },
    clear: () => clearInterval(checkTimer),
  };
}
