// Lets the processes that share a port accept a burst of connections together. The process that wakes
// first could otherwise accept all of them before the others have run, and would serve them alone for
// as long as they are kept open.

export interface AcceptPace {
  /** Call it for each accepted connection, with the number of connections that were open before. */
  onAccept(open: number): void;
}

export interface AcceptPaceOptions {
  /** Waits as briefly as the system can, so that another process can run. */
  readonly yieldProcessor?: () => void;
  readonly now?: () => number;
}

/** Requests that each use a new connection are not delayed: they exceed this peak only at first. */
const peakMilliseconds = 1000;
/** Limits the delay of other requests by a burst, to about 4 ms for each turn of the event loop. */
const maxYields = 64;

export function createAcceptPace(options: AcceptPaceOptions = {}): AcceptPace {
  const { yieldProcessor = sleepBriefly, now = () => performance.now() } = options;
  let peak = 0;
  let peakSince = Number.NEGATIVE_INFINITY;
  let yields = 0;
  return {
    onAccept(open) {
      if (now() - peakSince > peakMilliseconds) {
        peak = open;
        peakSince = now();
      }
      if (open < peak) return;
      peak = open + 1;
      if (yields === maxYields) return;
      if (yields === 0) setImmediate(() => (yields = 0));
      yields++;
      yieldProcessor();
    },
  };
}

const neverChanged = new Int32Array(new SharedArrayBuffer(4));

/** Linux and macOS round a microsecond up to 50 or more. */
function sleepBriefly(): void {
  Atomics.wait(neverChanged, 0, 0, 0.001);
}
