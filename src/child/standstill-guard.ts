// Ends a child whose event loop is blocked for good, so that its supervisor starts another one.
import { clearInterval, setImmediate, setInterval } from "node:timers";
import { maxSilentMilliseconds, type Standstill, type StandstillWatch } from "./standstill.ts";

export interface GuardedChild {
  readonly standstill: StandstillWatch;
  kill(): void;
  readonly ended: Promise<string>;
}

export interface GuardLimits {
  /** Processor time without a heartbeat. */
  readonly cpuMilliseconds: number;
  /** Time in a blocking system call without a heartbeat. */
  readonly asleepMilliseconds: number;
}

const checkMilliseconds = 250;

/** The child must send heartbeats. `onBlocked` is called before the child is killed. */
export function guardStandstill(child: GuardedChild, limits: GuardLimits, onBlocked: () => void): void {
  let isChecking = false;
  const isBlocked = ({ cpuMilliseconds, asleepMilliseconds, silentMilliseconds }: Standstill) =>
    cpuMilliseconds >= limits.cpuMilliseconds ||
    asleepMilliseconds >= limits.asleepMilliseconds ||
    silentMilliseconds >= maxSilentMilliseconds;

  async function check(): Promise<void> {
    if (!isBlocked(await child.standstill.measure())) return;
    clearInterval(timer);
    onBlocked();
    child.kill();
  }

  const timer = setInterval(() => {
    if (isChecking) return;
    isChecking = true;
    // Deferred, so that heartbeats that arrived while this process was busy are handled first.
    setImmediate(() => {
      void check().finally(() => {
        isChecking = false;
      });
    });
  }, checkMilliseconds);
  void child.ended.then(() => clearInterval(timer));
}
