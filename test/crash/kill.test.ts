// Killed at any instant under load: no acknowledged write is lost, none is torn, no byte is orphaned.
import assert from "node:assert/strict";
import { watch } from "node:fs";
import { type TestContext, test } from "node:test";
import { openStore, type Store } from "../../src/index.ts";
import { assertBytes } from "../support/bytes.ts";
import { seeded } from "../support/random.ts";
import { temporaryDirectory } from "../support/stores.ts";
import { bytesOf, type Value } from "./bodies.ts";
import type { Report, WriterTask } from "./kill-writer.ts";
import { runUntilKilled } from "./killed.ts";
import { assertNothingLeftOver } from "./on-disk.ts";

const rounds = 10;
const freshRounds = 4;
const buckets = ["load-one", "load-two"];

/** What a key may hold: what was acknowledged last, or what was being written when the process died. */
interface Known {
  acknowledged: Value | null;
  tried: Value | null | undefined;
}

async function directoryWithBuckets(t: TestContext): Promise<string> {
  const directory = await temporaryDirectory(t);
  const store = await openStore(directory);
  for (const name of buckets) await store.createBucket(name);
  await store.close();
  return directory;
}

test("after kill -9 at any instant every acknowledged write is there, and nothing else", async (t) => {
  await seeded(async (random, seed) => {
    const directory = await directoryWithBuckets(t);
    const known = new Map<string, Known>();
    let acknowledged = 0;
    for (let round = 0; round < rounds; round++) {
      const task: WriterTask = { directory, buckets, seed: seed + round * 1000, round };
      const killing = { program: "./kill-writer.js", task, random, reports: 500 };
      for (const report of await runUntilKilled<Report>(killing)) acknowledged += learn(known, report);
      await assertRecovered(directory, known);
    }
    assert.ok(acknowledged > rounds, "there was a load");
    t.diagnostic(`${rounds} kills, ${acknowledged} acknowledged writes`);
  });
});

test("after kill -9 in the first writes to a new directory nothing is left over", async (t) => {
  await seeded(async (random, seed) => {
    for (let round = 0; round < freshRounds; round++) {
      const directory = await directoryWithBuckets(t);
      const known = new Map<string, Known>();
      const task: WriterTask = { directory, buckets, seed: seed + round * 1000, round };
      const killing = { program: "./kill-writer.js", task, random, reports: 20 };
      for (const report of await runUntilKilled<Report>(killing)) learn(known, report);
      await assertRecovered(directory, known);
    }
  });
});

test("after kill -9 while space is set aside for deletes on a full disk nothing is left over", async (t) => {
  await seeded(async (random, seed) => {
    const directory = await directoryWithBuckets(t);
    const task: WriterTask = { directory, buckets, seed, round: 0 };
    const known = new Map<string, Known>();
    const at = created(directory, (name) => name.startsWith("reserve"));
    const killing = { program: "./kill-writer.js", task, random, reports: 1000, at };
    for (const report of await runUntilKilled<Report>(killing)) learn(known, report);
    await assertRecovered(directory, known);
  });
});

/** Resolves when a file with such a name appears in the directory. */
function created(directory: string, isWanted: (name: string) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(directory, { persistent: false }, (_, name) => {
      if (name === null || !isWanted(name)) return;
      watcher.close();
      resolve();
    });
  });
}

function learn(known: Map<string, Known>, { said, bucket, keys, value }: Report): number {
  for (const key of keys) {
    const of = known.get(`${bucket} ${key}`) ?? { acknowledged: null, tried: undefined };
    known.set(`${bucket} ${key}`, of);
    if (said === "done") of.acknowledged = value;
    of.tried = said === "done" ? undefined : value;
  }
  return said === "done" ? 1 : 0;
}

async function assertRecovered(directory: string, known: Map<string, Known>): Promise<void> {
  const store = await openStore(directory);
  try {
    for (const [place, of] of known) {
      const [bucket = "", ...key] = place.split(" ");
      of.acknowledged = await assertOneOf(store, bucket, key.join(" "), of);
      of.tried = undefined;
    }
    for (const name of buckets) {
      const { objects } = await store.bucket(name).list();
      const found = objects.map(({ key }) => `${name} ${key}`);
      const expected = [...known].filter(([place, of]) => place.startsWith(name) && of.acknowledged !== null);
      assert.deepEqual(found, expected.map(([place]) => place).sort(), `the keys of ${name}`);
    }
    await store.sweep();
  } finally {
    await store.close();
  }
  assertNothingLeftOver(directory);
}

/** Which of the values that may be there is there, whole. */
async function assertOneOf(store: Store, bucket: string, key: string, of: Known): Promise<Value | null> {
  const found = await store.bucket(bucket).get(key);
  const possible = of.tried === undefined ? [of.acknowledged] : [of.acknowledged, of.tried];
  if (found === null) {
    assert.ok(possible.includes(null), `"${key}" was acknowledged as ${JSON.stringify(of)} and is gone`);
    return null;
  }
  const bytes = await found.bytes();
  const first = possible.find((value) => value !== null && bytesOf(key, value).equals(bytes));
  if (first === undefined || first === null) {
    const expected = possible.find((value) => value !== null);
    assert.ok(expected, `"${key}" is there, with ${bytes.length} bytes, though ${JSON.stringify(of)}`);
    assertBytes(bytes, bytesOf(key, expected), `"${key}", ${JSON.stringify(of)}`);
    return null;
  }
  return first;
}
