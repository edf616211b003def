// Section "space": how much disk the segments of a bucket take while its objects are overwritten at
// random, as a multiple of the living bytes.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { openStore } from "../../src/index.ts";
import { figure, forEach, perSecond } from "../measure.ts";
import { type Context, KiB, makeRow, random, type Section } from "../section.ts";

export const space: Section = {
  name: "space",
  description: "the disk space of bodies of 16 KiB that are overwritten at random, beside the living bytes",
  run,
};

const size = 16 * KiB;
const lanes = 64;
const sampleMilliseconds = 25;

async function run(context: Context): Promise<void> {
  await overwrite(context, 5000, 2);
  await overwrite(context, 20_000, 2);
  // A small bucket may keep a few segments of removed bytes whatever its size.
  await overwrite(context, 1000);
}

async function overwrite(context: Context, objects: number, atMost?: number): Promise<void> {
  const directory = join(context.directory, String(objects));
  const body = Buffer.alloc(size, 7);
  const store = await openStore(directory);
  await store.createBucket("bench");
  const bucket = store.bucket("bench");
  const put = (index: number) => bucket.put(`object-${index}`, body);
  await forEach(objects, lanes, put);

  context.progress(`overwriting ${objects} objects`);
  const samples: number[] = [];
  const stop = new AbortController();
  const seconds = context.quick ? 3 : 25;
  const [rate] = await Promise.all([
    perSecond({ lanes, seconds }, () => put(random(objects))).finally(() => stop.abort()),
    sample(directory, samples, stop.signal),
  ]);
  await store.close();

  const times = figure(samples.map((bytes) => bytes / (objects * size)));
  const what = `overwrites of ${objects.toLocaleString("en")} objects`;
  const bar = atMost === undefined ? {} : { bar: { atMost } };
  context.row(makeRow({ what, size, lanes, unit: "op/s" }, [figure([rate])]));
  context.row(makeRow({ what: `${what}: space at the peak`, unit: "times", ...bar }, [figure([times.high])]));
  context.row(makeRow({ what: `${what}: space, median`, unit: "times" }, [times]));
}

async function sample(directory: string, samples: number[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    samples.push(segmentBytes(directory));
    await setTimeout(sampleMilliseconds);
  }
}

/** Returns the bytes of all segments of the store. */
function segmentBytes(directory: string): number {
  let bytes = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !entry.parentPath.endsWith("segments")) continue;
    // The store may remove a file between readdir and stat.
    bytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}
