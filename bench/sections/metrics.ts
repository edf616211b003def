// Section "metrics": the same server with and without metrics, in alternating rounds.
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { requestsPerSecond } from "../http-load.ts";
import { forEach } from "../measure.ts";
import { putObject, type S3Server } from "../peers/s3-server.ts";
import { startWithScript } from "../peers/s3-store.ts";
import { type Context, compare, KiB, type Section } from "../section.ts";
import { end } from "../servers.ts";

export const metrics: Section = {
  name: "metrics",
  description: "a head by a script and a small S3 GET, with and without metrics",
  run,
};

const keys = 256;
const connections = 16;
const script = `export default {
  async fetch(request, env) {
    const object = await env.BUCKET.head("object-0");
    return new Response(object.etag);
  },
};
`;

interface Counted {
  readonly server: S3Server;
  readonly scriptPort: number;
}

async function run(context: Context): Promise<void> {
  const started: ChildProcess[] = [];
  // The difference is a few percent, which many short rounds show better than a few long rounds.
  const pace = context.quick ? context.pace : { ...context.pace, rounds: 31, seconds: 0.5 };
  try {
    const [on, off] = [
      await startOne(join(context.directory, "on"), [], started),
      await startOne(join(context.directory, "off"), ["--no-metrics"], started),
    ];
    const heads = ({ scriptPort }: Counted) =>
      requestsPerSecond({ port: scriptPort, paths: [["/"]], connections, seconds: pace.seconds });
    const gets = ({ server }: Counted) => {
      const paths = [Array.from({ length: keys }, (_, i) => server.path("GET", keyOf(i)))];
      return requestsPerSecond({ port: server.port, paths, connections, seconds: pace.seconds });
    };
    const rows = [
      { what: "script, one head per request", load: heads, size: undefined },
      { what: "S3 GET", load: gets, size: KiB },
    ];
    for (const { what, load, size } of rows) {
      for (let round = 0; round < 6; round++) for (const one of [on, off]) await load(one);
      await compare(
        { ...context, pace },
        {
          ...{ what, size, lanes: connections, unit: "op/s", round: () => load(on) },
          limits: [{ name: "not counted", round: () => load(off) }],
          bar: { atLeast: 0.97, of: "not counted" },
        },
      );
    }
  } finally {
    await Promise.all(started.map(end));
  }
}

async function startOne(
  directory: string,
  args: readonly string[],
  started: ChildProcess[],
): Promise<Counted> {
  mkdirSync(directory);
  const { server, scriptUrl } = await startWithScript(directory, started, { args, script });
  const body = randomBytes(KiB);
  await forEach(keys, 16, (index) => putObject(server, keyOf(index), body));
  return { server, scriptPort: Number(new URL(scriptUrl).port) };
}

function keyOf(index: number): string {
  return `object-${index}`;
}
