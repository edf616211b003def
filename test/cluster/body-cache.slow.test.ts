// A cluster with a body cache: objects, encryption, verification and metrics.
import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openCluster } from "../../src/cluster/open.ts";
import { createEngine } from "../../src/engine/create.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { createMetrics, type Metrics } from "../../src/metrics/metrics.ts";
import { createEncryptionKeys } from "../../src/secrets/encryption-keys.ts";
import { assertBytes, collect } from "../support/bytes.ts";
import { testSecretKey } from "../support/ports.ts";
import { filesIn } from "./backend/cache/scene.ts";
import { type ClusterScene, useCluster } from "./scene.ts";

const cluster = useCluster();
const MiB = 1024 * 1024;
const text = Buffer.from("a sentence that must not be on the disk of the cache. ".repeat(40_000));

interface CachedEngine {
  readonly engine: Engine;
  readonly metrics: Metrics;
  readonly scene: ClusterScene;
  /** Paths of the cached files. */
  cachedFiles(): string[];
}

/** Closes the engine before the scene removes its folders. */
async function withCachedEngine(
  t: TestContext,
  work: (opened: CachedEngine) => Promise<void>,
): Promise<void> {
  const scene = await cluster.scene(t);
  const metrics = createMetrics();
  const directory = join(scene.directory, "cache");
  const location = { ...scene.location, cache: { directory, size: 1024 * MiB } };
  const { records, blobs } = await openCluster(location, {}, metrics);
  const masterKeys = createEncryptionKeys(records.documents, () => testSecretKey);
  const engine = createEngine({ records, blobs, metrics, encryption: { masterKeys, encrypt: undefined } });
  try {
    await engine.createBucket("bucket");
    await work({ engine, metrics, scene, cachedFiles: () => filesIn(directory) });
  } finally {
    await engine.close();
  }
}

async function get(engine: Engine, key: string): Promise<Buffer> {
  const found = await engine.get("bucket", key);
  assert(found.outcome === "found");
  return collect(found.bytes.chunks());
}

/** The files of blobs, which are not those of the cache. */
function blobFiles({ directory }: ClusterScene): string[] {
  return filesIn(directory).filter((file) => /\/\d+\/[0-9a-f]{2}\/[0-9a-f]{32}$/.test(file));
}

test("an overwritten or deleted object is never served from the cache", (t) =>
  withCachedEngine(t, async ({ engine }) => {
    const [one, two] = [Buffer.alloc(MiB + 7, 1), Buffer.alloc(MiB + 7, 2)];
    await engine.put("bucket", "a", one);
    assertBytes(await get(engine, "a"), one);
    await engine.put("bucket", "a", two);
    assertBytes(await get(engine, "a"), two);
    await engine.delete("bucket", ["a"]);
    assert.equal((await engine.get("bucket", "a")).outcome, "missing");
  }));

test("verify reads the stored bytes: a cached copy serves the object and does not hide the damage", (t) =>
  withCachedEngine(t, async ({ engine, scene, metrics }) => {
    await engine.put("bucket", "a", text);
    assertBytes(await get(engine, "a"), text);
    const [file] = blobFiles(scene);
    const stored = await readFile(file!);
    stored[1000]! ^= 1;
    await writeFile(file!, stored);
    assertBytes(await get(engine, "a"), text);
    const { damages } = await engine.verify();
    assert.deepEqual(
      damages.map(({ key }) => key),
      ["a"],
    );
    const published = metrics.snapshot().filter(({ name }) => name.startsWith("store_body_cache_"));
    const hits = published[0]!.series.find(([labels]) => labels[0] === "hit");
    assert.equal(hits?.[1][0], 3);
    assert.equal(published.length, 3);
  }));

test("encrypted bodies are encrypted in the cache, by the store's key and by a customer's", (t) =>
  withCachedEngine(t, async ({ engine, scene, cachedFiles }) => {
    const customerKey = Buffer.alloc(32, 5);
    await engine.put("bucket", "store", text, { encryption: "store" });
    await engine.put("bucket", "customer", text, { customerKey });
    assertBytes(await get(engine, "store"), text);
    const found = await engine.get("bucket", "customer", { customerKey });
    assert(found.outcome === "found");
    assertBytes(await collect(found.bytes.chunks()), text);
    for (const file of blobFiles(scene)) await rm(file);
    assertBytes(await get(engine, "store"), text);
    const files = cachedFiles();
    assert.equal(files.length, 6);
    for (const file of files) assert.ok(!(await readFile(file)).includes("a sentence"), file);
  }));
