// Metrics of commits and syncs. The writer thread counts in shared memory, so the serving thread
// can read the metrics even while the writer thread waits for the disk.
import { type Counter, type Histogram, type Metrics, observe, secondsBounds } from "../../metrics/metrics.ts";

export interface LocalMetrics {
  /** Changes waiting to be committed by this process or another process. */
  readonly queue: Counter;
  readonly wait: Histogram;
  /** Duration of the sync of a body's file. */
  readonly bodySync: Histogram;
  /** Memory that is passed to `createWriterMetrics` in the writer thread. */
  readonly sharedBuffer: SharedArrayBuffer;
}

const changesIndex = secondsBounds.length + 2;

export function createLocalMetrics(metrics: Metrics): LocalMetrics {
  const sharedBuffer = new SharedArrayBuffer(8 * (changesIndex + 1));
  const numbers = new Float64Array(sharedBuffer);
  const sync = {
    name: "store_sync_seconds",
    help: "How long the disk took to make something durable: a commit's log, or a body's file.",
    labels: ["what"],
  };
  metrics.addHistogramReading(sync, secondsBounds, () => [
    [["commit"], [...numbers.subarray(0, changesIndex)]],
  ]);
  metrics.addReading(
    { name: "store_committed_changes_total", help: "Changes that were committed; several share a sync." },
    "counter",
    () => [[[], numbers[changesIndex]!]],
  );
  return {
    queue: metrics.gauge({ name: "store_commit_queue", help: "Changes that wait to be committed." })(),
    wait: metrics.histogram(
      { name: "store_commit_wait_seconds", help: "How long a change waited until it was durable." },
      secondsBounds,
    )(),
    bodySync: metrics.histogram(sync, secondsBounds)("body"),
    sharedBuffer,
  };
}

export interface WriterMetrics {
  /** Records a transaction: the number of changes, and the duration of its COMMIT, which syncs. */
  recordCommit(changes: number, seconds: number): void;
}

export function createWriterMetrics(sharedBuffer: SharedArrayBuffer): WriterMetrics {
  const numbers = new Float64Array(sharedBuffer);
  return {
    recordCommit(changes, seconds) {
      observe(numbers, secondsBounds, seconds);
      numbers[changesIndex]! += changes;
    },
  };
}
