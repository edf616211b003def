// Medium-sized bodies that are overwritten repeatedly use at most twice their live bytes plus a few
// segments.
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createEngine } from "../../../src/engine/create.ts";
import { defaultSizes } from "../../../src/local/blobs.ts";
import { bucketPaths, dataLayout } from "../../../src/local/disk/layout.ts";
import { openLocal } from "../../../src/local/open.ts";
import { KiB } from "../../support/bodies.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { bucketIds } from "../../support/disk/on-disk.ts";
import { createRandom } from "../../support/random.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const fileBytes = 512 * KiB;
const sizes = { ...defaultSizes, segments: { bodyBytes: 256 * KiB, fileBytes } };
const bucket = "churned";
const keys = 1000;
const overwrites = 5000;
const writers = 32;

test("under random overwrites the segments use at most twice their live bytes", async (t) => {
  const directory = await temporaryDirectory(t);
  const engine = createEngine(await openLocal(directory, sizes));
  await engine.createBucket(bucket);
  const { segments } = bucketPaths(dataLayout(directory), bucketIds(directory).get(bucket)!);
  const body = sampleBytes(16 * KiB);
  const live = keys * body.length;

  function bytesOnDisk(): number {
    const size = (name: string) => statSync(join(segments, name), { throwIfNoEntry: false })?.size ?? 0;
    return readdirSync(segments).reduce((sum, name) => sum + size(name), 0);
  }

  let highest = 0;
  async function write(count: number, key: (index: number) => number): Promise<void> {
    let next = 0;
    const writer = async () => {
      for (let index = next++; index < count; index = next++) {
        await engine.put(bucket, `key ${key(index)}`, body);
        if (index % 16 === 0) highest = Math.max(highest, bytesOnDisk());
      }
    };
    await Promise.all(Array.from({ length: writers }, writer));
  }

  // The worst case: all bodies have the same age, so all segments become sparse at the same time.
  await write(keys, (index) => index);
  const random = createRandom(1);
  await write(overwrites, () => random.below(keys));
  t.diagnostic(`at most ${(highest / live).toFixed(2)} times what lives`);
  const bound = 2 * live + 4 * fileBytes;
  assert.ok(
    highest <= bound,
    `${highest} bytes at the highest, ${(highest / live).toFixed(2)} times what lives`,
  );
  await engine.sweep();
  assert.ok(bytesOnDisk() <= bound, "the limit also holds after the last write");
  await engine.close();
});
