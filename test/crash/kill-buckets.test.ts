// Killed while buckets are made and deleted: every bucket is whole or absent, and its name usable again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStore, type Store } from "../../src/index.ts";
import { assertBytes } from "../support/bytes.ts";
import { seeded } from "../support/random.ts";
import { temporaryDirectory } from "../support/stores.ts";
import { bytesOf, KiB } from "./bodies.ts";
import type { MakerReport, MakerTask } from "./kill-bucket-maker.ts";
import { runUntilKilled } from "./killed.ts";
import { assertNothingLeftOver } from "./on-disk.ts";

const rounds = 5;
const names = ["first", "second", "third"];
const content = [
  { key: "large", value: { name: "large", size: 100 * KiB } },
  { key: "small", value: { name: "small", size: 100 } },
];
const allKeys = content.map(({ key }) => key);

/** What a bucket may hold by the last word on it: lists of keys; undefined stands for no bucket. */
type Possible = readonly (readonly string[] | undefined)[];

test("after kill -9 while buckets are made and deleted each is whole or absent", async (t) => {
  await seeded(async (random) => {
    const directory = await temporaryDirectory(t);
    const known = new Map<string, Possible>(names.map((name) => [name, [undefined]]));
    let steps = 0;
    for (let round = 0; round < rounds; round++) {
      const task: MakerTask = { directory, names, content };
      const killing = { program: "./kill-bucket-maker.js", task, random, reports: 100 };
      for (const report of await runUntilKilled<MakerReport>(killing)) {
        known.set(report.name, possibleAfter(known.get(report.name)!, report));
        if (report.said === "done") steps++;
      }
      await assertRecovered(directory, known);
    }
    assert.ok(steps > rounds, "there was a load");
    t.diagnostic(`${rounds} kills, ${steps} acknowledged steps`);
  });
});

function possibleAfter(before: Possible, { said, step }: MakerReport): Possible {
  switch (step) {
    case "create":
      return said === "done" ? [[]] : [undefined, []];
    case "fill":
      return said === "done" ? [allKeys] : [[], ["large"], ["small"], allKeys];
    case "empty":
      // One batch is one transaction: all that was there, or nothing.
      return said === "done" ? [[]] : [...before, []];
    case "delete":
      return said === "done" ? [undefined] : [undefined, []];
  }
}

async function assertRecovered(directory: string, known: Map<string, Possible>): Promise<void> {
  const store = await openStore(directory);
  try {
    const existing = (await store.listBuckets()).map(({ name }) => name);
    for (const [name, possible] of known) {
      const found = existing.includes(name) ? await wholeKeys(store, name) : undefined;
      const fits = possible.some((keys) => String(keys) === String(found));
      assert.ok(fits, `"${name}" holds ${String(found)}, not one of ${JSON.stringify(possible)}`);
      if (found === undefined) await store.createBucket(name);
      await assertUsable(store, name, found ?? []);
      known.set(name, [found ?? []]);
    }
    await store.sweep();
  } finally {
    await store.close();
  }
  assertNothingLeftOver(directory);
}

async function wholeKeys(store: Store, name: string): Promise<string[]> {
  const bucket = store.bucket(name);
  const keys = (await bucket.list()).objects.map(({ key }) => key);
  for (const { key, value } of content) {
    const found = await bucket.get(key);
    assert.equal(found !== null, keys.includes(key), `get and list agree on "${key}" of "${name}"`);
    if (found !== null) assertBytes(await found.bytes(), bytesOf(key, value), `"${key}" of "${name}"`);
  }
  return keys;
}

async function assertUsable(store: Store, name: string, keys: readonly string[]): Promise<void> {
  const bucket = store.bucket(name);
  await bucket.put("probe", bytesOf("probe", { name: "probe", size: 10 * KiB }));
  await bucket.delete("probe");
  if (keys.length > 0) return;
  await store.deleteBucket(name);
  await store.createBucket(name);
}
