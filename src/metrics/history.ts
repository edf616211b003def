// Recent metrics of a server for charts, in memory only: samples at short intervals for the last
// hour, and at long intervals for the last week.
import type { FrontEnd } from "./exchange.ts";
import { secondsBounds } from "./metrics.ts";
import { quantile } from "./quantile.ts";
import { type Snapshot, sumSeries } from "./snapshot.ts";

export const frontEnds: readonly FrontEnd[] = ["s3", "script", "public", "console"];
export const spans = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 } as const;
export type Span = keyof typeof spans;

/** Metrics of the interval between two samples. Rates are per second; undefined means unknown. */
export interface Point {
  /** End of the interval, in milliseconds since the epoch. */
  readonly time: number;
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  /** p50 and p99 of the request duration, in seconds. */
  readonly median: number | undefined;
  readonly slowest: number | undefined;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Bytes in the store at the end of the interval. */
  readonly stored: number | undefined;
  readonly objects: number | undefined;
}

interface Counts extends Pick<Point, "requests" | "clientErrors" | "serverErrors" | "bytesIn" | "bytesOut"> {
  readonly seconds: readonly number[];
}

interface Sample extends Pick<Point, "time" | "stored" | "objects"> {
  readonly frontEnds: Readonly<Record<FrontEnd, Counts>>;
}

export interface History {
  add(time: number, snapshot: Snapshot): void;
  /** Returns points, oldest first. The last point ends at the sample `now`, which is not kept. */
  points(
    span: Span,
    selected: readonly FrontEnd[],
    now: { readonly time: number; readonly snapshot: Snapshot },
  ): Point[];
}

const fineMilliseconds = 10_000;
const coarseMilliseconds = 300_000;
/** Maximum number of points that a chart can show. */
const maxPoints = 720;

export function createHistory(): History {
  let fine: Sample[] = [];
  let coarse: Sample[] = [];

  function appendSample(samples: readonly Sample[], sample: Sample, every: number, span: number): Sample[] {
    const last = samples.at(-1);
    // The clock was set back: discard the earlier samples.
    if (last !== undefined && sample.time < last.time) return [sample];
    // Tolerate one second, because the previous sample may have been late.
    if (last !== undefined && sample.time - last.time < every - 1000) return [...samples];
    return [...samples.filter(({ time }) => sample.time - time <= span), sample];
  }

  return {
    add(time, snapshot) {
      const sample = takeSample(time, snapshot);
      fine = appendSample(fine, sample, fineMilliseconds, spans.hour);
      coarse = appendSample(coarse, sample, coarseMilliseconds, spans.week);
    },
    points(span, selected, now) {
      const live = takeSample(now.time, now.snapshot);
      const samples = (span === "hour" ? fine : coarse).filter(
        ({ time }) => time < now.time && now.time - time <= spans[span],
      );
      const all = [...thinOut(samples), live];
      return all.slice(1).map((sample, i) => toPoint(all[i]!, sample, selected));
    },
  };
}

/** Keeps every nth sample, including the first. */
function thinOut(samples: readonly Sample[]): Sample[] {
  const step = Math.ceil(samples.length / maxPoints);
  return samples.filter((_, i) => i % step === 0);
}

function takeSample(time: number, snapshot: Snapshot): Sample {
  const sum = (name: string) => sumSeries(snapshot, name)[0];
  const counts = frontEnds.map((frontEnd) => [frontEnd, readCounts(snapshot, frontEnd)] as const);
  return {
    time,
    frontEnds: Object.fromEntries(counts) as Record<FrontEnd, Counts>,
    stored: sum("store_bucket_bytes") ?? (sum("store_buckets") === 0 ? 0 : undefined),
    objects: sum("store_bucket_objects") ?? (sum("store_buckets") === 0 ? 0 : undefined),
  };
}

function readCounts(snapshot: Snapshot, frontEnd: FrontEnd): Counts {
  const sumMetric = (name: string, matches: (labels: readonly string[]) => boolean = () => true) =>
    sumSeries(snapshot, name, (labels) => labels[0] === frontEnd && matches(labels));
  const requests = (status?: string) =>
    sumMetric("store_requests_total", ([, , label]) => status === undefined || label === status)[0] ?? 0;
  return {
    requests: requests(),
    clientErrors: requests("4xx"),
    serverErrors: requests("5xx"),
    bytesIn: sumMetric("store_received_bytes_total")[0] ?? 0,
    bytesOut: sumMetric("store_sent_bytes_total")[0] ?? 0,
    seconds: sumMetric("store_request_duration_seconds"),
  };
}

function toPoint(before: Sample, after: Sample, selected: readonly FrontEnd[]): Point {
  const seconds = Math.max(0.001, (after.time - before.time) / 1000);
  const increase = (count: (counts: Counts) => number) =>
    selected.reduce(
      (sum, frontEnd) =>
        sum + Math.max(0, count(after.frontEnds[frontEnd]) - count(before.frontEnds[frontEnd])),
      0,
    );
  const rate = (count: (counts: Counts) => number) => increase(count) / seconds;
  const durations = Array.from({ length: secondsBounds.length + 1 }, (_, i) =>
    increase((counts) => counts.seconds[i] ?? 0),
  );
  return {
    time: after.time,
    requests: rate(({ requests }) => requests),
    clientErrors: rate(({ clientErrors }) => clientErrors),
    serverErrors: rate(({ serverErrors }) => serverErrors),
    median: quantile(durations, secondsBounds, 0.5),
    slowest: quantile(durations, secondsBounds, 0.99),
    bytesIn: rate(({ bytesIn }) => bytesIn),
    bytesOut: rate(({ bytesOut }) => bytesOut),
    stored: after.stored,
    objects: after.objects,
  };
}
