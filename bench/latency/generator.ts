// The load generator, a process of its own. With a rate, requests are due at fixed times whatever
// the server does, and a latency counts from the time the request was due: a server that stops
// responding is charged for all requests that had to wait. Without a rate, connections never rest.
import { readFileSync } from "node:fs";
import { createHistogram, type Quantiles } from "./histogram.ts";
import { createLane, type Lane, type LaneTarget } from "./lane.ts";
import { type Choice, createMix, type Kind, kinds, type Paths, sizeOf, type WorkName } from "./mix.ts";
import type { ParsedResponse } from "./response-parser.ts";

export interface LoadSpec extends LaneTarget {
  readonly host: string;
  readonly paths: Paths;
  readonly connections: number;
  /** Requests per second. Undefined: as many as the connections can carry. */
  readonly rate?: number;
  readonly seconds: number;
  /** "fill" puts every key once. Default: mixed. */
  readonly work?: WorkName | "fill";
}

export interface LoadReport {
  /** Responses per second. */
  readonly rate: number;
  readonly failed: number;
  /** Requests without a response at the end. Their latencies count up to then. */
  readonly unfinished: number;
  readonly all: Quantiles;
  readonly byKind: Readonly<Record<Kind, Quantiles>>;
  /** How late the generator itself sent requests for which a connection was free. */
  readonly lateness: Quantiles;
}

interface Due extends Choice {
  readonly at: number;
}

/** A request beyond this backlog fails: the server is far slower than the rate. */
const maxBacklog = 100_000;
/** Requests due in the first part of a run only warm the connections. */
const warmShare = 0.2;
const graceMilliseconds = 5000;

async function run(spec: LoadSpec): Promise<LoadReport> {
  const { rate, seconds, connections } = spec;
  const pick = spec.work === "fill" ? fillOrder(spec.paths) : createMix(spec.work ?? "mixed");
  const requestOf = createRequests(spec);
  const all = createHistogram();
  const lateness = createHistogram();
  const byKind = Object.fromEntries(kinds.map((kind) => [kind, createHistogram()]));
  const idle: Lane[] = Array.from({ length: connections }, () => createLane(spec));
  const lanes = [...idle];
  const backlog: Due[] = [];
  const inFlight = new Set<Due>();
  const begin = performance.now();
  const warmUntil = spec.work === "fill" ? begin : begin + seconds * 1000 * warmShare;
  const end = begin + seconds * 1000;
  let done = 0;
  let failed = 0;

  function record(due: Due, now: number): void {
    if (due.at < warmUntil) return;
    all.add(now - due.at);
    byKind[due.kind]!.add(now - due.at);
  }

  function send(lane: Lane, due: Due): void {
    inFlight.add(due);
    if (due.at >= warmUntil) lateness.add(performance.now() - due.at);
    lane.send(requestOf(due), (response) => {
      if (!inFlight.delete(due)) return;
      const now = performance.now();
      if (isExpected(response)) {
        record(due, now);
        if (now >= warmUntil && now < end) done++;
      } else failed++;
      idle.push(lane);
      if (rate === undefined && (now < end || spec.work === "fill")) addDue(now);
      dispatch();
    });
  }

  function addDue(at: number): void {
    const choice = pick();
    if (choice === undefined) return;
    if (backlog.length < maxBacklog) backlog.push({ ...choice, at });
    else failed++;
  }

  function dispatch(): void {
    let sent = 0;
    for (const due of backlog) {
      const lane = idle.shift();
      if (lane === undefined) break;
      sent++;
      send(lane, due);
    }
    backlog.splice(0, sent);
  }

  if (rate === undefined) {
    for (const _lane of lanes) addDue(performance.now());
    dispatch();
  } else await sendAtRate(rate, { begin, end, addDue, dispatch });
  const isOver = () => backlog.length === 0 && inFlight.size === 0;
  const limit = (rate === undefined ? end : Math.max(end, performance.now())) + graceMilliseconds;
  const lastFill = spec.work === "fill" ? begin + 120_000 : limit;
  while (performance.now() < lastFill && !(isOver() && (spec.work === "fill" || performance.now() >= end))) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const unfinished = backlog.length + inFlight.size;
  const now = performance.now();
  for (const due of [...backlog, ...inFlight]) record(due, now);
  for (const lane of lanes) lane.close();
  return {
    ...{ rate: done / ((end - warmUntil) / 1000), failed, unfinished, all: all.quantiles() },
    byKind: Object.fromEntries(
      kinds.map((kind) => [kind, byKind[kind]!.quantiles()]),
    ) as LoadReport["byKind"],
    lateness: lateness.quantiles(),
  };
}

interface Schedule {
  readonly begin: number;
  readonly end: number;
  addDue(at: number): void;
  dispatch(): void;
}

/** Timers fire once a millisecond at best: each sends all requests that are due by then. */
function sendAtRate(rate: number, { begin, end, addDue, dispatch }: Schedule): Promise<void> {
  const interval = 1000 / rate;
  let next = begin;
  return new Promise((resolve) => {
    const tick = () => {
      const now = performance.now();
      for (; next <= now && next < end; next += interval) addDue(next);
      dispatch();
      if (next >= end) resolve();
      else setTimeout(tick, 1);
    };
    tick();
  });
}

function isExpected(response: ParsedResponse | undefined): boolean {
  return response !== undefined && (response.status === 200 || response.status === 204);
}

/** Puts every kept key and every changed key once. */
function fillOrder(paths: Paths): () => Choice | undefined {
  let next = 0;
  return () => (next < paths.PUT.length ? { kind: "PUT", index: next++ } : undefined);
}

function createRequests({ host, paths, isKept }: LoadSpec): (choice: Choice) => Uint8Array[] {
  const bytes = Buffer.alloc(1024 * 1024, "bytes of a body, ");
  const connection = isKept ? "" : "Connection: close\r\n";
  return ({ kind, index }) => {
    const own = paths[kind];
    const path = own[index % own.length]!;
    const method = kind === "LIST" ? "GET" : kind;
    const body = kind === "PUT" ? bytes.subarray(0, sizeOf(index)) : undefined;
    const length = body === undefined ? "" : `Content-Length: ${body.length}\r\n`;
    const head = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${connection}${length}\r\n`;
    return body === undefined ? [Buffer.from(head, "latin1")] : [Buffer.from(head, "latin1"), body];
  };
}

const spec = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as LoadSpec;
process.stdout.write(`${JSON.stringify(await run(spec))}\n`);
process.exit(0);
