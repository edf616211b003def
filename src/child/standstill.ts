// Since when the event loop of a child stands still, and why. A child beats while its event loop turns. Without beats
// it is blocked when it burns processor time all the same, or sleeps in a call; one that was not scheduled is neither.
import { mainThreadUsage, type ThreadUsage } from "./usage.ts";

export interface Standstill {
  /** Since the last beat. */
  readonly wallMilliseconds: number;
  /** Processor time that was used meanwhile. */
  readonly cpuMilliseconds: number;
  /** How long it has been seen asleep, up to now. */
  readonly asleepMilliseconds: number;
}

export interface StandstillWatch {
  /** The event loop has turned. */
  beat(): void;
  /** Looks at the process, if its beats are overdue. */
  measure(): Promise<Standstill>;
}

/** Beats are overdue after this; they come ten times a second. */
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
      // It may have beaten while we looked, or ended.
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
