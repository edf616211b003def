// Returns memory to the system after a burst of connections. On an idle server, V8 might keep the
// memory of closed connections for hours.
import process from "node:process";
import { setTimeout } from "node:timers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export interface BurstWatch {
  /** Called with the number of open connections after each change. */
  count(open: number): void;
}

/** Minimum size of a burst: smaller bursts leave too little garbage. */
const burstConnections = 512;
const calmMilliseconds = 1000;
/** Maximum heap size: collecting a larger heap would block the process for too long. */
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
        // The next burst has started: collect after that burst.
        if (current > peak / 4) return;
        peak = current;
        release();
      }, calmMilliseconds).unref();
    },
  };
}

let gc: (() => void) | undefined;

/** The first collection empties memory pages; the second returns them to the system. */
function collectGarbage(): void {
  if (process.memoryUsage().heapUsed > maxHeapBytes) return;
  if (gc === undefined) {
    setFlagsFromString("--expose-gc");
    gc = runInNewContext("gc") as () => void;
  }
  gc();
  gc();
}
