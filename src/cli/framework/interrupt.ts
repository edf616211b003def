// Ctrl-C and its kin during work that must not be left half done: the work is told, tidies up and ends, and
// only then does the process end by the signal. A second signal ends it at once.

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
    // Whatever the interruption broke on its way is not news.
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    release();
  }
}
