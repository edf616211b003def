// Runs the same script in Store and in miniflare. The client measures requests that each perform
// many operations on a bucket or KV namespace, so that the request itself costs little.
import type { ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "../section.ts";
import { firstDocument, installPeer, start, startStoreWith } from "../servers.ts";

/** The last version of miniflare that runs on the oldest Node version that Store supports. */
export const miniflareVersion = "4.20260426.0";

export type ScriptOperation = "head" | "get" | "put";

const keys = 1024;

/**
 * Target duration of a request in milliseconds, long compared with its overhead. Reads must stay
 * short: they never yield to the event loop, and Store could treat the script as blocked.
 */
const requestMs: Readonly<Record<ScriptOperation, number>> = { head: 20, get: 20, put: 200 };

export type ScriptStorage = "bucket" | "kv";

interface Storage {
  /** Source code of the operations. */
  readonly operations: string;
  /** Bindings for Store's configuration. */
  readonly bindings: object;
  /** Options of miniflare except its data folder. */
  readonly miniflare: object;
  /** The miniflare option for the data folder. */
  readonly persist: string;
}

const storages: Readonly<Record<ScriptStorage, Storage>> = {
  bucket: {
    operations: `{
  async head(bucket, index) {
    if ((await bucket.head(key(index))) === null) throw new Error("missing");
  },
  async get(bucket, index) {
    const bytes = await (await bucket.get(key(index))).arrayBuffer();
    if (bytes.byteLength !== body.length) throw new Error("torn");
  },
  put: (bucket, index) => bucket.put(key(index), body),
}`,
    bindings: { store_buckets: [{ binding: "BUCKET", bucket_name: "bench" }] },
    miniflare: { r2Buckets: ["BUCKET"] },
    persist: "r2Persist",
  },
  kv: {
    operations: `{
  async get(kv, index) {
    const bytes = await kv.get(key(index), "arrayBuffer");
    if (bytes.byteLength !== body.length) throw new Error("torn");
  },
  put: (kv, index) => kv.put(key(index), body),
}`,
    bindings: { kv_namespaces: [{ binding: "BUCKET", id: "bench" }] },
    miniflare: { kvNamespaces: { BUCKET: "bench" } },
    persist: "kvPersist",
  },
};

const scriptOn = ({ operations }: Storage) => `const body = new Uint8Array(1024).fill(7);
const key = (index) => "object-" + (index % ${keys});
const operations = ${operations};
export default {
  async fetch(request, env) {
    const asked = new URL(request.url).searchParams;
    const operation = operations[asked.get("operation")];
    const count = Number(asked.get("count"));
    let next = 0;
    const lane = async () => {
      while (next < count) await operation(env.BUCKET, next++);
    };
    await Promise.all(Array.from({ length: Number(asked.get("lanes")) }, lane));
    return new Response(String(next));
  },
};
`;

export interface ScriptServer {
  /** Returns operations per second at `lanes` concurrent operations, in sequential requests. */
  rate(operation: ScriptOperation, lanes: number, seconds: number): Promise<number>;
}

export interface StoreScriptOptions {
  /** Default: a bucket. */
  readonly on?: ScriptStorage;
  /** The command line of another build; default: this one's. */
  readonly program?: string;
}

/** Starts `store serve` with the script; its data is in data/ of the directory. */
export async function startStoreScript(
  directory: string,
  started: ChildProcess[],
  { on = "bucket", program }: StoreScriptOptions = {},
): Promise<ScriptServer & { readonly s3Url: string }> {
  mkdirSync(directory);
  const { bindings } = storages[on];
  writeFileSync(join(directory, "index.js"), scriptOn(storages[on]));
  const more = ["--create-buckets"];
  const { url, s3 } = await startStoreWith(directory, started, { bindings, more, program });
  return { ...(await scriptServerAt(url)), s3Url: s3.url };
}

/** Starts miniflare with its data in a folder on disk, like Store's data. */
export async function startMiniflareScript(
  context: Context,
  started: ChildProcess[],
  on: ScriptStorage = "bucket",
): Promise<ScriptServer> {
  const cache = await installPeer(context, "miniflare", miniflareVersion);
  const file = join(cache, "serve-operations.mjs");
  writeFileSync(
    file,
    `import { Miniflare } from "miniflare";
const [, , script, options] = process.argv;
const miniflare = new Miniflare({
  modules: true,
  script,
  compatibilityDate: "2026-04-01",
  ...JSON.parse(options),
  host: "127.0.0.1",
  port: 0,
});
process.on("SIGTERM", () => miniflare.dispose().finally(() => process.exit()));
console.log(JSON.stringify({ url: String(await miniflare.ready) }));
`,
  );
  const { miniflare, persist } = storages[on];
  const options = JSON.stringify({ ...miniflare, [persist]: join(context.directory, "miniflare") });
  const child = start([file, scriptOn(storages[on]), options], started);
  const { url } = JSON.parse(await firstDocument(child)) as { url: string };
  return scriptServerAt(url);
}

async function scriptServerAt(url: string): Promise<ScriptServer> {
  const ask = async (operation: ScriptOperation, lanes: number, count: number): Promise<number> => {
    const begin = performance.now();
    const asked = new URLSearchParams({ operation, lanes: String(lanes), count: String(count) });
    const response = await fetch(`${url}?${asked}`);
    const said = await response.text();
    if (said !== String(count)) throw new Error(`Cannot measure: the script answered ${said.slice(0, 80)}`);
    return performance.now() - begin;
  };
  await ask("put", 32, keys);
  /** Number of operations for the next request, estimated from the duration of the last request. */
  const fitting = new Map<string, number>();
  return {
    async rate(operation, lanes, seconds) {
      const name = `${operation} ${lanes}`;
      const end = performance.now() + seconds * 1000;
      let done = 0;
      let spent = 0;
      do {
        const count = fitting.get(name) ?? 2 * lanes;
        const time = await ask(operation, lanes, count);
        done += count;
        spent += time;
        const fits = Math.round((count * requestMs[operation]) / time);
        fitting.set(name, Math.max(lanes, Math.min(fits, 4 * count)));
      } while (performance.now() < end);
      return (done / spent) * 1000;
    },
  };
}
