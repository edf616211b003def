// Samples the server's metrics every ten seconds for the charts of the console, and stores them
// every minute.
import type { ConsoleMetrics } from "../../../console/api/administration/metrics.ts";
import { createHistory } from "../../../metrics/history.ts";
import { createHistoryArchive, type HistoryDocuments } from "../../../metrics/history-archive.ts";
import { frontEnds } from "../../../metrics/history-bins.ts";
import { type Snapshot, sumSeries } from "../../../metrics/snapshot.ts";

const sampleMilliseconds = 10_000;
const storeMilliseconds = 60_000;

export interface MetricsSampler {
  readonly metrics: NonNullable<ConsoleMetrics>;
  /** Takes a last sample and stores it. */
  close(): Promise<void>;
}

export function startMetricsSampler(
  snapshot: () => Promise<Snapshot>,
  documents: HistoryDocuments,
): MetricsSampler {
  const archive = createHistoryArchive(documents);
  const history = createHistory(archive);
  let storedAt = performance.now();
  let inFlight = Promise.resolve();
  const sample = async (which: "due" | "all") => {
    history.add(Date.now(), await snapshot());
    if (which === "due" && performance.now() - storedAt < storeMilliseconds) return;
    storedAt = performance.now();
    await archive.flush(Date.now(), which);
  };
  const takeTurn = (which: "due" | "all") => {
    // Ignore a failed sample: it only leaves a gap in the chart, and counts are stored later.
    inFlight = inFlight.then(() => sample(which)).catch(() => {});
    return inFlight;
  };
  void takeTurn("due");
  const timer = setInterval(() => void takeTurn("due"), sampleMilliseconds).unref();
  return {
    async close() {
      clearInterval(timer);
      await takeTurn("all");
    },
    async metrics(span, frontEnd) {
      const now = { snapshot: await snapshot(), time: Date.now() };
      const points = await history.points(span, frontEnd === undefined ? frontEnds : [frontEnd], now);
      const readValue = (name: string) => sumSeries(now.snapshot, name)[0];
      const lastEnd = readValue("store_scrub_last_end_timestamp_seconds");
      const isRunning = readValue("store_scrub_running") === 1;
      return {
        points,
        scrub: {
          isRunning,
          read: isRunning ? (readValue("store_scrub_bytes") ?? null) : null,
          stored: readValue("store_bucket_bytes") ?? null,
          damages: readValue("store_scrub_damages") ?? 0,
          lastEnded: lastEnd === undefined ? null : lastEnd * 1000,
        },
      };
    },
  };
}
