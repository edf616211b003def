// Collects the reports of bucket-writer.ts and derives the allowed states of each bucket after the
// process has ended: every bucket is complete or absent, and its name can be used again.
import assert from "node:assert/strict";
import { openStore, type Store } from "../../../src/index.ts";
import { bytesOf, KiB } from "../bodies.ts";
import { assertBytes } from "../bytes.ts";
import { assertNothingLeftOver } from "../disk/on-disk.ts";
import type { MakerReport } from "./bucket-writer.ts";

export const names = ["first", "second", "third"];
export const content = [
  { key: "large", value: { name: "large", size: 100 * KiB } },
  { key: "small", value: { name: "small", size: 100 } },
];
const allKeys = content.map(({ key }) => key);

/** Allowed states of a bucket: lists of its keys, or undefined if the bucket does not exist. */
type Possible = readonly (readonly string[] | undefined)[];

export interface BucketLedger {
  /** Records a report; returns the number of steps that it acknowledges. */
  learn(report: MakerReport): number;
  /** Records a report read after the cut: its step may or may not have taken effect. */
  learnInDoubt(report: MakerReport): void;
  /** Opens the directory, compares it with the reports, closes it; returns the object count. */
  assertRecovered(directory: string): Promise<number>;
}

export function createBucketLedger(): BucketLedger {
  const known = new Map<string, Possible>(names.map((name) => [name, [undefined]]));

  async function assertBuckets(store: Store): Promise<number> {
    const existing = (await store.listBuckets()).map(({ name }) => name);
    let objects = 0;
    for (const [name, possible] of known) {
      const found = existing.includes(name) ? await wholeKeys(store, name) : undefined;
      const fits = possible.some((keys) => String(keys) === String(found));
      assert.ok(fits, `"${name}" holds ${String(found)}, not one of ${JSON.stringify(possible)}`);
      if (found === undefined) await store.createBucket(name);
      await assertUsable(store, name, found ?? []);
      known.set(name, [found ?? []]);
      objects += found?.length ?? 0;
    }
    return objects;
  }

  return {
    learn(report) {
      known.set(report.name, possibleAfter(known.get(report.name)!, report));
      return report.said === "done" ? 1 : 0;
    },
    learnInDoubt({ name, step }) {
      const before = known.get(name)!;
      known.set(name, [...before, ...possibleAfter(before, { said: "trying", name, step })]);
    },
    async assertRecovered(directory) {
      const store = await openStore(directory);
      let objects = 0;
      try {
        objects = await assertBuckets(store);
        await store.sweep();
      } finally {
        await store.close();
      }
      assertNothingLeftOver(directory);
      return objects;
    },
  };
}

function possibleAfter(before: Possible, { said, step }: MakerReport): Possible {
  switch (step) {
    case "create":
      return said === "done" ? [[]] : [undefined, []];
    case "fill":
      return said === "done" ? [allKeys] : [[], ["large"], ["small"], allKeys];
    case "empty":
      // A batch is one transaction: it deletes all keys or none.
      return said === "done" ? [[]] : [...before, []];
    case "delete":
      return said === "done" ? [undefined] : [undefined, []];
  }
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
