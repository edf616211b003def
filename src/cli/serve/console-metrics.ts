// Samples the server's metrics every ten seconds for the charts of the console.
import type { ConsoleMetrics } from "../../console/api/metrics.ts";
import { createHistory } from "../../metrics/history.ts";
import { type Snapshot, sumSeries } from "../../metrics/snapshot.ts";

const sampleMilliseconds = 10_000;

export interface MetricsSampler {
  readonly metrics: NonNullable<ConsoleMetrics>;
  close(): void;
}

export function startMetricsSampler(snapshot: () => Promise<Snapshot>): MetricsSampler {
  const history = createHistory();
  const sample = () =>
    void snapshot()
      .then((seen) => history.add(Date.now(), seen))
      // Ignore a failed sample: it only leaves a gap in the chart.
      .catch(() => {});
  sample();
  const timer = setInterval(sample, sampleMilliseconds).unref();
  return {
    close: () => clearInterval(timer),
    async metrics(span, frontEnd) {
      const now = { snapshot: await snapshot(), time: Date.now() };
      // Requests to the console are left out: most of them come from viewing the charts.
      const points = history.points(
        span,
        frontEnd === undefined ? ["s3", "script", "public"] : [frontEnd],
        now,
      );
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
