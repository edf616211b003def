// Damage to a bucket's database: bodies kept beside their records, the records, and what ties the two.
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

/** A read that never ends is a wrong answer too. */
const timeout = 240_000;
const name = "rotten";

// Of each kind several alike: what points to the wrong one of them then finds something plausible.
const kinds = ["small", "large", "in parts"] as const;
const sizes = { small: 90, large: 64 * KiB, "in parts": 20 * KiB };
const objects: Stored[] = kinds.flatMap((kind) =>
  [1, 2, 3, 4].map((i) => ({ key: `${kind} ${i}`, value: { name: String(i), size: sizes[kind] } })),
);

/** A closed store with all its records in the database's own file. */
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
  /** Where its header begins. */
  readonly start: number;
  /** Where the record begins, as text. */
  readonly text: number;
  readonly end: number;
}

/** Where the row of an object is: the key, the version and so on, then the record with its checksum. */
function rowOf(database: Buffer, key: string): Row {
  const text = database.indexOf(`[1,"${key}"`);
  const at = database.lastIndexOf(key, text - 1);
  const end = database.indexOf("]", database.indexOf('"Standard"', text)) + 1;
  assert.ok(at > 0 && text - at < 200 && end > text, `the row of "${key}" was found`);
  const header = 14;
  return { start: at - header, text, end: end + 8 };
}

/** Whole and in part: right bytes or a StoreError, and nothing else. */
async function readDamaged(bucket: StoreBucket, stored: Stored): Promise<Outcome> {
  const outcomes = [
    await read(bucket, stored),
    await read(bucket, stored, { offset: 3, length: 50 }),
    await read(bucket, stored, { suffix: 10 }),
  ];
  return outcomes.find((outcome) => outcome !== "right") ?? "right";
}

test("a bit flipped in a body kept beside its record is told", { timeout }, async (t) => {
  await seeded(async (random) => {
    const { directory, path } = await closedStore(t);
    const file = readFileSync(path);
    for (let i = 0; i < 40; i++) {
      const stored = random.pick(objects.filter(({ key }) => key.startsWith("small")));
      const at = file.indexOf(bytesOf(stored.key, stored.value));
      assert.ok(at > 0, "the body was found");
      // With the checksum behind it.
      const flip = { path, offset: at + random.below(stored.value.size + 4), bit: random.below(8) };
      flipBit(flip);
      const opened = await openStore(directory);
      assert.equal(await readDamaged(opened.bucket(name), stored), "refused", JSON.stringify(flip));
      await opened.close();
      flipBit(flip);
    }
  });
});

test("a bit flipped in a record is told", { timeout }, async (t) => {
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
  test(`each bit that ties a record to its body is flipped once, ${kind}`, { timeout }, async (t) => {
    const { directory, path } = await closedStore(t);
    const stored = objects.find(({ key }) => key === `${kind} 2`)!;
    const { start, text } = rowOf(readFileSync(path), stored.key);
    // Held open: the database is read through the system's own pages, so a flip shows at once.
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
          assert.notEqual(outcome, "missing", "answered as missing");
        } catch (error) {
          wrong.set(String(error), `bit ${flip.bit} of byte ${flip.offset - start} of the row`);
        }
        flipBit(flip);
      }
    } finally {
      await opened.close();
    }
    assert.ok(counts.refused > 0, "the flips were seen");
    assert.deepEqual(wrong, new Map(), `what came out, with the last flip that did it`);
    t.diagnostic(`${(text - start) * 8} flips: ${JSON.stringify(counts)}`);
  });
}

test("a bit flipped anywhere in the database never gives a wrong byte", { timeout }, async (t) => {
  await seeded(async (random) => {
    const { directory, path } = await closedStore(t);
    const { length } = readFileSync(path);
    const counts = { right: 0, refused: 0, missing: 0, "not opened": 0 };
    for (let i = 0; i < 80; i++) {
      const flip = { path, offset: random.below(length), bit: random.below(8) };
      flipBit(flip);
      try {
        // A database that cannot be opened at all is told at once.
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
