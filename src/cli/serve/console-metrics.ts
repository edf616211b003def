// What the console's charts show: the server's figures, looked at every ten seconds for as long as it runs.
import type { ConsoleMetrics } from "../../console/api/metrics.ts";
import { createHistory } from "../../metrics/history.ts";
import { type Snapshot, total } from "../../metrics/snapshot.ts";

const lookMilliseconds = 10_000;

export interface Looking {
  readonly metrics: NonNullable<ConsoleMetrics>;
  close(): void;
}

export function lookAtFigures(snapshot: () => Promise<Snapshot>): Looking {
  const history = createHistory();
  const look = () =>
    void snapshot()
      .then((seen) => history.add(Date.now(), seen))
      // What cannot be looked at now is a gap in a chart.
      .catch(() => {});
  look();
  const looking = setInterval(look, lookMilliseconds).unref();
  return {
    close: () => clearInterval(looking),
    async metrics(span, face) {
      const now = { snapshot: await snapshot(), time: Date.now() };
      // The console's own requests are mostly those of who looks at the charts.
      const points = history.points(span, face === undefined ? ["s3", "script", "public"] : [face], now);
      const one = (name: string) => total(now.snapshot, name)[0];
      const ended = one("store_scrub_last_end_timestamp_seconds");
      const isRunning = one("store_scrub_running") === 1;
      return {
        points,
        scrub: {
          isRunning,
          read: isRunning ? (one("store_scrub_bytes") ?? null) : null,
          stored: one("store_bucket_bytes") ?? null,
          damages: one("store_scrub_damages") ?? 0,
          lastEnded: ended === undefined ? null : ended * 1000,
        },
      };
    },
  };
}
