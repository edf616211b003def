// Measures how long a child's event loop is blocked. A child that sends no heartbeats is blocked if
// it uses processor time or sleeps in a system call; otherwise the system has not scheduled it.
import { performance } from "node:perf_hooks";
import { mainThreadUsage, type ThreadUsage } from "./usage.ts";

export interface Standstill {
  /** Time since the last heartbeat. */
  readonly wallMilliseconds: number;
  /** Processor time used since the heartbeat became overdue. */
  readonly cpuMilliseconds: number;
  /** Time since the first of the consecutive checks that found the child asleep. */
  readonly asleepMilliseconds: number;
  /** Time without a heartbeat in which this process checked for it, whatever the child did. */
  readonly silentMilliseconds: number;
}

export interface StandstillWatch {
  /** Records a heartbeat. */
  beat(): void;
  /** Measures the process if its heartbeat is overdue. */
  measure(): Promise<Standstill>;
}

/** Age of an overdue heartbeat; a child sends ten heartbeats per second. */
const overdueMilliseconds = 200;
const none = { cpuMilliseconds: 0, asleepMilliseconds: 0, silentMilliseconds: 0 };
export const noStandstill: Standstill = { wallMilliseconds: 0, ...none };
/** The most that counts between two checks: after a longer time, this process did not run either. */
const checkMilliseconds = 1000;
/** After this silence a child counts as blocked, also if it is stopped and neither works nor sleeps. */
export const maxSilentMilliseconds = 180_000;

export function createStandstillWatch(
  pid: number | undefined,
  readUsage: (pid: number) => Promise<ThreadUsage | undefined> = mainThreadUsage,
  now: () => number = () => performance.now(),
): StandstillWatch {
  let lastBeat = now();
  let first: ThreadUsage | undefined;
  let asleepSince: number | undefined;
  let silentMilliseconds = 0;
  let lastCheck = lastBeat;

  function beat(): void {
    lastBeat = now();
    first = undefined;
    asleepSince = undefined;
    silentMilliseconds = 0;
  }

  return {
    beat,
    async measure() {
      const wallMilliseconds = now() - lastBeat;
      silentMilliseconds += Math.min(now() - lastCheck, wallMilliseconds, checkMilliseconds);
      lastCheck = now();
      if (wallMilliseconds < overdueMilliseconds || pid === undefined) return { wallMilliseconds, ...none };
      const previousBeat = lastBeat;
      const usage = await readUsage(pid);
      // The child has ended, or a heartbeat arrived during the check.
      if (usage === undefined || lastBeat !== previousBeat) return noStandstill;
      first ??= usage;
      asleepSince = usage.isSleeping ? (asleepSince ?? now()) : undefined;
      return {
        wallMilliseconds,
        cpuMilliseconds: usage.cpuMilliseconds - first.cpuMilliseconds,
        asleepMilliseconds: asleepSince === undefined ? 0 : now() - asleepSince,
        silentMilliseconds,
      };
    },
  };
}
