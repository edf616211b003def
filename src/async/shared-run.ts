// Runs work once for many waiting callers.

/**
 * A call during a run waits for the next run, because the current run may have started before the
 * caller's change. `onIdle` is called when a run ends and no call waits.
 */
export function createSharedRun(work: () => Promise<void>, onIdle?: () => void): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function start(): Promise<void> {
    running = work().finally(() => {
      running = undefined;
      if (next === undefined) onIdle?.();
    });
    return running;
  }

  return () => {
    if (running === undefined) return start();
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  };
}
