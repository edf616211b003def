// Section "churn": whether a large store stays fast after minutes of overwrites and many deletes.
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { openStore, type StoreBucket } from "../../src/index.ts";
import type { LargeStore } from "../large-store.ts";
import { groupAppend, type Limit } from "../limits.ts";
import { figure, forEach, perSecond } from "../measure.ts";
import { type Context, KiB, MiB, makeRow, present, random, type Section } from "../section.ts";

const lanes = 64;
const size = KiB;

export const churn: Section = {
  name: "churn",
  description: "minutes of overwriting the large store, deleting 80 % of it, and one minute more",
  run,
};

async function run(context: Context): Promise<void> {
  const large = await context.largeStore?.();
  if (large === undefined) {
    context.note("Churn is skipped; name this section with --only to run it.");
    return;
  }
  const raw = join(context.directory, "raw");
  mkdirSync(raw);
  const limit = groupAppend(raw, body, lanes, context.quick ? 0.5 : 2);
  const store = await openStore(large.directory);
  const bucket = store.bucket(large.bucket);
  const any = () => large.key(random(large.objects));
  const kept = () => large.key(random(large.objects / 5) * 5);

  sizesOnDisk(context, large, "at the beginning", large.objects);
  const slices = Math.max(2, Math.round(context.minutes));
  const seconds = (context.minutes * 60) / slices;
  await reads(context, bucket, any, "before", seconds / 6);
  const minutes: Minute[] = [];
  for (let slice = 1; slice <= slices; slice++) {
    const what = `put, minute ${slice}`;
    minutes.push(await puts({ context, bucket, key: any, what, seconds, limit }));
  }
  const [first, last] = [minutes[0]!, minutes.at(-1)!];
  const row = { unit: "times", bar: { atLeast: 0.8 } } as const;
  context.row(makeRow({ ...row, what: "last minute : first" }, [figure([last.rate / first.rate])]));
  // A constant CPU time per put means that a lower rate is due to other load on the machine.
  const cpu = figure([last.cpuPerPut / first.cpuPerPut]);
  context.row(makeRow({ what: "CPU per put, last : first", unit: "times" }, [cpu]));
  sizesOnDisk(context, large, "after the overwrites", large.objects);

  await deleteMost(context, bucket, large);
  sizesOnDisk(context, large, "after the delete", large.objects / 5);
  await puts({ context, bucket, key: kept, what: "put, after the delete", seconds: seconds / 3, limit });
  await reads(context, bucket, kept, "after the delete", seconds / 3);
  await idle(context, large);
  sizesOnDisk(context, large, "once idle", large.objects / 5);
  await store.close();
  if (seconds !== 60) context.note(`A "minute" of this run has ${seconds} seconds.`);
}

const body = Buffer.alloc(size, 2);

interface Puts {
  readonly context: Context;
  readonly bucket: StoreBucket;
  readonly what: string;
  readonly seconds: number;
  readonly limit: Limit;
  key(): string;
}

interface Minute {
  readonly rate: number;
  /** CPU microseconds per put, summed over all threads. */
  readonly cpuPerPut: number;
}

async function puts({ context, bucket, key, what, seconds, limit }: Puts): Promise<Minute> {
  context.progress(what);
  globalThis.gc?.();
  const before = process.cpuUsage();
  const rate = await perSecond({ lanes, seconds }, () => bucket.put(key(), body));
  const { user, system } = process.cpuUsage(before);
  const byHand = await limit.round();
  const row = { what, size, lanes, unit: "op/s" } as const;
  context.row(makeRow(row, [figure([rate]), figure([byHand])], [limit]));
  return { rate, cpuPerPut: (user + system) / (rate * seconds) };
}

async function reads(
  context: Context,
  bucket: StoreBucket,
  key: () => string,
  when: string,
  seconds: number,
): Promise<void> {
  context.progress(`get and head, ${when}`);
  const get = async () => present(await bucket.get(key()), "an object").arrayBuffer();
  const head = async () => present(await bucket.head(key()), "an object");
  const row = { size, lanes, unit: "op/s" } as const;
  const gets = await perSecond({ lanes, seconds }, get);
  context.row(makeRow({ ...row, what: `get, ${when}` }, [figure([gets])]));
  const heads = await perSecond({ lanes, seconds }, head);
  context.row(makeRow({ ...row, what: `head, ${when}` }, [figure([heads])]));
}

/** Deletes all keys except every fifth, 1,000 keys per call. */
async function deleteMost(context: Context, bucket: StoreBucket, large: LargeStore): Promise<void> {
  const batch = 1250;
  const begin = performance.now();
  await forEach(Math.ceil(large.objects / batch), 4, async (index) => {
    if (index % 50 === 0) context.progress(`delete, ${(index * batch).toLocaleString("en")} passed`);
    const all = Array.from(
      { length: Math.min(batch, large.objects - index * batch) },
      (_, at) => at + index * batch,
    );
    await bucket.delete(all.filter((at) => at % 5 !== 0).map(large.key));
  });
  const rate = (large.objects * 0.8) / ((performance.now() - begin) / 1000);
  context.row(
    makeRow({ what: "delete of 80 %, 1,000 keys a call", lanes: 4, unit: "op/s" }, [figure([rate])]),
  );
}

/** Adds rows with the size of the store on disk, compared with the total size of its bodies. */
function sizesOnDisk(context: Context, large: LargeStore, when: string, live: number): void {
  const bodies = figure([(live * size) / MiB]);
  const taken = filesUnder(large.directory);
  const database = Math.max(...taken.filter(({ name }) => name.endsWith(".db")).map(({ bytes }) => bytes));
  const row = (what: string, bytes: number) =>
    context.row(
      makeRow(
        { what: `${what}, ${when}`, unit: "MiB" },
        [figure([bytes / MiB]), bodies],
        [{ name: "bodies alone" }],
      ),
    );
  row("database", database);
  row("all files", totalBytes(taken));
}

/** Waits until the files stop shrinking: the store may reclaim space only while it is idle. */
async function idle(context: Context, large: LargeStore): Promise<void> {
  context.progress("idle");
  let before = Number.POSITIVE_INFINITY;
  for (let second = 0; second < 300; second++) {
    await setTimeout(context.quick ? 1000 : 3000);
    const now = totalBytes(filesUnder(large.directory));
    if (now >= before) return;
    before = now;
  }
}

interface FileSize {
  readonly name: string;
  readonly bytes: number;
}

function filesUnder(directory: string): FileSize[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true }).flatMap((entry) => {
    // The open store may delete a file between readdir and stat.
    const found = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false });
    return found?.isFile() ? [{ name: entry.name, bytes: found.size }] : [];
  });
}

function totalBytes(files: readonly FileSize[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
