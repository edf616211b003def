// What a server has done of late, for charts: its figures looked at now and then, and what lies between two looks. Fine for
// the last hour, coarse for the last week; nothing of it outlives the server.
import type { Face } from "./exchange.ts";
import { secondsBounds } from "./metrics.ts";
import { quantile } from "./quantile.ts";
import { type Snapshot, total } from "./snapshot.ts";

export const faces: readonly Face[] = ["s3", "script", "public", "console"];
export const spans = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 } as const;
export type Span = keyof typeof spans;

/** What happened from one look to the next. Rates are a second; undefined where nothing is known. */
export interface Point {
  /** Its end, in milliseconds since the epoch. */
  readonly time: number;
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  /** Seconds that half of the requests, and all but a hundredth of them, took at most. */
  readonly median: number | undefined;
  readonly slowest: number | undefined;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** What the store held at its end. */
  readonly stored: number | undefined;
  readonly objects: number | undefined;
}

interface Counts {
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly seconds: readonly number[];
}

interface Look {
  readonly time: number;
  readonly faces: Readonly<Record<Face, Counts>>;
  readonly stored: number | undefined;
  readonly objects: number | undefined;
}

export interface History {
  add(time: number, snapshot: Snapshot): void;
  /** Oldest first, up to the look that is given, which is not kept. */
  points(
    span: Span,
    chosen: readonly Face[],
    now: { readonly time: number; readonly snapshot: Snapshot },
  ): Point[];
}

const fineMilliseconds = 10_000;
const coarseMilliseconds = 300_000;
/** More would not be told apart in a chart. */
const mostPoints = 720;

export function createHistory(): History {
  let fine: Look[] = [];
  let coarse: Look[] = [];

  function kept(looks: readonly Look[], look: Look, every: number, span: number): Look[] {
    const last = looks.at(-1);
    // A clock that was set back begins anew.
    if (last !== undefined && look.time < last.time) return [look];
    // A little early is on time: the one before may have been late.
    if (last !== undefined && look.time - last.time < every - 1000) return [...looks];
    return [...looks.filter(({ time }) => look.time - time <= span), look];
  }

  return {
    add(time, snapshot) {
      const look = lookAt(time, snapshot);
      fine = kept(fine, look, fineMilliseconds, spans.hour);
      coarse = kept(coarse, look, coarseMilliseconds, spans.week);
    },
    points(span, chosen, now) {
      const live = lookAt(now.time, now.snapshot);
      const looks = (span === "hour" ? fine : coarse).filter(
        ({ time }) => time < now.time && now.time - time <= spans[span],
      );
      const all = [...thinned(looks), live];
      return all.slice(1).map((look, i) => between(all[i]!, look, chosen));
    },
  };
}

/** Every nth of many, with the first. */
function thinned(looks: readonly Look[]): Look[] {
  const step = Math.ceil(looks.length / mostPoints);
  return looks.filter((_, i) => i % step === 0);
}

function lookAt(time: number, snapshot: Snapshot): Look {
  const sum = (name: string) => total(snapshot, name)[0];
  const counts = faces.map((face) => [face, countsOf(snapshot, face)] as const);
  return {
    time,
    faces: Object.fromEntries(counts) as Record<Face, Counts>,
    stored: sum("store_bucket_bytes") ?? (sum("store_buckets") === 0 ? 0 : undefined),
    objects: sum("store_bucket_objects") ?? (sum("store_buckets") === 0 ? 0 : undefined),
  };
}

function countsOf(snapshot: Snapshot, face: Face): Counts {
  const of = (name: string, wanted: (labels: readonly string[]) => boolean = () => true) =>
    total(snapshot, name, (labels) => labels[0] === face && wanted(labels));
  const requests = (status?: string) =>
    of("store_requests_total", ([, , seen]) => status === undefined || seen === status)[0] ?? 0;
  return {
    requests: requests(),
    clientErrors: requests("4xx"),
    serverErrors: requests("5xx"),
    bytesIn: of("store_received_bytes_total")[0] ?? 0,
    bytesOut: of("store_sent_bytes_total")[0] ?? 0,
    seconds: of("store_request_duration_seconds"),
  };
}

function between(before: Look, after: Look, chosen: readonly Face[]): Point {
  const seconds = Math.max(0.001, (after.time - before.time) / 1000);
  const grown = (count: (counts: Counts) => number) =>
    chosen.reduce((sum, face) => sum + Math.max(0, count(after.faces[face]) - count(before.faces[face])), 0);
  const rate = (count: (counts: Counts) => number) => grown(count) / seconds;
  const taken = Array.from({ length: secondsBounds.length + 1 }, (_, i) =>
    grown((counts) => counts.seconds[i] ?? 0),
  );
  return {
    time: after.time,
    requests: rate(({ requests }) => requests),
    clientErrors: rate(({ clientErrors }) => clientErrors),
    serverErrors: rate(({ serverErrors }) => serverErrors),
    median: quantile(taken, secondsBounds, 0.5),
    slowest: quantile(taken, secondsBounds, 0.99),
    bytesIn: rate(({ bytesIn }) => bytesIn),
    bytesOut: rate(({ bytesOut }) => bytesOut),
    stored: after.stored,
    objects: after.objects,
  };
}
