// Section "quotas": puts of 1 KiB into a bucket with a quota, and into one of an account with a quota,
// each against a bucket without, in alternating rounds.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Engine } from "../../src/engine/engine.ts";
import { openEngine } from "../../src/open.ts";
import { forEach, perSecond } from "../measure.ts";
import { type Context, compare, KiB, random, type Section } from "../section.ts";

export const quotas: Section = {
  name: "quotas",
  description: "put of 1 KiB with a quota of the bucket or of its account, against none",
  run,
};

const objects = 10_000;
const size = KiB;
const quota = { bytes: 1e15, objects: 1e12 };
const key = (index: number) => `object-${index}`;

async function run(context: Context): Promise<void> {
  // The difference is a few percent, which many short rounds show better than a few long rounds.
  const pace = context.quick ? context.pace : { ...context.pace, rounds: 31, seconds: 0.5 };
  const { seconds } = pace;
  const body = randomBytes(size);
  const { engine } = await openEngine(join(context.directory, "store"));
  await prepare(engine, body);
  const put = (bucket: string, lanes: number) => () =>
    perSecond({ lanes, seconds }, () => engine.put(bucket, key(random(objects)), body));
  for (const [what, bucket] of [
    ["put, quota of the bucket", "limited"],
    ["put, quota of the account", "shared"],
  ] as const) {
    for (const lanes of [1, 64]) {
      await compare(
        { ...context, pace },
        {
          ...{ what, size, lanes, unit: "op/s", round: put(bucket, lanes) },
          limits: [{ name: "no quota", round: put("free", lanes) }],
          bar: { atLeast: 0.95, of: "no quota" },
        },
      );
    }
  }
  await engine.close();
}

async function prepare(engine: Engine, body: Uint8Array): Promise<void> {
  await engine.createBucket("free");
  await engine.createBucket("limited");
  await engine.changeSettings("limited", { quota });
  // The account has more buckets, which all count.
  for (const name of ["shared", ...Array.from({ length: 9 }, (_, i) => `other-${i}`)])
    await engine.createBucket(name, { account: "team" });
  await engine.quotas.setAccountQuota("team", quota);
  for (const bucket of ["free", "limited", "shared"])
    await forEach(objects, 256, (index) => engine.put(bucket, key(index), body));
}
