// Section "latency": p50, p99 and p99.9 of mixed work (GET, PUT, LIST and DELETE of 1 KiB to 1 MiB)
// at fixed rates, open loop: beside each peer at half of the peer's maximum (also of GET and of PUT
// of 1 KiB alone), by rate, by number of connections, with and without TLS and keep-alive.
import type { ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { LoadReport } from "../latency/generator.ts";
import type { Quantiles } from "../latency/histogram.ts";
import { kinds, works } from "../latency/mix.ts";
import { fill, type LoadForm, type LoadTarget, loadTarget, runLoad } from "../latency/run-load.ts";
import { figure } from "../measure.ts";
import { startBareObjects } from "../peers/bare-objects.ts";
import { certificateFiles } from "../peers/certificate-files.ts";
import { type NativePeers, startNativePeers } from "../peers/native.ts";
import { nameWithSync, type S3Server } from "../peers/s3-server.ts";
import { startWithScript } from "../peers/s3-store.ts";
import { type Context, makeRow, type Section } from "../section.ts";
import { end } from "../servers.ts";

export const latency: Section = {
  name: "latency",
  description: "p50, p99 and p99.9 of mixed S3 work at fixed rates, by rate, connections, TLS and keep-alive",
  run,
};

const lanes = 64;
const shares = [0.1, 0.25, 0.5, 0.75, 0.9] as const;

interface Times {
  readonly rounds: number;
  /** Duration of a run at a fixed rate. */
  readonly seconds: number;
  /** Full speed before the first measurement: a new process compiles its code for half a minute. */
  readonly warmUpSeconds: number;
  readonly connections: readonly number[];
}

const full: Times = { rounds: 3, seconds: 4, warmUpSeconds: 20, connections: [1, 16, 64, 256, 1024] };
const quick: Times = { rounds: 1, seconds: 1, warmUpSeconds: 1, connections: [1, 64] };

interface Bench {
  readonly context: Context;
  readonly times: Times;
  load(target: LoadTarget, form: Partial<LoadForm>): Promise<LoadReport>;
  /** Responses per second of connections that never rest. */
  maximum(target: LoadTarget, form: Partial<LoadForm>): Promise<number>;
}

async function run(context: Context): Promise<void> {
  const started: ChildProcess[] = [];
  const natives = context.quick ? noPeers(context) : await startNativePeers(context);
  try {
    const plain = await startPair(context, "plain", started);
    const secured = await startPair(context, "TLS", started);
    const peers = natives.servers.map((server) => ({ server, target: loadTarget(server) }));
    const bench = createBench(context);
    for (const { target, server } of [plain.store, plain.bare, ...peers, secured.store, secured.bare]) {
      context.progress(`filling ${target.name}`);
      await fill(target, server, context.directory);
      await bench.load(target, { seconds: bench.times.warmUpSeconds });
    }
    const maximum = await bench.maximum(plain.store.target, {});
    for (const peer of peers) await besidePeer(bench, plain.store.target, peer);
    await byRate(bench, plain.store.target, plain.bare.target, maximum);
    await byConnections(bench, plain.store.target, plain.bare.target);
    await byForm(bench, plain, secured);
    context.note(
      "Open loop: latencies count from the time a request was due. 70 % GET, 20 % PUT, 5 % LIST of 100 keys, " +
        "5 % DELETE; 60 % of 1 KiB, 30 % of 16 KiB, 9 % of 128 KiB, 1 % of 1 MiB. Timers of the client add up to 1 ms.",
    );
    context.note(
      "Bare node:http is one process with objects in memory and a log with group fdatasync. Peers run without TLS.",
    );
  } finally {
    await natives.stop();
    await Promise.all(started.map(end));
  }
}

function noPeers(context: Context): NativePeers {
  context.note("Peers are skipped in a quick run.");
  return { servers: [], stop: async () => {} };
}

interface Measured {
  readonly server: S3Server;
  readonly target: LoadTarget;
}

interface Pair {
  readonly store: Measured;
  readonly bare: Measured;
}

async function startPair(
  context: Context,
  transport: "plain" | "TLS",
  started: ChildProcess[],
): Promise<Pair> {
  const directory = join(context.directory, transport);
  mkdirSync(directory);
  const isSecure = transport === "TLS";
  const tls = isSecure ? certificateFiles(directory) : undefined;
  const args = tls === undefined ? [] : ["--tls-cert", tls.certificate, "--tls-key", tls.key];
  const { server } = await startWithScript(directory, started, { args });
  const bare = await startBareObjects({ directory, started, ...(tls === undefined ? {} : { tls }) });
  const measured = (one: S3Server) => ({ server: one, target: loadTarget(one, isSecure) });
  return { store: measured(server), bare: measured(bare) };
}

function createBench(context: Context): Bench {
  const times = context.quick ? quick : full;
  const { seconds } = times;
  const load = async (target: LoadTarget, form: Partial<LoadForm>) => {
    const merged = { connections: lanes, isKept: true, seconds, ...form };
    const at = form.rate === undefined ? "at full speed" : `at ${Math.round(form.rate)}/s`;
    context.progress(`${target.name} ${at}, ${merged.connections} connections`);
    const report = await runLoad(target, merged, context.directory);
    if (report.failed > 0) {
      context.note(
        `${target.name} ${at}, ${merged.connections} connections: ${report.failed} requests failed.`,
      );
    }
    return report;
  };
  // The first run is discarded: connections are new, and code for this form may not be compiled.
  const maximum = async (target: LoadTarget, form: Partial<LoadForm>) => {
    await load(target, { ...form, seconds: seconds / 2 });
    return (await load(target, form)).rate;
  };
  return { context, times, load, maximum };
}

/**
 * Both sides get half of the peer's own maximum, in alternating rounds. Writes are judged only beside
 * a peer that syncs them too.
 */
async function besidePeer(bench: Bench, store: LoadTarget, { server, target }: Measured): Promise<void> {
  for (const work of works) {
    const rate = (await bench.maximum(target, { work })) / 2;
    const title = (what: string) => `${work}, ${what} at ${Math.round(rate).toLocaleString("en")}/s`;
    const { own, others } = await alternate(bench, [store, target], { rate, work });
    const isRead = work === "GET 1 KiB";
    const name = isRead ? server.name : nameWithSync(server);
    const bar = isRead || server.isSynced ? "p99 at most the peer's" : undefined;
    addRows(bench, title, own!, { name, reports: others[0]! }, bar);
    if (work === "mixed") addKinds(bench, title, [own!, others[0]!], name);
  }
}

function addKinds(
  { context }: Bench,
  title: (what: string) => string,
  sides: readonly (readonly LoadReport[])[],
  peer: string,
): void {
  for (const kind of kinds) {
    const values = sides.map((reports) => figure(reports.map(({ byKind }) => byKind[kind].p99)));
    const row = { what: title(`p99 of ${kind}`), lanes, unit: "ms" } as const;
    if (values.every(({ rounds }) => rounds.every(Number.isFinite)))
      context.row(makeRow(row, values, [{ name: peer }]));
  }
}

async function alternate(bench: Bench, targets: readonly LoadTarget[], form: Partial<LoadForm>) {
  const reports = targets.map((): LoadReport[] => []);
  for (let round = 0; round < bench.times.rounds; round++) {
    for (const [index, target] of targets.entries()) reports[index]!.push(await bench.load(target, form));
  }
  const [own, ...others] = reports;
  return { own, others };
}

interface Beside {
  readonly name: string;
  readonly reports: readonly LoadReport[];
}

function addRows(
  { context }: Bench,
  title: (what: string) => string,
  own: readonly LoadReport[],
  beside: Beside,
  bar?: "p99 at most the peer's",
  connections = lanes,
): void {
  for (const [name, quantile] of [
    ["p50", "p50"],
    ["p99", "p99"],
    ["p99.9", "p999"],
  ] as const satisfies readonly (readonly [string, keyof Quantiles])[]) {
    const values = [own, beside.reports].map((reports) => figure(reports.map(({ all }) => all[quantile])));
    if (!values.every(({ rounds }) => rounds.every(Number.isFinite))) {
      context.note(`${title(name)}, ${connections} connections: too few requests.`);
      continue;
    }
    const row = makeRow({ what: title(name), lanes: connections, unit: "ms" }, values, [
      { name: beside.name },
    ]);
    const isJudged = bar !== undefined && name === "p99";
    context.row(isJudged ? { ...row, bar: { text: "≤ 1", ok: row.limits[0]!.ratio <= 1 } } : row);
  }
}

/** Finds the rate from which latencies rise. */
async function byRate(bench: Bench, store: LoadTarget, bare: LoadTarget, maximum: number): Promise<void> {
  for (const share of shares) {
    const { own, others } = await alternate(
      { ...bench, times: { ...bench.times, rounds: 1 } },
      [store, bare],
      {
        rate: maximum * share,
      },
    );
    const title = (what: string) => `${what} at ${share} of Store's maximum`;
    addRows(bench, title, own!, { name: bare.name, reports: others[0]! });
  }
}

/** Finds the number of connections from which the rate falls or latencies rise. */
async function byConnections(bench: Bench, store: LoadTarget, bare: LoadTarget): Promise<void> {
  for (const connections of bench.times.connections) {
    await bySetting(bench, [store, bare], { connections }, "");
  }
}

/** Each side runs at half of its own maximum in this setting. */
async function bySetting(
  bench: Bench,
  [store, bare]: readonly [LoadTarget, LoadTarget],
  form: Partial<LoadForm>,
  setting: string,
): Promise<void> {
  const connections = form.connections ?? lanes;
  const maxima = [await bench.maximum(store, form), await bench.maximum(bare, form)];
  const row = { what: `mixed work at full speed${setting}`, lanes: connections, unit: "op/s" } as const;
  bench.context.row(
    makeRow(
      row,
      maxima.map((rate) => figure([rate])),
      [{ name: bare.name }],
    ),
  );
  const own = [await bench.load(store, { ...form, rate: maxima[0]! / 2 })];
  const reports = [await bench.load(bare, { ...form, rate: maxima[1]! / 2 })];
  const title = (what: string) => `${what} at half of its own maximum${setting}`;
  addRows(bench, title, own, { name: bare.name, reports }, undefined, connections);
}

async function byForm(bench: Bench, plain: Pair, secured: Pair): Promise<void> {
  for (const [setting, pair, isKept] of [
    [", TLS", secured, true],
    [", a new connection each", plain, false],
    [", TLS and a new connection each", secured, false],
  ] as const) {
    await bySetting(bench, [pair.store.target, pair.bare.target], { isKept }, setting);
  }
}
