// Engine contract: rotation of the master key, and encryption of existing objects.
import assert from "node:assert/strict";
import type { ObjectRecord } from "../../../src/model/object.ts";
import { assertBytes, sampleBytes } from "../../support/bytes.ts";
import {
  blobsLeft,
  bucket,
  type Chapter,
  contentOf,
  emptied,
  type OpenedEngine,
  type SharedEngine,
  uploadParts,
} from "./setup.ts";

const encryption = "store";
const sizes = { inline: 1000, batched: 20_000, blob: 300_000 };

/** Fills a versioned bucket with objects of every storage, and returns them. */
async function fill({ engine }: OpenedEngine, encrypted: boolean): Promise<ObjectRecord[]> {
  const options = encrypted ? ({ encryption } as const) : {};
  await engine.changeSettings(bucket, { versioning: "on" });
  for (const [key, size] of Object.entries(sizes)) {
    await engine.put(bucket, key, sampleBytes(size), options);
    await engine.put(bucket, key, sampleBytes(size + 1), options);
  }
  const upload = await engine.createUpload(bucket, "parts", options);
  const parts = await uploadParts(engine, upload, { 1: sampleBytes(70_000), 2: sampleBytes(9) });
  await engine.completeUpload(bucket, upload, parts);
  const first = await engine.put(bucket, "copied", sampleBytes(200_000), options);
  assert(first.outcome === "stored");
  await engine.delete(bucket, ["copied"]);
  await engine.restoreVersion(bucket, "copied", first.record.version);
  return allVersions(engine);
}

async function allVersions(engine: OpenedEngine["engine"]): Promise<ObjectRecord[]> {
  const { versions } = await engine.listVersions(bucket);
  return versions.flatMap(({ version }) => ("size" in version ? [version] : []));
}

/** Asserts that all versions are as before except for their encryption, and readable. */
async function assertSame({ engine }: OpenedEngine, before: readonly ObjectRecord[]): Promise<void> {
  const after = await allVersions(engine);
  const without = ({ encryption: _, ...record }: ObjectRecord) => record;
  assert.deepEqual(after.map(without), before.map(without));
  for (const { key, version, size } of after) {
    const bytes = key === "parts" ? Buffer.concat([sampleBytes(70_000), sampleBytes(9)]) : sampleBytes(size);
    assertBytes(await contentOf(engine, key, { version }), bytes, `${key} ${version}`);
  }
}

function usesOnly(records: readonly ObjectRecord[], masterKey: string): boolean {
  return records.every((record) => record.encryption?.masterKey === masterKey);
}

async function opened(shared: SharedEngine): Promise<SharedEngine> {
  const { engine } = await emptied(shared);
  await engine.encryption.rotate();
  return shared;
}

