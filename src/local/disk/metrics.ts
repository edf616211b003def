// What is counted of commits and syncs. The writer thread counts in memory that it shares with its owner, who can read it
// at any time, also while the thread waits for the disk.
import { type Counter, type Histogram, type Metrics, observe, secondsBounds } from "../../metrics/metrics.ts";

export interface LocalFigures {
  /** Changes that wait to be committed, here or by another process. */
  readonly queue: Counter;
  readonly wait: Histogram;
  /** How long the sync of a body's file took. */
  readonly bodySync: Histogram;
  /** For the writer thread. */
  readonly shared: SharedArrayBuffer;
}

const changesAt = secondsBounds.length + 2;

export function createLocalFigures(metrics: Metrics): LocalFigures {
  const shared = new SharedArrayBuffer(8 * (changesAt + 1));
  const numbers = new Float64Array(shared);
  const sync = {
    name: "store_sync_seconds",
    help: "How long the disk took to make something durable: a commit's log, or a body's file.",
    labels: ["what"],
  };
  metrics.histogramReading(sync, secondsBounds, () => [[["commit"], [...numbers.subarray(0, changesAt)]]]);
  metrics.reading(
    { name: "store_committed_changes_total", help: "Changes that were committed; several share a sync." },
    "counter",
    () => [[[], numbers[changesAt]!]],
  );
  return {
    queue: metrics.gauge({ name: "store_commit_queue", help: "Changes that wait to be committed." })(),
    wait: metrics.histogram(
      { name: "store_commit_wait_seconds", help: "How long a change waited until it was durable." },
      secondsBounds,
    )(),
    bodySync: metrics.histogram(sync, secondsBounds)("body"),
    shared,
  };
}

export interface WriterFigures {
  /** So many changes were committed together, and the last step of it, which syncs, took so long. */
  committed(changes: number, seconds: number): void;
}

export function writerFigures(shared: SharedArrayBuffer): WriterFigures {
  const numbers = new Float64Array(shared);
  return {
    committed(changes, seconds) {
      observe(numbers, secondsBounds, seconds);
      numbers[changesAt]! += changes;
    },
  };
}
