// Handles signals during work that must clean up: the first signal aborts the work, and the process
// ends by that signal after the work has cleaned up. A second signal ends the process immediately.

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super(`Interrupted by ${signal}.`);
    this.signal = signal;
  }
}

export async function runInterruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    release();
    controller.abort(new Interrupted(name));
  };
  const release = () => {
    for (const name of signals) process.removeListener(name, onSignal);
  };
  for (const name of signals) process.on(name, onSignal);
  try {
    return await work(controller.signal);
  } catch (error) {
    // After an abort, the error is only a consequence: throw the signal instead.
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    release();
  }
}
