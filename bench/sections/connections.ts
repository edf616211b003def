// Section "connections": a new connection per request (by ab, Apache's load generator), p99 latency
// on persistent connections, and the request rate while thousands of connections are idle.
import { type ChildProcess, execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import { promisify } from "node:util";
import { largestShare } from "../burst-share.ts";
import { requestsPerSecond } from "../http-load.ts";
import { holdIdle } from "../idle-connections.ts";
import { figure } from "../measure.ts";
import { type BareFile, startBareFile } from "../peers/bare-file.ts";
import { startNativePeers } from "../peers/native.ts";
import { putObject, type S3Server } from "../peers/s3-server.ts";
import { startS3Store } from "../peers/s3-store.ts";
import { familyOf } from "../processor-time.ts";
import { type Context, compare, KiB, makeRow, type Section } from "../section.ts";
import { end } from "../servers.ts";

export const connections: Section = {
  name: "connections",
  description: "a new connection for each request, p99 latency, and thousands of idle connections",
  run,
};

const key = "object";
const lanes = 32;
const idleCount = 10_000;

interface Target {
  readonly name: string;
  readonly port: number;
  readonly path: () => string;
}

async function run(context: Context): Promise<void> {
  const started: ChildProcess[] = [];
  const natives = await startNativePeers(context);
  try {
    const server = await startS3Store(context.directory, started);
    const body = randomBytes(KiB);
    for (const one of [server, ...natives.servers]) await putObject(one, key, body);
    const bare = await bareTarget({ directory: context.directory, body, started, from: "memory" });
    const cores = availableParallelism();
    const bareOnAllCores = await bareTarget({
      ...{ directory: context.directory, body, started },
      from: "memory",
      processes: cores,
    });
    const store = targetOf(server);
    await bursts(context, server.port, started[0]!);
    await newConnections(context, store, [bare, ...natives.servers.map(targetOf)]);
    await slowest(context, store, [bare, bareOnAllCores]);
    await besideIdle(context, store, started);
  } finally {
    await natives.stop();
    await Promise.all(started.map(end));
  }
}

/** Half is the best share of two processes. */
async function bursts(context: Context, port: number, server: ChildProcess): Promise<void> {
  for (const count of [16, 64]) {
    context.progress(`opening ${count} connections at once`);
    const shares: number[] = [];
    for (let burst = 0; burst < (context.quick ? 3 : 15); burst++) {
      shares.push(100 * (await largestShare(port, familyOf(server.pid!), count)));
    }
    const what = `largest share of a process, ${count} connections opened at once`;
    context.row(makeRow({ what, unit: "%" }, [figure(shares)]));
    context.row(makeRow({ what: `${what}, worst burst`, unit: "%" }, [figure([Math.max(...shares)])]));
  }
}

async function bareTarget(options: BareFile): Promise<Target> {
  const { processes } = options;
  const name = processes === undefined ? "bare node:http" : `bare node:http, ${processes} processes`;
  return { name, port: await startBareFile(options), path: () => "/" };
}

function targetOf(server: S3Server): Target {
  return { name: server.name, port: server.port, path: () => server.path("GET", key) };
}

async function newConnections(context: Context, store: Target, others: readonly Target[]): Promise<void> {
  const requests = context.quick ? 500 : 5000;
  try {
    await promisify(execFile)("ab", ["-V"]);
  } catch {
    context.note("New connections are skipped: ab is not on the PATH (install Debian's apache2-utils).");
    return;
  }
  for (const target of [store, ...others]) await byAb(target, requests);
  await compare(context, {
    ...{ what: "GET, a new connection each", size: KiB, lanes, unit: "op/s" },
    round: () => byAb(store, requests),
    limits: others.map((target) => ({
      name: target.name,
      round: () => byAb(target, requests),
      bar:
        target.name === "bare node:http" ? 0.6 : ["MinIO", "versitygw"].includes(target.name) ? 1 : undefined,
    })),
  });
}

async function byAb({ port, path, name }: Target, requests: number): Promise<number> {
  const url = `http://127.0.0.1:${port}${path()}`;
  const { stdout } = await promisify(execFile)("ab", [
    "-q",
    "-n",
    String(requests),
    "-c",
    String(lanes),
    url,
  ]);
  const rate = Number(/Requests per second:\s+([\d.]+)/.exec(stdout)?.[1]);
  const failed = Number(/Failed requests:\s+(\d+)/.exec(stdout)?.[1]);
  if (failed > 0 || /Non-2xx/.test(stdout) || !Number.isFinite(rate)) {
    throw new Error(`Cannot measure: ${name} did not answer every request`);
  }
  return rate;
}

/** Measures p99 in twice as many alternating rounds as usual, because p99 varies widely. */
async function slowest(context: Context, store: Target, others: readonly Target[]): Promise<void> {
  const { rounds, seconds } = context.pace;
  const targets = [store, ...others];
  const found = targets.map((): number[] => []);
  for (let round = 0; round < 2 * rounds; round++) {
    for (const [i, target] of targets.entries()) found[i]!.push(await percentile99(target, seconds));
  }
  const row = makeRow(
    { what: "p99 of GET, kept connections", size: KiB, lanes, unit: "ms" },
    found.map(figure),
    others.map(({ name }) => ({ name })),
  );
  const [bare] = row.limits;
  context.row({ ...row, bar: { text: "≤ 2 of bare node:http", ok: bare!.ratio <= 2 } });
}

async function percentile99({ port, path }: Target, seconds: number): Promise<number> {
  const latencies: number[] = [];
  const onLatency = (milliseconds: number) => latencies.push(milliseconds);
  await requestsPerSecond({ port, paths: [[path()]], connections: lanes, seconds, onLatency });
  latencies.sort((a, b) => a - b);
  return latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN;
}

/** Measures the same server with and without the idle connections, in alternating rounds. */
async function besideIdle(context: Context, store: Target, started: ChildProcess[]): Promise<void> {
  const { rounds, seconds } = context.pace;
  const rate = () =>
    requestsPerSecond({
      port: store.port,
      paths: [[store.path()]],
      connections: lanes,
      seconds: 2 * seconds,
    });
  const beside: number[] = [];
  const alone: number[] = [];
  for (let round = 0; round < rounds; round++) {
    alone.push(await rate());
    context.progress(`opening ${idleCount} idle connections`);
    const holder = await holdIdle(store.port, idleCount, started);
    beside.push(await rate());
    await end(holder);
  }
  const limit = { name: "without them", bar: 0.9 };
  const what = `GET beside ${idleCount.toLocaleString("en")} idle connections`;
  context.row(makeRow({ what, size: KiB, lanes, unit: "op/s" }, [figure(beside), figure(alone)], [limit]));
}
