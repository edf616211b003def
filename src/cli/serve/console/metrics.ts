// Samples the server's metrics every ten seconds for the charts of the console, and stores them
// every minute.
import type { ConsoleMetrics } from "../../../console/api/administration/metrics.ts";
import type { MetricsDocument } from "../../../console/wire-types.ts";
import { bucketBinFormat } from "../../../metrics/bucket-bins.ts";
import { createBucketHistory } from "../../../metrics/bucket-history.ts";
import { createHistory } from "../../../metrics/history.ts";
import {
  createBinArchive,
  createHistoryArchive,
  type HistoryDocuments,
} from "../../../metrics/history-archive.ts";
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
  const bucketArchive = createBinArchive(documents, bucketBinFormat);
  const bucketHistory = createBucketHistory(bucketArchive);
  let samples = 0;
  let storedAt = performance.now();
  let inFlight = Promise.resolve();
  const sample = async (which: "due" | "all") => {
    const taken = await snapshot();
    const now = Date.now();
    history.add(now, taken);
    bucketHistory.add(now, taken);
    samples++;
    if (which === "due" && performance.now() - storedAt < storeMilliseconds) return;
    storedAt = performance.now();
    await archive.flush(Date.now(), which);
    await bucketArchive.flush(Date.now(), which);
  };
  /** After the samples in flight, because increases are between samples in their order. */
  const sampleBuckets = () => {
    inFlight = inFlight.then(async () => bucketHistory.add(Date.now(), await snapshot())).catch(() => {});
    return inFlight;
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
    metrics: {
      async server(span, frontEnd) {
        // A chart needs two samples: those of a new server have a point at once.
        if (samples < 2) await takeTurn("due");
        const now = { snapshot: await snapshot(), time: Date.now() };
        const points = await history.points(span, frontEnd === undefined ? frontEnds : [frontEnd], now);
        return { points, scrub: readScrub(now.snapshot) };
      },
      async bucket(span, { name, created }) {
        await sampleBuckets();
        return bucketHistory.points({ span, bucket: name, created, now: Date.now() });
      },
    },
  };
}

function readScrub(snapshot: Snapshot): MetricsDocument["scrub"] {
  const readValue = (name: string) => sumSeries(snapshot, name)[0];
  const lastEnd = readValue("store_scrub_last_end_timestamp_seconds");
  const isRunning = readValue("store_scrub_running") === 1;
  return {
    isRunning,
    read: isRunning ? (readValue("store_scrub_bytes") ?? null) : null,
    stored: readValue("store_bucket_bytes") ?? null,
    damages: readValue("store_scrub_damages") ?? 0,
    lastEnded: lastEnd === undefined ? null : lastEnd * 1000,
  };
}
