// Section "contention": concurrent create-only puts of one key, from one and from four processes.
// Exactly one put may succeed.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openStore, type StoreBucket } from "../../src/index.ts";
import type { Won } from "../child.ts";
import { figure } from "../measure.ts";
import { type Context, makeRow, present, type Section } from "../section.ts";

const puts = 100;
const processes = 4;

export const contention: Section = {
  name: "contention",
  description: "100 concurrent create-only puts of one key, from one process and from four",
  run,
};

async function run(context: Context): Promise<void> {
  const directory = join(context.directory, "store");
  mkdirSync(directory);
  const store = await openStore(directory);
  await store.createBucket("contention");
  const bucket = store.bucket("contention");
  const rounds = context.quick ? 5 : 25;

  const inOne = await winners(bucket, rounds, "one process", (key) =>
    createAtOnce(bucket, key, puts, "own-"),
  );
  context.row(makeRow({ ...row, what: "100 puts, one process" }, [figure(inOne)]));

  const children = Array.from({ length: processes }, () =>
    context.children.start({
      kind: "contend",
      directory,
      bucket: "contention",
      puts: puts / processes,
    }),
  );
  await Promise.all(children.map((child) => child.said()));
  const across = await winners(bucket, rounds, "four processes", async (key) => {
    for (const child of children) child.tell({ key });
    const said = await Promise.all(children.map((child) => child.said()));
    return said.flatMap((message) => (message as Won).winners);
  });
  for (const child of children) child.tell({});
  await Promise.all(children.map((child) => child.ended()));
  context.row(makeRow({ ...row, what: "100 puts, four processes" }, [figure(across)]));
  context.note(`Winners per key, over ${rounds} keys; each key holds the body of its winner.`);
  await store.close();
}

const row = { lanes: puts, unit: "winners", bar: { exactly: 1 } } as const;

/** Returns the number of successful puts for each key. */
async function winners(
  bucket: StoreBucket,
  rounds: number,
  name: string,
  race: (key: string) => Promise<string[]>,
): Promise<number[]> {
  const counts: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const key = `${name} ${round}`;
    const won = await race(key);
    const stored = await present(await bucket.get(key), key).text();
    if (won.length === 1 && won[0] !== stored) {
      throw new Error(`The winner of "${key}" is "${won[0]}", but "${stored}" is stored`);
    }
    counts.push(won.length);
  }
  return counts;
}

/** Runs `count` concurrent create-only puts of one key; returns the bodies that were stored. */
export async function createAtOnce(
  bucket: StoreBucket,
  key: string,
  count: number,
  name: string,
): Promise<string[]> {
  const won: string[] = [];
  const one = async (_: unknown, index: number) => {
    const body = name + index;
    if ((await bucket.put(key, body, { onlyIf: { etagDoesNotMatch: "*" } })) !== null) won.push(body);
  };
  await Promise.all(Array.from({ length: count }, one));
  return won;
}
