// `scheduler.wait(milliseconds, { signal })`: returns a promise that resolves after a delay.
import { setTimeout as pause } from "node:timers/promises";

/** Maximum delay of a Node timer, about 24 days. Longer waits are shortened to it. */
const maxMilliseconds = 2 ** 31 - 1;

export class Scheduler {
  async wait(milliseconds?: unknown, options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    const signal = options?.signal;
    signal?.throwIfAborted();
    const delay = Math.min(Number(milliseconds ?? 0) || 0, maxMilliseconds);
    try {
      await pause(Math.max(delay, 0), undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      // Throws the signal's reason, which callers expect, instead of Node's own error.
      signal?.throwIfAborted();
      throw error;
    }
  }
}
