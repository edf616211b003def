// Damage to a bucket's database: to inline bodies, to records, and to the columns that link them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { DatabaseSync } from "@photostructure/sqlite";
import { openStore, type StoreBucket } from "../../../src/index.ts";
import { bucketPaths, dataLayout } from "../../../src/local/disk/layout.ts";
import { bytesOf, KiB } from "../../support/bodies.ts";
import { flipBit, type Outcome, read, type Stored, store, storeParts } from "../../support/disk/damage.ts";
import { bucketIds } from "../../support/disk/on-disk.ts";
import { seeded } from "../../support/random.ts";
import { temporaryDirectory } from "../../support/stores.ts";

/** Timeout of each test, so that a read that never ends fails the test. */
const timeout = 240_000;
const name = "rotten";

// Several similar objects of each kind, so that a wrong reference finds something plausible.
const kinds = ["small", "large", "in parts"] as const;
const sizes = { small: 90, large: 64 * KiB, "in parts": 20 * KiB };
const objects: Stored[] = kinds.flatMap((kind) =>
  [1, 2, 3, 4].map((i) => ({ key: `${kind} ${i}`, value: { name: String(i), size: sizes[kind] } })),
);

/** Returns a closed store with all records in the database file and none in the write-ahead log. */
async function closedStore(t: TestContext): Promise<{ directory: string; path: string }> {
  const directory = await temporaryDirectory(t);
  const opened = await openStore(directory);
  await opened.createBucket(name);
  for (const stored of objects) {
    const inParts = stored.key.startsWith("in parts");
    await (inParts ? storeParts : store)(opened.bucket(name), stored);
  }
  await opened.close();
  const path = bucketPaths(dataLayout(directory), bucketIds(directory).get(name)!).database;
  const database = new DatabaseSync(path);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  return { directory, path };
}

interface Row {
  /** The offset of the row's header. */
  readonly start: number;
  /** The offset of the record's text. */
  readonly text: number;
  readonly end: number;
}

/** Finds the row of an object: its columns, then the record with its checksum. */
function rowOf(database: Buffer, key: string): Row {
  const text = database.indexOf(`[1,"${key}"`);
  const at = database.lastIndexOf(key, text - 1);
  const end = database.indexOf("]", database.indexOf('"Standard"', text)) + 1;
  assert.ok(at > 0 && text - at < 200 && end > text, `the row of "${key}" was found`);
  const header = 14;
  return { start: at - header, text, end: end + 8 };
}

/** Checks that full and range reads return the right bytes or fail with a StoreError. */
async function readDamaged(bucket: StoreBucket, stored: Stored): Promise<Outcome> {
  const outcomes = [
    await read(bucket, stored),
    await read(bucket, stored, { offset: 3, length: 50 }),
    await read(bucket, stored, { suffix: 10 }),
  ];
  return outcomes.find((outcome) => outcome !== "right") ?? "right";
}

test("a flipped bit in an inline body is reported as damage", { timeout }, async (t) => {
  await seeded(async (random) => {
    const { directory, path } = await closedStore(t);
    const file = readFileSync(path);
    for (let i = 0; i < 40; i++) {
      const stored = random.pick(objects.filter(({ key }) => key.startsWith("small")));
      const at = file.indexOf(bytesOf(stored.key, stored.value));
      assert.ok(at > 0, "the body was found");
      // The flipped bit is in the body or in the checksum after it.
      const flip = { path, offset: at + random.below(stored.value.size + 4), bit: random.below(8) };
      flipBit(flip);
      const opened = await openStore(directory);
      assert.equal(await readDamaged(opened.bucket(name), stored), "refused", JSON.stringify(flip));
      await opened.close();
      flipBit(flip);
    }
  });
});

test("a flipped bit in a record is reported as damage", { timeout }, async (t) => {
  await seeded(async (random) => {
    const { directory, path } = await closedStore(t);
    const file = readFileSync(path);
    for (let i = 0; i < 60; i++) {
      const stored = random.pick(objects);
      const { text, end } = rowOf(file, stored.key);
      const flip = { path, offset: random.between(text, end - 1), bit: random.below(8) };
      flipBit(flip);
      const opened = await openStore(directory);
      assert.notEqual(await readDamaged(opened.bucket(name), stored), "missing", JSON.stringify(flip));
      await opened.close();
      flipBit(flip);
    }
  });
});

for (const kind of kinds) {
  test(`a flipped bit in the columns that link a ${kind} body to its record never returns wrong bytes`, {
    timeout,
  }, async (t) => {
    const { directory, path } = await closedStore(t);
    const stored = objects.find(({ key }) => key === `${kind} 2`)!;
    const { start, text } = rowOf(readFileSync(path), stored.key);
    // The store stays open: the database is memory-mapped, so a flipped bit is visible immediately.
    const opened = await openStore(directory);
    const counts = { right: 0, refused: 0, missing: 0 };
    const wrong = new Map<string, string>();
    try {
      for (let at = start * 8; at < text * 8; at++) {
        const flip = { path, offset: at >> 3, bit: at & 7 };
        flipBit(flip);
        try {
          const outcome = await readDamaged(opened.bucket(name), stored);
          counts[outcome]++;
          assert.notEqual(outcome, "missing", "damage is not reported as a missing object");
        } catch (error) {
          wrong.set(String(error), `bit ${flip.bit} of byte ${flip.offset - start} of the row`);
        }
        flipBit(flip);
      }
    } finally {
      await opened.close();
    }
    assert.ok(counts.refused > 0, "some flips were reported");
    assert.deepEqual(wrong, new Map(), `what came out, with the last flip that did it`);
    t.diagnostic(`${(text - start) * 8} flips: ${JSON.stringify(counts)}`);
  });
}

test("a flipped bit anywhere in the database never returns wrong bytes", { timeout }, async (t) => {
  await seeded(async (random) => {
    const { directory, path } = await closedStore(t);
    const { length } = readFileSync(path);
    const counts = { right: 0, refused: 0, missing: 0, "not opened": 0 };
    for (let i = 0; i < 80; i++) {
      const flip = { path, offset: random.below(length), bit: random.below(8) };
      flipBit(flip);
      try {
        // Opening may fail: the damage is then reported immediately.
        const opened = await openStore(directory).catch(() => undefined);
        if (opened === undefined) counts["not opened"]++;
        for (const stored of opened === undefined ? [] : objects) {
          counts[await read(opened!.bucket(name), stored)]++;
        }
        await opened?.close();
      } catch (error) {
        throw new Error(`bit ${flip.bit} at ${flip.offset} flipped: ${String(error)}`, { cause: error });
      }
      flipBit(flip);
    }
    t.diagnostic(JSON.stringify(counts));
  });
});
