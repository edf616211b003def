// A child process of the benchmark: runs one task, passed as its only argument, and reports by IPC.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from "node:fs";
import { openStore, type Store, type StoreBucket } from "../src/index.ts";
import { drain, repeated, streamBucket } from "./bodies.ts";
import { holdStreams } from "./growth/held.ts";
import { perSecond } from "./measure.ts";
import { KiB, MiB, present } from "./section.ts";
import { createAtOnce } from "./sections/contention.ts";

export type Task =
  /** Opens the store, calls head once, and reports both durations. */
  | { readonly kind: "open"; readonly directory: string; readonly bucket: string; readonly key: string }
  /** Puts objects until the process is killed; sends a message after the first 1,000 puts. */
  | { readonly kind: "write on"; readonly directory: string; readonly bucket: string }
  /** Streams one large body through the store or with plain system calls; reports peak memory. */
  | {
      readonly kind: "put stream" | "get stream" | "write by hand" | "read by hand";
      readonly directory: string;
      readonly bytes: number;
    }
  /** Keeps `streams` streams open and reports the memory per stream. */
  | { readonly kind: "hold get" | "hold put"; readonly directory: string; readonly streams: number }
  /** For each received key, runs concurrent create-only puts and reports the successful puts. */
  | { readonly kind: "contend"; readonly directory: string; readonly bucket: string; readonly puts: number };

export interface Opened {
  readonly openMs: number;
  readonly firstMs: number;
}

export interface Streamed {
  readonly peakMiB: number;
  readonly seconds: number;
}

export interface Held {
  readonly KiBEach: number;
}

export interface Won {
  readonly winners: readonly string[];
}

const streamKey = "one large object";

async function run(task: Task): Promise<void> {
  switch (task.kind) {
    case "open":
      return withStore(task.directory, async (store, openMs) => {
        const begin = performance.now();
        present(await store.bucket(task.bucket).head(task.key), task.key);
        say({ openMs, firstMs: performance.now() - begin } satisfies Opened);
      });
    case "write on":
      return withStore(task.directory, (store) => writeOn(store.bucket(task.bucket)));
    case "put stream":
      return withStore(task.directory, async (store) => {
        const bucket = store.bucket(streamBucket);
        await bucket.put("warm", "a few bytes");
        await weigh(() => bucket.put(streamKey, repeated(task.bytes)));
      });
    case "get stream":
      return withStore(task.directory, async (store) => {
        const bucket = store.bucket(streamBucket);
        await present(await bucket.get("warm"), "warm").text();
        await weigh(async () => drain(present(await bucket.get(streamKey), streamKey).body, task.bytes));
      });
    case "write by hand":
      return weigh(async () => writeByHand(`${task.directory}/by-hand`, task.bytes));
    case "read by hand":
      return weigh(async () => readByHand(`${task.directory}/by-hand`));
    case "hold get":
    case "hold put":
      return withStore(task.directory, async (store) => {
        const which = task.kind === "hold get" ? "get" : "put";
        const KiBEach = await holdStreams(store.bucket(streamBucket), which, task.streams);
        say({ KiBEach } satisfies Held);
      });
    case "contend":
      return withStore(task.directory, (store) => contend(store.bucket(task.bucket), task.puts));
  }
}

async function withStore(
  directory: string,
  use: (store: Store, openMs: number) => Promise<void>,
): Promise<void> {
  const begin = performance.now();
  const store = await openStore(directory);
  await use(store, performance.now() - begin);
  await store.close();
}

async function writeOn(bucket: StoreBucket): Promise<void> {
  const body = Buffer.alloc(KiB, 1);
  let written = 0;
  await perSecond({ lanes: 64, seconds: 3600 }, async (lane) => {
    await bucket.put(`written on/${lane}`, body);
    if (++written === 1000) say("writing");
  });
}

async function contend(bucket: StoreBucket, puts: number): Promise<void> {
  say("ready");
  for (;;) {
    const [message] = (await once(process, "message")) as [{ readonly key?: string }];
    const { key } = message;
    if (key === undefined) return;
    say({ winners: await createAtOnce(bucket, key, puts, `${process.pid}-`) } satisfies Won);
  }
}

function writeByHand(path: string, bytes: number): void {
  const buffer = Buffer.alloc(MiB, 1);
  const hash = createHash("md5");
  const file = openSync(path, "w");
  for (let at = 0; at < bytes; at += buffer.length) {
    hash.update(buffer);
    writeSync(file, buffer);
  }
  fdatasyncSync(file);
  closeSync(file);
  hash.digest();
}

function readByHand(path: string): void {
  const buffer = Buffer.alloc(MiB);
  const file = openSync(path, "r");
  while (readSync(file, buffer) > 0);
  closeSync(file);
}

/** Runs `work`; reports its duration and how much the resident memory of this process grows. */
async function weigh(work: () => Promise<unknown>): Promise<void> {
  globalThis.gc?.();
  const start = process.memoryUsage.rss();
  const highest = process.resourceUsage().maxRSS;
  let peak = start;
  const sampler = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 5);
  const begin = performance.now();
  await work();
  const seconds = (performance.now() - begin) / 1000;
  clearInterval(sampler);
  // maxRSS includes peaks between samples; if `work` did not raise maxRSS, its value is ignored.
  const mark = process.resourceUsage().maxRSS;
  if (mark > highest) peak = Math.max(peak, mark * KiB);
  say({ peakMiB: (peak - start) / MiB, seconds } satisfies Streamed);
}

function say(message: unknown): void {
  process.send?.(message);
}

// Exit when the parent exits for any reason.
process.once("disconnect", () => process.exit());
await run(JSON.parse(process.argv[2] ?? "") as Task);
process.disconnect();
