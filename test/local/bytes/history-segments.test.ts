// Compaction moves the bodies of noncurrent versions too. A body that several versions share is moved
// once and removed with the last of them.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createEngine } from "../../../src/engine/create.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { defaultSizes } from "../../../src/local/blobs.ts";
import { isInSegment } from "../../../src/local/disk/layout.ts";
import { openLocal } from "../../../src/local/open.ts";
import { bytesOf, KiB } from "../../support/bodies.ts";
import { assertBytes, collect } from "../../support/bytes.ts";
import { assertNothingLeftOver, blobFiles } from "../../support/disk/on-disk.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const bucket = "versions";
const size = 20 * KiB;
/** Segments are small, so that a few bodies fill several segments. */
const sizes = { ...defaultSizes, segments: { bodyBytes: 256 * KiB, fileBytes: 512 * KiB } };
const keys = Array.from({ length: 60 }, (_, i) => `key ${i}`);
const contentOf = (key: string, name: string) => bytesOf(key, { name, size });

async function openAt(directory: string, now?: () => number) {
  const ports = await openLocal(directory, sizes);
  return { ...ports, engine: createEngine({ ...ports, ...(now === undefined ? {} : { now }) }) };
}

async function versionedStore(t: TestContext, now?: () => number) {
  const directory = await temporaryDirectory(t);
  const store = await openAt(directory, now);
  await store.engine.createBucket(bucket);
  await store.engine.changeSettings(bucket, { versioning: "on" });
  return { directory, ...store };
}

/** Puts a version of every key and returns the ids of the versions. */
async function putAll(engine: Engine, name: string): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const key of keys) {
    const put = await engine.put(bucket, key, contentOf(key, name));
    assert.ok(put.outcome === "stored");
    ids.set(key, put.record.version);
  }
  return ids;
}

async function assertVersion(engine: Engine, key: string, version: string, name: string): Promise<void> {
  const found = await engine.get(bucket, key, { version });
  assert.ok(found.outcome === "found", `${key} ${name}`);
  assertBytes(await collect(found.bytes.chunks()), contentOf(key, name), `${key} ${name}`);
}

async function deleteVersions(engine: Engine, versions: Iterable<[string, string]>): Promise<void> {
  const targets = [...versions].map(([key, version]) => ({ key, version }));
  for (const { outcome } of await engine.deleteVersions(bucket, targets)) assert.equal(outcome, "deleted");
}

async function closeClean(directory: string, engine: Engine): Promise<void> {
  assert.deepEqual((await engine.verify()).damages, []);
  await engine.sweep();
  await engine.close();
  assertNothingLeftOver(directory);
}

test("the bodies of noncurrent versions move out of a sparse segment and stay readable", async (t) => {
  const { directory, engine, records } = await versionedStore(t);
  const first = await putAll(engine, "first");
  const second = await putAll(engine, "second");
  await engine.delete(bucket, keys);
  const before = new Set(blobFiles(directory).map(({ id }) => id));
  const isKept = (key: string) => keys.indexOf(key) % 4 === 0;
  await deleteVersions(
    engine,
    [...first, ...second].filter(([key]) => !isKept(key)),
  );
  await engine.sweep();
  assert.ok(
    blobFiles(directory).some(({ id }) => !before.has(id)),
    "bodies were moved",
  );
  for (const key of keys.filter(isKept)) {
    const stored = await records.version(bucket, key, first.get(key)!);
    assert.ok(stored?.body?.storage === "blob" && isInSegment(stored.body.blob.id));
    await assertVersion(engine, key, first.get(key)!, "first");
    await assertVersion(engine, key, second.get(key)!, "second");
  }
  await closeClean(directory, engine);
});

test("a body that versions share is moved once and removed with the last of them", async (t) => {
  let time = 1_000_000;
  const { directory, engine, records } = await versionedStore(t, () => time);
  const first = await putAll(engine, "first");
  time += 1000;
  const second = await putAll(engine, "second");
  time += 1000;
  const before = blobFiles(directory);
  const { restored } = await engine.restorePage(bucket, { time: 1_000_500 });
  assert.equal(restored.length, keys.length);
  assert.deepEqual(blobFiles(directory), before, "a restore copies no bytes");
  await deleteVersions(engine, second);
  await engine.sweep();
  for (const key of keys) {
    const current = (await records.objectWithBody(bucket, key))!;
    const earlier = await records.version(bucket, key, first.get(key)!);
    assert.deepEqual(current.body, earlier?.body, "both versions name the same blob");
    await assertVersion(engine, key, current.record.version, "first");
    await assertVersion(engine, key, first.get(key)!, "first");
  }
  await deleteVersions(engine, first);
  await engine.sweep();
  for (const key of keys) {
    const found = await engine.get(bucket, key);
    assert.ok(found.outcome === "found");
    assertBytes(await collect(found.bytes.chunks()), contentOf(key, "first"), key);
  }
  const { versions } = await engine.listVersions(bucket);
  await deleteVersions(
    engine,
    versions.map(({ version }) => [version.key, version.version]),
  );
  await engine.sweep();
  assert.deepEqual(blobFiles(directory), []);
  await closeClean(directory, engine);
});

test("versions, shared bodies and delete markers are the same after the store is reopened", async (t) => {
  let time = 1_000_000;
  const { directory, engine } = await versionedStore(t, () => time);
  const first = await putAll(engine, "first");
  time += 1000;
  await engine.delete(bucket, keys.slice(0, 30));
  await engine.put(bucket, "key 40", contentOf("key 40", "second"));
  time += 1000;
  await engine.restorePage(bucket, { time: 1_000_500, prefix: "key 1" });
  const before = [await engine.listVersions(bucket), await engine.totals(bucket)];
  await engine.close();
  const { engine: again } = await openAt(directory, () => time);
  assert.deepEqual([await again.listVersions(bucket), await again.totals(bucket)], before);
  const past = await again.list(bucket, { time: 1_000_500 });
  assert.equal(past.objects.length, keys.length);
  for (const key of keys) await assertVersion(again, key, first.get(key)!, "first");
  await closeClean(directory, again);
});
