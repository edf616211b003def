// Section "writers": concurrent durable puts compared with appends that share one sync per group.
// The difference is the cost of a put without the sync, which every durable store needs.
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../src/index.ts";
import { fileWrites, groupAppend } from "../limits.ts";
import { perSecond } from "../measure.ts";
import { type Context, compare, KiB, type Section } from "../section.ts";

const lanes = 64;
const objects = 10_000;

export const writers: Section = {
  name: "writers",
  description: "durable put of 1, 16 and 64 KiB at 64 lanes, new keys and overwrites",
  run,
};

async function run(context: Context): Promise<void> {
  const { directory, pace } = context;
  const raw = join(directory, "raw");
  mkdirSync(raw);
  mkdirSync(join(directory, "store"));
  const store = await openStore(join(directory, "store"));
  for (const size of [1, 16, 64].map((count) => count * KiB)) {
    const body = randomBytes(size);
    const work = { lanes, seconds: pace.seconds, operations: Math.floor(pace.bytes / size) };
    const byHand = groupAppend(raw, body, lanes, pace.seconds);
    const name = `writers-${size}`;
    await store.createBucket(name);
    const bucket = store.bucket(name);
    let next = 0;
    const measured = (what: string, key: () => string) =>
      compare(context, {
        what: `put, ${what}`,
        size,
        lanes,
        unit: "op/s",
        round: () => perSecond(work, () => bucket.put(key(), body)),
        limits: [byHand, fileWrites(raw, body, work)],
        bar: { atLeast: 0.4, of: byHand.name },
      });
    await measured("new keys", () => `object-${next++}`);
    const overwritten = Math.min(next, objects);
    await measured("overwrites", () => `object-${next++ % overwritten}`);
    await store.sweep();
  }
  await store.close();
}
