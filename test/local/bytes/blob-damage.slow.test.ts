// Damage to blob files: a flipped bit, a truncated or a missing file is reported, never returned as
// data.
import assert from "node:assert/strict";
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { openStore, type StoreBucket, type StoreRange } from "../../../src/index.ts";
import { KiB, MiB } from "../../support/bodies.ts";
import { flipBit, type Outcome, read, type Stored, store, storeParts } from "../../support/disk/damage.ts";
import { type BlobFile, blobFiles } from "../../support/disk/on-disk.ts";
import { type Random, seeded } from "../../support/random.ts";
import { temporaryDirectory } from "../../support/stores.ts";

/** Timeout of each test, so that a read that never ends fails the test. */
const timeout = 240_000;
const flips = 400;
const block = 64 * KiB;
const ssecKey = "5e".repeat(32);

const whole: Stored[] = [
  { key: "a block", value: { name: "1", size: block } },
  { key: "a block and a byte", value: { name: "1", size: block + 1 } },
  { key: "some blocks", value: { name: "1", size: 300_000 } },
  { key: "many blocks", value: { name: "1", size: MiB + 17 } },
  { key: "just too large for a record", value: { name: "1", size: 4 * KiB + 1 } },
  { key: "sealed", value: { name: "1", size: 200_000 }, ssecKey },
];
const inParts: Stored[] = [
  { key: "in parts", value: { name: "1", size: 500_000 } },
  { key: "in sealed parts", value: { name: "1", size: 300_000 }, ssecKey },
];

interface Scene {
  readonly bucket: StoreBucket;
  /** Each blob file with the object that it belongs to. */
  readonly files: readonly (BlobFile & { readonly stored: Stored })[];
}

async function onFiles(t: TestContext, work: (scene: Scene) => Promise<void>): Promise<void> {
  const directory = await temporaryDirectory(t);
  const opened = await openStore(directory);
  try {
    await opened.createBucket("rotten");
    const bucket = opened.bucket("rotten");
    const files: (BlobFile & { stored: Stored })[] = [];
    const known = new Set<string>();
    for (const stored of [...whole, ...inParts]) {
      await (inParts.includes(stored) ? storeParts : store)(bucket, stored);
      for (const file of blobFiles(directory)) {
        if (!known.has(file.id)) files.push({ ...file, stored });
        known.add(file.id);
      }
    }
    await work({ bucket, files });
    // After the damage is undone, all objects are readable again.
    for (const stored of [...whole, ...inParts]) assert.equal(await read(bucket, stored), "right");
  } finally {
    await opened.close();
  }
}

function someRange(random: Random, size: number): StoreRange {
  const offset = random.below(size);
  const length = random.pick([1, 100, block, random.between(1, size)]);
  return random.pick<StoreRange>([{ offset }, { offset, length }, { suffix: length }]);
}

/** Reads the whole body and a few ranges, and returns the outcomes. */
async function readAll(bucket: StoreBucket, stored: Stored, random: Random): Promise<Outcome[]> {
  const outcomes = [await read(bucket, stored)];
  for (let i = 0; i < 3; i++) {
    outcomes.push(await read(bucket, stored, someRange(random, stored.value.size)));
  }
  assert.ok(!outcomes.includes("missing"), `"${stored.key}" is there`);
  return outcomes;
}

test("a flipped bit anywhere in a blob's file is reported by full and by range reads", {
  timeout,
}, async (t) => {
  await seeded(async (random) => {
    await onFiles(t, async ({ bucket, files }) => {
      const counts = { right: 0, refused: 0, missing: 0 };
      for (let i = 0; i < flips; i++) {
        const { path, start, length: size, stored } = random.pick(files);
        // The checksums at the end are only a few bytes, which random flips would rarely hit.
        const table = Math.ceil(size / (block + 4)) * 4;
        const offset = start + (i % 4 === 0 ? size - 1 - random.below(table) : random.below(size));
        const flip = { path, offset, bit: random.below(8) };
        flipBit(flip);
        const outcomes = await readAll(bucket, stored, random);
        assert.equal(outcomes[0], "refused", `the whole of "${stored.key}" with bit ${JSON.stringify(flip)}`);
        for (const outcome of outcomes) counts[outcome]++;
        flipBit(flip);
      }
      t.diagnostic(`${flips} flips: ${counts.refused} gets refused, ${counts.right} right`);
    });
  });
});

test("a truncated blob file is reported as damage", { timeout }, async (t) => {
  await seeded(async (random) => {
    await onFiles(t, async ({ bucket, files }) => {
      for (const { path, start, length: size, stored } of files) {
        const bytes = readFileSync(path);
        for (const length of [0, 1, random.below(size), size - 4, size - 1]) {
          truncateSync(path, start + length);
          const [outcome] = await readAll(bucket, stored, random);
          assert.equal(outcome, "refused", `"${stored.key}" cut to ${length} of ${size}`);
          writeFileSync(path, bytes);
        }
      }
    });
  });
});

test("a missing blob file is reported as damage", { timeout }, async (t) => {
  await seeded(async (random) => {
    await onFiles(t, async ({ bucket, files }) => {
      for (const { path, stored } of files) {
        const bytes = readFileSync(path);
        rmSync(path);
        const [outcome] = await readAll(bucket, stored, random);
        assert.equal(outcome, "refused", `"${stored.key}" without ${path}`);
        writeFileSync(path, bytes);
      }
    });
  });
});

test("a blob file that was replaced by the file of another blob is reported as damage", {
  timeout,
}, async (t) => {
  await onFiles(t, async ({ bucket, files }) => {
    const [one, other] = files.filter(({ stored }) => stored.key === "in parts");
    const bytes = [readFileSync(one!.path), readFileSync(other!.path)] as const;
    assert.equal(bytes[0].length, bytes[1].length);
    writeFileSync(one!.path, bytes[1]);
    writeFileSync(other!.path, bytes[0]);
    assert.equal(await read(bucket, one!.stored), "refused");
    writeFileSync(one!.path, bytes[0]);
    writeFileSync(other!.path, bytes[1]);
  });
});
