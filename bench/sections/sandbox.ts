// Section "sandbox": a sandboxed script with one head or one put per request, compared with the same
// script in miniflare; the start of a sandbox and its memory when idle.
import type { ChildProcess } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../src/index.ts";
import { requestsPerSecond } from "../http-load.ts";
import { figure } from "../measure.ts";
import { startMiniflare } from "../peers/miniflare.ts";
import { type Context, compare, KiB, MiB, makeRow, type Section } from "../section.ts";
import { end, startStore } from "../servers.ts";

export const sandbox: Section = {
  name: "sandbox",
  description: "a sandboxed script with one head or put per request, compared with miniflare",
  run,
};

const script = `const body = new Uint8Array(${KiB}).fill(7);
let count = 0;
export default {
  async fetch(request, env) {
    const object = request.url.endsWith("/put")
      ? await env.BUCKET.put("object-" + (count++ % 1024), body)
      : await env.BUCKET.head("key");
    return new Response(object.etag);
  },
};
`;
const lanes = 32;

async function run(context: Context): Promise<void> {
  const { directory } = context;
  writeFileSync(join(directory, "index.js"), script);
  const data = join(directory, "data");
  mkdirSync(data);
  const store = await openStore(data);
  await store.createBucket("bench");
  await store.bucket("bench").put("key", "value");
  await store.close();
  const started: ChildProcess[] = [];
  try {
    const { url } = await startStore(directory, started, ["--isolation", "sandbox"]);
    idleMemory(context, started[0]!.pid!);
    const miniflare = await startMiniflare(context, script, started);
    for (const what of ["head", "put"]) {
      const load = (port: number) => () =>
        requestsPerSecond({
          ...{ port, paths: [[`/${what}`]], connections: lanes, seconds: context.pace.seconds },
        });
      await compare(context, {
        ...{ what: `sandboxed script, one ${what} per request`, lanes, unit: "op/s" },
        ...{ size: what === "put" ? KiB : undefined, round: load(Number(new URL(url).port)) },
        limits: miniflare === undefined ? [] : [{ name: "miniflare", round: load(miniflare) }],
        bar: miniflare === undefined ? undefined : { atLeast: 5, of: "miniflare" },
      });
    }
    await restarts(context, Number(new URL(url).port), started[0]!.pid!);
  } finally {
    await Promise.all(started.map(end));
  }
}

function idleMemory(context: Context, server: number): void {
  const used = findRuntimes(server).map((pid) => residentBytes(pid) / MiB);
  const unit = "MiB";
  context.row(makeRow({ what: "memory of an idle sandbox", unit, bar: { atMost: 90 } }, [figure(used)]));
}

/** Ends all sandboxes of the script, and measures the time until one answers again. */
async function restarts(context: Context, port: number, server: number): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < context.pace.rounds; round++) {
    const begin = performance.now();
    for (const pid of findRuntimes(server)) process.kill(pid, "SIGKILL");
    const response = await fetch(`http://127.0.0.1:${port}/head`);
    await response.text();
    if (!response.ok) continue;
    times.push(performance.now() - begin);
  }
  const what = "a killed sandbox until its replacement answers";
  context.row(makeRow({ what, unit: "ms", bar: { atMost: 500 } }, [figure(times)]));
}

/** Returns the ids of the workerd processes among the descendants of a process. */
function findRuntimes(ancestor: number): number[] {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readParent(Number(name)));
  const found: number[] = [];
  const visit = (parent: number) => {
    for (const { pid, name } of processes.filter((one) => one.parent === parent)) {
      if (name === "workerd") found.push(pid);
      visit(pid);
    }
  };
  visit(ancestor);
  return found;
}

/** Returns nothing for a process that has ended. */
function readParent(pid: number): { pid: number; parent: number; name: string }[] {
  try {
    const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))!;
    return [{ pid, name: name!, parent: Number(parent) }];
  } catch {
    return [];
  }
}

function residentBytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return Number(kilobytes) * KiB;
}
