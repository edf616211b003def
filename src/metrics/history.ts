// Metrics for charts. The last hour comes from samples of this server in memory; what is older, and
// longer ranges, from the archive, to which the increase between two samples is added.
import type { FrontEnd } from "./exchange.ts";
import type { HistoryArchive } from "./history-archive.ts";
import {
  addBins,
  type Bin,
  type BinCounts,
  binFields,
  frontEnds,
  subtractCounts,
  type Tier,
  tiers,
} from "./history-bins.ts";
import { secondsBounds } from "./metrics.ts";
import { quantile } from "./quantile.ts";
import { type Snapshot, sumSeries } from "./snapshot.ts";

const hour = 3_600_000;
/** How far each range goes back, the bins that it is made of, and how many make one point. */
export const spans = {
  hour: { milliseconds: hour, tier: "minute", group: 1 },
  day: { milliseconds: 24 * hour, tier: "minute", group: 5 },
  week: { milliseconds: 7 * 24 * hour, tier: "halfHour", group: 1 },
  month: { milliseconds: 30 * 24 * hour, tier: "halfHour", group: 4 },
} as const satisfies Record<string, { milliseconds: number; tier: Tier; group: number }>;
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
  /** Returns points, oldest first. In the last hour, the last point ends at the sample `now`. */
  points(
    span: Span,
    selected: readonly FrontEnd[],
    now: { readonly time: number; readonly snapshot: Snapshot },
  ): Promise<Point[]>;
}

/** Without an archive, only the last hour of this server is known. */
export function createHistory(archive?: HistoryArchive): History {
  let samples: Sample[] = [];
  /** What this server added to the minute of its first sample, which an earlier server began. */
  let firstMinute: Bin | undefined;

  function addIncrease(time: number, increase: Omit<Bin, "at">): void {
    archive?.add(time, increase);
    if (startOfMinute(time) === firstMinute?.at)
      firstMinute = addBins(firstMinute, { at: firstMinute.at, ...increase });
  }

  return {
    add(time, snapshot) {
      const sample = takeSample(time, snapshot);
      const last = samples.at(-1);
      // The clock was set back: discard the earlier samples.
      const isFirst = last === undefined || sample.time < last.time;
      // The middle of both: at the beginning of an interval, most of the increase is of the one before.
      if (isFirst) firstMinute = { at: startOfMinute(time), counts: {} };
      else addIncrease((last.time + time) / 2, toIncrease(last, sample));
      samples = isFirst ? [sample] : [...samples.filter((one) => time - one.time <= hour), sample];
    },
    async points(span, selected, now) {
      const { milliseconds, tier, group } = spans[span];
      const since = now.time - milliseconds;
      const bins = (await archive?.read(tier, since, now.time)) ?? [];
      const length = group * tiers[tier].length;
      if (span !== "hour") return binPoints(bins, { length, selected, until: now.time });
      // A sample just before now would make the last interval so short that its rates mislead.
      const until = now.time - shortestMilliseconds;
      const recent = samples.filter(
        ({ time }, i) => time >= since && (i === 0 ? time < now.time : time <= until),
      );
      const own = [...recent, takeSample(now.time, now.snapshot)];
      const first = own[0]!.time;
      // This server counts from its first sample; before it, minutes come from the archive.
      const shared = firstMinute ?? { at: startOfMinute(first), counts: {} };
      const earlier = bins.flatMap((bin) => {
        if (bin.at + length <= first) return [bin];
        return bin.at === shared.at ? [subtractCounts(bin, shared)] : [];
      });
      return [
        ...binPoints(earlier, { length, selected, until: first }),
        ...own.slice(1).map((sample, i) => toPoint(own[i]!, sample, selected)),
      ];
    },
  };
}

function startOfMinute(time: number): number {
  return Math.floor(time / tiers.minute.length) * tiers.minute.length;
}

interface BinRange {
  /** Length of a point, in milliseconds. */
  readonly length: number;
  readonly selected: readonly FrontEnd[];
  readonly until: number;
}

/** One point for each interval from the first to the last bin. Without a bin, nothing was served. */
function binPoints(bins: readonly Bin[], { length, selected, until }: BinRange): Point[] {
  const groups = new Map<number, Bin>();
  for (const bin of bins) {
    const at = Math.floor(bin.at / length) * length;
    const earlier = groups.get(at);
    groups.set(at, earlier === undefined ? { ...bin, at } : addBins(earlier, bin));
  }
  const starts = [...groups.keys()];
  const points: Point[] = [];
  if (starts.length === 0) return points;
  for (let at = Math.min(...starts); at <= Math.max(...starts); at += length) {
    const end = Math.min(at + length, until);
    const { counts, stored, objects } = groups.get(at) ?? { counts: {} };
    const sum = (i: number) => selected.reduce((total, name) => total + (counts[name]?.[i] ?? 0), 0);
    points.push({ ...ratesOf(sum, Math.max(end - at, minMilliseconds)), time: end, stored, objects });
  }
  return points;
}

/** An interval that has only begun has the increase of a sample that began earlier. */
export const minMilliseconds = 20_000;

/** Rates of a shorter interval would be those of single requests. */
const shortestMilliseconds = 1000;

type Rates = Omit<Point, "time" | "stored" | "objects">;

/** `count` returns a value by its index in the counts of a bin. */
function ratesOf(count: (index: number) => number, milliseconds: number): Rates {
  const seconds = Math.max(shortestMilliseconds, milliseconds) / 1000;
  const rate = (i: number) => count(i) / seconds;
  const durations = Array.from({ length: secondsBounds.length + 1 }, (_, i) => count(binFields.length + i));
  return {
    ...{ requests: rate(0), clientErrors: rate(1), serverErrors: rate(2) },
    ...{ bytesIn: rate(3), bytesOut: rate(4) },
    median: quantile(durations, secondsBounds, 0.5),
    slowest: quantile(durations, secondsBounds, 0.99),
  };
}

/** What happened between two samples. */
function toIncrease(before: Sample, after: Sample): Omit<Bin, "at"> {
  const counts: Partial<Record<FrontEnd, BinCounts>> = {};
  for (const name of frontEnds) {
    const increase = increaseOf(before.frontEnds[name], after.frontEnds[name]);
    if (increase.some((one) => one > 0)) counts[name] = increase;
  }
  return { counts, stored: toCount(after.stored), objects: toCount(after.objects) };
}

function toCount(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value);
}

function increaseOf(before: Counts, after: Counts): BinCounts {
  const increases = [
    ...binFields.map((name) => after[name] - before[name]),
    ...Array.from(
      { length: secondsBounds.length + 1 },
      (_, i) => (after.seconds[i] ?? 0) - (before.seconds[i] ?? 0),
    ),
  ].map((one) => Math.max(0, Math.round(one)));
  while (increases.at(-1) === 0) increases.pop();
  return increases;
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
  const increases = selected.map((name) => increaseOf(before.frontEnds[name], after.frontEnds[name]));
  const sum = (i: number) => increases.reduce((total, counts) => total + (counts[i] ?? 0), 0);
  const rates = ratesOf(sum, after.time - before.time);
  return { ...rates, time: after.time, stored: after.stored, objects: after.objects };
}
