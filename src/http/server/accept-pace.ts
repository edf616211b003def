// Spreads a burst of connections over the processes that share a port. The process that wakes first
// would otherwise accept most of them before the others run, and serve them as long as they are open.
import { performance } from "node:perf_hooks";
import { setImmediate } from "node:timers";

export interface AcceptPace {
  /** Call it for each accepted connection, with the number of connections that were open before. */
  onAccept(open: number): void;
}

export interface AcceptPaceOptions {
  /** Waits as briefly as the system can, so that another process can run. */
  readonly yieldProcessor?: () => void;
  readonly now?: () => number;
}

/**
 * How long the highest number of open connections is remembered. Only connections beyond it wait, so
 * that requests with a connection of their own do not.
 */
const peakMilliseconds = 1000;
/** Other requests wait meanwhile, so a turn of the event loop yields only this often. */
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

/** A wait of a microsecond takes about 56 on Linux. */
function sleepBriefly(): void {
  Atomics.wait(neverChanged, 0, 0, 0.001);
}
