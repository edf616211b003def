// Measures how long a child's event loop is blocked. A child without heartbeats is blocked if it
// uses processor time or sleeps in a system call; otherwise it was just not scheduled.
import { mainThreadUsage, type ThreadUsage } from "./usage.ts";

export interface Standstill {
  /** Time since the last heartbeat. */
  readonly wallMilliseconds: number;
  /** Processor time used meanwhile. */
  readonly cpuMilliseconds: number;
  /** How long the child has been asleep in every check, up to now. */
  readonly asleepMilliseconds: number;
}

export interface StandstillWatch {
  /** Records a heartbeat. */
  beat(): void;
  /** Checks the process, if its heartbeat is overdue. */
  measure(): Promise<Standstill>;
}

/** Heartbeats arrive ten times a second. */
const overdueMilliseconds = 200;
const none = { cpuMilliseconds: 0, asleepMilliseconds: 0 };

export function createStandstillWatch(
  pid: number | undefined,
  readUsage: (pid: number) => Promise<ThreadUsage | undefined> = mainThreadUsage,
  now: () => number = () => performance.now(),
): StandstillWatch {
  let lastBeat = now();
  let first: ThreadUsage | undefined;
  let asleepSince: number | undefined;

  function beat(): void {
    lastBeat = now();
    first = undefined;
    asleepSince = undefined;
  }

  return {
    beat,
    async measure() {
      const wallMilliseconds = now() - lastBeat;
      if (wallMilliseconds < overdueMilliseconds || pid === undefined) return { wallMilliseconds, ...none };
      const previousBeat = lastBeat;
      const usage = await readUsage(pid);
      // The child has ended, or a heartbeat arrived during the check.
      if (usage === undefined || lastBeat !== previousBeat) return { wallMilliseconds: 0, ...none };
      first ??= usage;
      asleepSince = usage.isSleeping ? (asleepSince ?? now()) : undefined;
      return {
        wallMilliseconds,
        cpuMilliseconds: usage.cpuMilliseconds - first.cpuMilliseconds,
        asleepMilliseconds: asleepSince === undefined ? 0 : now() - asleepSince,
      };
    },
  };
}
