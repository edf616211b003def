// Section "scripts": a script that calls head once per request under `store serve`, compared with a
// bare node:http server that returns the same bytes and with the same script in miniflare.
import type { ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../src/index.ts";
import { requestsPerSecond } from "../http-load.ts";
import type { Limit } from "../limits.ts";
import { startMiniflare } from "../peers/miniflare.ts";
import { type Context, compare, type Section } from "../section.ts";
import { end, firstDocument, start, startStore } from "../servers.ts";

const connections = [1, 16, 64];

export const scripts: Section = {
  name: "scripts",
  description: "a script with one head per request, compared with bare node:http and miniflare",
  run,
};

const script = `export default {
  async fetch(request, env) {
    const object = await env.BUCKET.head("key");
    return new Response(object.etag);
  },
};
`;

async function run(context: Context): Promise<void> {
  const { directory } = context;
  writeFileSync(join(directory, "index.js"), script);
  const etag = await prepareStore(join(directory, "data"));
  const started: ChildProcess[] = [];
  try {
    const { url } = await startStore(directory, started);
    const store = Number(new URL(url).port);
    const limits: [string, number][] = [["bare node:http", await startBare(directory, etag, started)]];
    const miniflare = await startMiniflare(context, script, started);
    if (miniflare !== undefined) limits.push(["miniflare", miniflare]);
    for (const lanes of connections) {
      const load = (port: number) => () =>
        requestsPerSecond({ port, paths: [["/key"]], connections: lanes, seconds: context.pace.seconds });
      await compare(context, {
        what: "script, one head per request",
        lanes,
        unit: "op/s",
        round: load(store),
        limits: limits.map(([name, port]): Limit => ({ name, round: load(port) })),
        bar: lanes === 1 ? undefined : { atLeast: 0.6, of: "bare node:http" },
      });
    }
  } finally {
    await Promise.all(started.map(end));
  }
}

async function prepareStore(data: string): Promise<string> {
  mkdirSync(data);
  const store = await openStore(data);
  await store.createBucket("bench");
  const { etag } = await store.bucket("bench").put("key", "value");
  await store.close();
  return etag;
}

async function startBare(directory: string, etag: string, started: ChildProcess[]): Promise<number> {
  const file = join(directory, "bare.mjs");
  writeFileSync(
    file,
    `import { createServer } from "node:http";
const body = ${JSON.stringify(etag)};
const headers = { "content-type": "text/plain;charset=UTF-8", "content-length": String(body.length) };
const server = createServer((request, response) => response.writeHead(200, headers).end(body));
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })));
`,
  );
  const { port } = JSON.parse(await firstDocument(start([file], started))) as { port: number };
  return port;
}
