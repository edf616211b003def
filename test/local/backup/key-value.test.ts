// Key-value namespaces are part of a backup, a restore, a copy and a verification.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStore, type Store } from "../../../src/index.ts";
import { backUpStore, copyStore, restoreStore, verifyBackup } from "../../../src/maintenance.ts";
import { openEngine } from "../../../src/open.ts";
import { assertBytes, sampleBytes } from "../../support/bytes.ts";
import { assertNothingLeftOver } from "../../support/disk/on-disk.ts";
import { openPlaces } from "./scene.ts";

async function fill(data: string): Promise<void> {
  const store = await openStore(data);
  await store.createBucket("photos");
  await store.createKvNamespace("photos");
  await store.createKvNamespace("Empty_1.a");
  const kv = store.kv("photos");
  await kv.put("small", "value", { metadata: { n: 1 }, expirationTtl: 3600 });
  await kv.put("large", sampleBytes(1_000_000));
  await store.close();
}

async function assertFilled(store: Store): Promise<void> {
  assert.deepEqual(
    (await store.listBuckets()).map(({ name }) => name),
    ["photos"],
  );
  assert.deepEqual(
    (await store.listKvNamespaces()).map(({ name }) => name),
    ["Empty_1.a", "photos"],
  );
  const kv = store.kv("photos");
  const { keys } = await kv.list();
  assert.deepEqual(
    keys.map(({ name, metadata, expiration }) => [name, metadata, typeof expiration]),
    [
      ["large", undefined, "undefined"],
      ["small", { n: 1 }, "number"],
    ],
  );
  assert.equal(await kv.get("small"), "value");
  assertBytes(new Uint8Array((await kv.get("large", "arrayBuffer"))!), sampleBytes(1_000_000));
}

async function assertSound(data: string): Promise<void> {
  const { engine } = await openEngine(data);
  const report = await engine.verify();
  await engine.close();
  assert.deepEqual([report.buckets, report.objects, report.damages], [3, 2, []]);
}

test("a restored backup contains the key-value namespaces", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  await fill(data);
  const report = await backUpStore(data, backup);
  assert.deepEqual([report.buckets, report.objects], [3, 2]);
  assert.deepEqual((await verifyBackup(backup)).damages, []);
  await restoreStore(backup, restored);
  await assertSound(restored);
  const store = await openStore(restored);
  await assertFilled(store);
  await store.kv("photos").put("small", "other");
  await store.close();
  assertNothingLeftOver(restored);
});

test("a copy of a store contains the key-value namespaces of its source", async (t) => {
  const { data, restored } = await openPlaces(t);
  await fill(data);
  const findings: unknown[] = [];
  await copyStore({ from: data, to: restored, onFinding: async (finding) => void findings.push(finding) });
  assert.deepEqual(findings, []);
  await assertSound(restored);
  const store = await openStore(restored);
  await assertFilled(store);
  await store.close();
});
