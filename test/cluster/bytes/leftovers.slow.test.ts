// Leftovers of writes that failed because of the database are removed, and no other blobs.
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { after, before, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { migrateCluster, openCluster } from "../../../src/cluster/open.ts";
import type { Blobs } from "../../../src/engine/blobs.ts";
import { createEngine } from "../../../src/engine/create.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { sampleBytes, toArray } from "../../support/bytes.ts";
import { type Postgres, startPostgres } from "../../support/postgres.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { until } from "../scene.ts";

let postgres: Postgres;
before(async () => {
  postgres = await startPostgres();
});
after(() => postgres.stop());

const bucket = "bucket";
const size = 10_000;

/** No bytes arrive late in this test, so the first sweep can remove leftovers. */
const times = { timeout: 1000, lateWriteSeconds: 0 };

async function open(t: TestContext): Promise<{ engine: Engine; blobs: Blobs; directory: string }> {
  const directory = await temporaryDirectory(t);
  const location = { records: await postgres.newDatabase(), blobs: pathToFileURL(directory).href };
  await migrateCluster(location);
  const ports = await openCluster(location, times);
  const engine = createEngine(ports);
  t.after(() => engine.close());
  await engine.createBucket(bucket);
  return { engine, blobs: ports.blobs, directory };
}

async function listFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

test("leftovers of a write that failed in the database are removed while the process runs", async (t) => {
  const { engine, blobs, directory } = await open(t);
  const before = await listFiles(directory);
  const piece = sampleBytes(1024 * 1024);
  async function* body() {
    yield* [piece, piece];
    await until(async () => (await listFiles(directory)).length > before.length, "a blob is being written");
    await postgres.kill();
    yield piece;
  }
  const source = { chunks: body, cancel: async () => {} };
  await assert.rejects(engine.put(bucket, "key", source), { reason: "ServiceUnavailable" });
  await postgres.start();
  await engine.sweep();
  assert.deepEqual(await toArray(blobs.all(bucket)), []);
  assert.deepEqual(await listFiles(directory), before);
});

test("a sweep during concurrent writes removes none of their bytes", async (t) => {
  const { engine } = await open(t);
  let isOver = false;
  const sweeping = (async () => {
    while (!isOver) await engine.sweep();
  })();
  const keys = Array.from({ length: 200 }, (_, i) => `key ${i}`);
  const left = [...keys];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let key = left.pop(); key !== undefined; key = left.pop()) {
        await engine.put(bucket, key, sampleBytes(size));
      }
    }),
  );
  isOver = true;
  await sweeping;
  const { damages } = await engine.verify();
  assert.deepEqual(damages, []);
});
