// `scheduler.wait(milliseconds, { signal })`: a promise for a pause.
import { setTimeout as pause } from "node:timers/promises";

/** Longer waits than a timer of Node can count are cut to its maximum, about 24 days. */
const maxMilliseconds = 2 ** 31 - 1;

export class Scheduler {
  async wait(milliseconds?: unknown, options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    const signal = options?.signal;
    signal?.throwIfAborted();
    const delay = Math.min(Number(milliseconds ?? 0) || 0, maxMilliseconds);
    try {
      await pause(Math.max(delay, 0), undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      // Node rejects with an error of its own; callers expect the signal's reason.
      signal?.throwIfAborted();
      throw error;
    }
  }
}
