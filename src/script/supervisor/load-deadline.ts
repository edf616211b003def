// Ends a process whose script does not finish loading. A machine that is merely busy makes loading slow, so time counts
// only while the process uses the processor, or waits idle for something that does not happen.
import type { HostProcess } from "./worker-handle.ts";

const checkMilliseconds = 500;
/** Processor time that loading may take. */
const cpuMilliseconds = 10_000;
/** How long loading may be idle. */
const asleepMilliseconds = 8000;
/** Upper bound on loading in any case. */
const wallMilliseconds = 120_000;

export interface LoadDeadline {
  /** Whether the process was ended here. */
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