export const rotations: Chapter = async (t, shared) => {
  await t.test("a rotation seals every data key with the new master key and keeps all else", async () => {
    const { engine } = await opened(shared);
    const before = await fill(shared, true);
    const upload = await engine.createUpload(bucket, "upload", { encryption });
    const [part] = await uploadParts(engine, upload, { 1: sampleBytes(100) });
    const earlier = (await engine.encryption.status()).masterKeys.at(-1)!.id;
    assert.ok(usesOnly(before, earlier));
    const { masterKey, rewrapped, isResumed } = await engine.encryption.rotate();
    assert.deepEqual([rewrapped, isResumed], [before.length + 1, false]);
    assert.notEqual(masterKey, earlier);
    assert.ok(usesOnly(await allVersions(engine), masterKey));
    await assertSame(shared, before);
    const completed = await engine.completeUpload(bucket, upload, [part!]);
    assert.equal(completed.encryption?.masterKey, masterKey);
    assertBytes(await contentOf(engine, "upload"), sampleBytes(100), "the completed upload");
    const status = await engine.encryption.status();
    assert.deepEqual([status.rotation, status.byMasterKey.get(earlier)], [undefined, undefined]);
    assert.deepEqual((await engine.verify()).damages, []);
  });

  await t.test("retired keys are removed by a later rotation, not by the one that retires them", async () => {
    const { engine, time } = await opened(shared);
    const keys = async () => (await engine.encryption.status()).masterKeys;
    const [first] = (await keys()).slice(-1);
    await engine.encryption.rotate();
    const retired = (await keys()).find(({ id }) => id === first!.id);
    assert.equal(retired?.retired, time.now());
    await engine.encryption.rotate();
    assert.ok((await keys()).some(({ id }) => id === first!.id));
    time.time += 120_000;
    await engine.encryption.rotate();
    assert.equal(
      (await keys()).some(({ id }) => id === first!.id),
      false,
    );
  });

  await t.test("a rotation that was interrupted is continued, and reads never fail meanwhile", async () => {
    const { engine } = await opened(shared);
    await engine.changeSettings(bucket, { versioning: undefined });
    for (let i = 0; i < 450; i++) {
      await engine.put(bucket, `k${i}`, sampleBytes(10), { encryption });
    }
    const stop = new AbortController();
    const onProgress = () => stop.abort();
    await assert.rejects(engine.encryption.rotate({ onProgress, signal: stop.signal }));
    const { rotation, byMasterKey } = await engine.encryption.status();
    assert.equal(rotation?.rewrapped, 200);
    assert.equal(byMasterKey.get(rotation!.to), 200);
    for (const key of ["k0", "k100", "k449"]) assertBytes(await contentOf(engine, key), sampleBytes(10), key);
    const { masterKey, rewrapped, isResumed } = await engine.encryption.rotate();
    assert.deepEqual([masterKey, rewrapped, isResumed], [rotation!.to, 450, true]);
    assert.equal((await engine.encryption.status()).byMasterKey.get(masterKey), 450);
  });

  await t.test("existing objects and versions are encrypted, and keep ids, etags and times", async () => {
    const { engine } = await emptied(shared);
    if (engine.encryption.mode === "always") return;
    const before = await fill(shared, false);
    const customerKey = Buffer.alloc(32, 1);
    await engine.put(bucket, "z customer", sampleBytes(10), { customerKey });
    await engine.createUpload(bucket, "open");
    const blobs = await blobsLeft(shared);
    const report = await engine.encryption.apply({ bucket });
    assert.deepEqual(report, { examined: before.length + 1, encrypted: before.length, openUploads: 1 });
    const { masterKeys } = await engine.encryption.status();
    const after = await allVersions(engine);
    assert.ok(usesOnly(after.slice(0, -1), masterKeys.at(-1)!.id));
    assert.ok(after.at(-1)?.encryption?.keyMd5);
    await engine.deleteVersions(bucket, [{ key: "z customer", version: after.at(-1)!.version }]);
    await assertSame(shared, before);
    // The restored version now has a body of its own.
    assert.equal(await blobsLeft(shared), blobs + 1);
    assert.deepEqual((await engine.verify()).damages, []);
    assert.equal((await engine.encryption.apply()).encrypted, 0);
  });

  await t.test("objects that are overwritten while existing objects are encrypted stay correct", async () => {
    const { engine } = await emptied(shared);
    const keys = Array.from({ length: 60 }, (_, i) => `k${i}`);
    for (const [i, key] of keys.entries()) await engine.put(bucket, key, sampleBytes(1 + i * 200));
    const writes = (async () => {
      for (const [i, key] of keys.entries()) {
        if (i % 3 === 0) await engine.put(bucket, key, sampleBytes(i + 7));
        if (i % 3 === 1) await engine.delete(bucket, [key]);
      }
    })();
    await engine.encryption.apply({ bucket });
    await writes;
    await engine.encryption.apply({ bucket });
    for (const [i, key] of keys.entries()) {
      const head = await engine.head(bucket, key);
      if (i % 3 === 1) {
        assert.equal(head, undefined);
        continue;
      }
      assert.ok(head?.encryption?.masterKey);
      const size = i % 3 === 0 ? i + 7 : 1 + i * 200;
      assertBytes(await contentOf(engine, key), sampleBytes(size), key);
    }
    await blobsLeft(shared);
    assert.deepEqual((await engine.verify()).damages, []);
  });
};
