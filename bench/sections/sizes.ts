// Section "sizes": objects from 64 KiB, whose cost is dominated by their bytes: a put hashes and
// syncs them, a get reads and verifies them.
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openStore, type StoreBucket } from "../../src/index.ts";
import { chunked, drain } from "../bodies.ts";
import {
  fileReads,
  fileWrites,
  keptReads,
  type Limit,
  md5Alone,
  streamReads,
  wholeReads,
} from "../limits.ts";
import { forEach, perSecond } from "../measure.ts";
import {
  type Context,
  compare,
  KiB,
  MiB,
  present,
  type Section,
  sameCount,
  unitOf,
  withinBound,
} from "../section.ts";

export const sizes: Section = {
  name: "sizes",
  description: "put and get of 64 KiB, 1 MiB and 64 MiB at 1 to 128 lanes",
  run,
};

async function run(context: Context): Promise<void> {
  const { directory } = context;
  mkdirSync(join(directory, "raw"));
  mkdirSync(join(directory, "store"));
  const store = await openStore(join(directory, "store"));
  await store.createBucket("sizes");
  const bucket = store.bucket("sizes");
  const sweep = () => store.sweep();
  for (const size of [64 * KiB, MiB, 64 * MiB]) {
    const body = randomBytes(size);
    const lanes = context.pace.lanes.filter((count) => withinBound(context, size, count));
    for (const count of lanes) await puts({ context, bucket, body, lanes: count, sweep });
    if (size === 64 * MiB) {
      for (const count of lanes) await puts({ context, bucket, body, lanes: count, sweep, stream: true });
    }
    await forEach(objectsOf(size), 4, (index) => bucket.put(getKey(size, index), body));
    const raw = join(directory, "raw");
    const { seconds } = context.pace;
    const byHand = fileReads(raw, body, objectsOf(size), seconds);
    for (const count of lanes) {
      const work = { lanes: count, seconds };
      const [whole, ...others] = [wholeReads, keptReads, streamReads].map((reads) =>
        reads(raw, body, objectsOf(size), work),
      );
      await gets({
        context,
        bucket,
        size,
        lanes: count,
        how: "body drained",
        limits: [whole!, byHand, ...others],
      });
      await gets({ context, bucket, size, lanes: count, how: "arrayBuffer", limits: [whole!] });
    }
  }
  await store.close();
}

interface Puts {
  readonly context: Context;
  readonly bucket: StoreBucket;
  readonly body: Buffer<ArrayBuffer>;
  readonly lanes: number;
  readonly stream?: boolean;
  sweep(): Promise<unknown>;
}

async function puts({ context, bucket, body, lanes, stream, sweep }: Puts): Promise<void> {
  const { seconds, bytes } = context.pace;
  const raw = join(context.directory, "raw");
  const size = body.length;
  const work = { lanes, seconds, operations: Math.floor(bytes / size) };
  const whole = body.buffer.slice(body.byteOffset, body.byteOffset + size);
  const value = () => (stream ? chunked(body) : whole);
  await compare(context, {
    what: stream ? "put, stream of 64 KiB" : "put, ArrayBuffer",
    size,
    lanes,
    unit: unitOf(size),
    round: async () => {
      const rate = await perSecond(work, (lane) => bucket.put(`put-${size}-${lane}`, value()));
      // Remove overwritten blobs now, so that their removal does not slow the next measurement.
      await sweep();
      return rate;
    },
    limits: [fileWrites(raw, body, work), md5Alone(body, seconds)],
    bar: size === 64 * MiB && lanes === 1 ? { atLeast: 0.8, of: "md5" } : undefined,
  });
}

/** Number of different objects to read: few enough to fit in the page cache. */
function objectsOf(size: number): number {
  return Math.max(4, Math.min(1024, (64 * MiB) / size));
}

function getKey(size: number, index: number): string {
  return `get-${size}-${index}`;
}

interface Gets {
  readonly context: Context;
  readonly bucket: StoreBucket;
  readonly size: number;
  readonly lanes: number;
  readonly how: "body drained" | "arrayBuffer";
  readonly limits: readonly [plain: Limit, ...others: Limit[]];
}

async function gets({ context, bucket, size, lanes, how, limits }: Gets): Promise<void> {
  const { seconds } = context.pace;
  let next = 0;
  const get = async () => {
    const object = present(await bucket.get(getKey(size, next++ % objectsOf(size))), "an object");
    if (how === "body drained") await drain(object.body, size);
    else sameCount((await object.arrayBuffer()).byteLength, size, "bytes");
  };
  await compare(context, {
    what: `get, ${how}`,
    size,
    lanes,
    unit: unitOf(size),
    round: () => perSecond({ lanes, seconds }, get),
    limits,
    bar: size === 64 * MiB && lanes === 1 ? { atLeast: 0.7, of: limits[0].name } : undefined,
  });
}
