// Section "neighbours": p99 of a sandboxed script at a fixed rate, alone and beside another sandboxed
// script that loops, fills memory, floods the log or floods its bucket.
import type { ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { join } from "node:path";
import { openStore } from "../../src/index.ts";
import { figure, ratio } from "../measure.ts";
import { type Context, makeRow, type Section } from "../section.ts";
import { end, startStoreScripts } from "../servers.ts";

export const neighbours: Section = {
  name: "neighbours",
  description: "p99 of a sandboxed script beside one that attacks",
  run,
};

const good = `export default {
  async fetch(request, env) {
    await env.BUCKET.head("key");
    return new Response("good");
  },
};
`;

/** Each attack is started by one request, which may never be answered. */
const attacks = {
  "an endless loop": "for (;;) {}",
  "a script that fills memory": "const kept = []; for (;;) kept.push(new Array(1000).fill(kept.length));",
  "a flood of the log": `const line = "x".repeat(1000); const until = Date.now() + 60_000;
      while (Date.now() < until) { for (let i = 0; i < 100; i++) console.log(line); await scheduler.wait(1); }`,
  "a flood of its bucket": `const until = Date.now() + 60_000;
      await Promise.all(Array.from({ length: 100 }, async () => {
        while (Date.now() < until) await env.BUCKET.head("key").catch(() => scheduler.wait(10));
      }));`,
} as const;

const bad = `export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    ${Object.values(attacks)
      .map((source, i) => `if (pathname === "/${i}") { ${source} }`)
      .join("\n    ")}
    return new Response("over");
  },
};
`;

const requestsPerSecond = 100;
/** On an overloaded machine more requests wait in the client, instead of at the limit of the port. */
const maxSockets = 64;
/** While it attacks, a script gets a request this often: its processes are replaced. */
const attackMilliseconds = 500;

async function run(context: Context): Promise<void> {
  const { directory } = context;
  const data = join(directory, "data");
  mkdirSync(data);
  const store = await openStore(data);
  for (const bucket of ["good", "bad"]) {
    await store.createBucket(bucket);
    await store.bucket(bucket).put("key", "value");
  }
  await store.close();
  const scripts = [
    { name: "good", source: good, routes: [] },
    { name: "bad", source: bad, routes: ["bad.example/*"] },
  ].map(({ name, source, routes }) => {
    writeFileSync(join(directory, `${name}.js`), source);
    const bindings = { store_buckets: [{ binding: "BUCKET", bucket_name: name }], routes };
    return { name, main: `${name}.js`, isolation: "sandbox", ...bindings };
  });
  const started: ChildProcess[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets });
  try {
    const { url } = await startStoreScripts(directory, started, scripts);
    const port = Number(new URL(url).port);
    const seconds = Math.max(3, context.pace.seconds);
    await percentile({ port, agent, seconds });
    for (const [i, what] of Object.keys(attacks).entries()) {
      context.progress(`neighbour of ${what}`);
      const [alone, beside]: [number[], number[]] = [[], []];
      for (let round = 0; round < context.pace.rounds; round++) {
        alone.push(await percentile({ port, agent, seconds }));
        const stop = startAttack(port, `/${i}`);
        beside.push(await percentile({ port, agent, seconds }));
        stop();
        await settle(port, agent);
      }
      const share = ratio(figure(beside), figure(alone));
      const row = { what: `p99 beside ${what}`, unit: "ms", lanes: 1 } as const;
      const made = makeRow(row, [figure(beside), figure(alone)], [{ name: "alone" }]);
      context.row({ ...made, bar: { text: "≤ 2 of alone", ok: share <= 2 } });
    }
  } finally {
    agent.destroy();
    await Promise.all(started.map(end));
  }
}

interface Load {
  readonly port: number;
  readonly agent: Agent;
  readonly seconds: number;
}

/** Returns the p99 in milliseconds. A late request counts from the time it was due. */
async function percentile({ port, agent, seconds }: Load): Promise<number> {
  const count = requestsPerSecond * seconds;
  const begin = performance.now();
  const times = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const due = begin + (i * 1000) / requestsPerSecond;
      await new Promise((resolve) => setTimeout(resolve, due - performance.now()));
      const status = await ask(port, { path: "/", host: "good.example", agent });
      if (status !== 200) throw new Error(`Cannot measure: the neighbour answered with status ${status}`);
      return performance.now() - due;
    }),
  );
  return times.sort((a, b) => a - b)[Math.floor(count * 0.99)]!;
}

function startAttack(port: number, path: string): () => void {
  const ended = new AbortController();
  const send = () => {
    const { signal } = ended;
    ask(port, { path, host: "bad.example", agent: undefined, signal }).catch(() => {});
  };
  send();
  const timer = setInterval(send, attackMilliseconds);
  return () => {
    clearInterval(timer);
    ended.abort();
  };
}

/** Waits until the attacked processes are ended or idle, so that the next round starts alone. */
async function settle(port: number, agent: Agent): Promise<void> {
  for (let quick = 0; quick < 5; ) {
    const begin = performance.now();
    await ask(port, { path: "/over", host: "bad.example", agent }).catch(() => 0);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    quick = performance.now() - begin < 1500 ? quick + 1 : 0;
  }
  // A blocked process is ended after ten seconds of processor time.
  await new Promise((resolve) => setTimeout(resolve, 10_000));
}

interface Question {
  readonly path: string;
  readonly host: string;
  readonly agent: Agent | undefined;
  readonly signal?: AbortSignal;
}

function ask(port: number, { path, host, agent, signal }: Question): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = {
      host: "127.0.0.1",
      port,
      path,
      headers: { host },
      ...(agent && { agent }),
      ...(signal && { signal }),
    };
    get(options, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
    }).on("error", reject);
  });
}
