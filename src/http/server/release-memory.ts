// Gives memory back after a burst of connections. Their objects die together, and V8 would keep the pages that they took
// until it collects for another reason, which on a quiet server may be hours later.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export interface BurstWatch {
  /** How many connections are open, after one was opened or closed. */
  count(open: number): void;
}

/** Fewer connections than this at a time leave too little to collect. */
const burstConnections = 512;
const calmMilliseconds = 1000;
/** A larger heap would be collected for longer than clients should wait. */
const maxHeapBytes = 128 * 1024 * 1024;

export function createBurstWatch(release: () => void = collectGarbage): BurstWatch {
  let peak = 0;
  let current = 0;
  let isScheduled = false;
  return {
    count(open) {
      current = open;
      peak = Math.max(peak, open);
      if (isScheduled || peak < burstConnections || open > peak / 4) return;
      isScheduled = true;
      setTimeout(() => {
        isScheduled = false;
        // The next burst has begun: collect after that one.
        if (current > peak / 4) return;
        peak = current;
        release();
      }, calmMilliseconds).unref();
    },
  };
}

let gc: (() => void) | undefined;

/** The first collection empties pages, the second one returns them. */
function collectGarbage(): void {
  if (process.memoryUsage().heapUsed > maxHeapBytes) return;
  if (gc === undefined) {
    setFlagsFromString("--expose-gc");
    gc = runInNewContext("gc") as () => void;
  }
  gc();
  gc();
}
