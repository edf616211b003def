// Section "small": objects of 1 KiB, whose cost is dominated by record lookup and commit sync.
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../src/index.ts";
import { fileReads, fileStats, groupAppend, md5Alone } from "../limits.ts";
import { forEach, perSecond } from "../measure.ts";
import { type Context, compare, KiB, present, random, type Section } from "../section.ts";

const objects = 10_000;
const size = KiB;

export const small: Section = {
  name: "small",
  description: "head, get and put of 1 KiB at 1 to 128 lanes",
  run,
};

async function run(context: Context): Promise<void> {
  const { directory, pace } = context;
  const { seconds } = pace;
  const body = randomBytes(size);
  const raw = join(directory, "raw");
  mkdirSync(raw);
  mkdirSync(join(directory, "store"));
  const store = await openStore(join(directory, "store"));
  await store.createBucket("small");
  const bucket = store.bucket("small");
  const key = (index: number) => `object-${index}`;
  await forEach(objects, 256, (index) => bucket.put(key(index), body));

  const head = async () => present(await bucket.head(key(random(objects))), "an object");
  const get = async () => present(await bucket.get(key(random(objects))), "an object").arrayBuffer();
  const put = () => bucket.put(key(random(objects)), body);

  const stats = fileStats(raw, objects, seconds);
  const files = fileReads(raw, body, objects, seconds);
  const lanes = context.quick ? [1, 64] : [1, 16, 64, 128];
  const row = { size, unit: "op/s" } as const;
  for (const count of lanes) {
    await compare(context, {
      ...row,
      what: "head",
      lanes: count,
      round: () => perSecond({ lanes: count, seconds }, head),
      limits: [stats],
      bar: { atLeast: 50_000 },
    });
  }
  for (const count of lanes) {
    await compare(context, {
      ...row,
      what: "get",
      lanes: count,
      round: () => perSecond({ lanes: count, seconds }, get),
      limits: [files],
      bar: { atLeast: 30_000 },
    });
  }
  for (const count of lanes) {
    await compare(context, {
      ...row,
      what: "put, durable",
      lanes: count,
      round: () => perSecond({ lanes: count, seconds }, put),
      limits: [groupAppend(raw, body, count, seconds), md5Alone(body, seconds)],
      bar: count === 64 ? { atLeast: 5_000 } : undefined,
    });
  }
  await store.close();
}
