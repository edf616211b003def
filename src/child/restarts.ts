// Starts replacements for children that ended, after a delay that grows with recent restarts.
import { setTimeout } from "node:timers";
import { setTimeout as sleep } from "node:timers/promises";

export interface Restart {
  /** Whether the replacement is still needed. */
  readonly isNeeded: () => boolean;
  /** Starts the replacement. If it rejects, the start is retried. */
  readonly start: () => Promise<void>;
  readonly onError: (message: string) => void;
}

/** `delayMilliseconds`: delays of the first, second, … restart in a window; the last repeats. */
export function createRestarts(delayMilliseconds: readonly number[], windowMilliseconds: number) {
  let recent = 0;
  return async ({ isNeeded, start, onError }: Restart): Promise<void> => {
    while (isNeeded()) {
      const delay = delayMilliseconds[Math.min(recent++, delayMilliseconds.length - 1)]!;
      setTimeout(() => recent--, windowMilliseconds).unref();
      if (delay > 0) await sleep(delay);
      if (!isNeeded()) return;
      try {
        return await start();
      } catch (error) {
        onError(error instanceof Error ? error.message : String(error));
      }
    }
  };
}
