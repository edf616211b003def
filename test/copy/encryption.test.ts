// Copies of a store with encrypted objects: the copy has the same bytes and the same master keys.
import assert from "node:assert/strict";
import { test } from "node:test";
import { copyAll } from "../../src/copy/copy-store.ts";
import { createEngine } from "../../src/engine/create.ts";
import { createMemoryBlobs } from "../../src/memory/blobs.ts";
import { createMemoryRecords } from "../../src/memory/records.ts";
import type { CopyFinding } from "../../src/model/copy.ts";
import { createEncryptionKeys } from "../../src/secrets/encryption-keys.ts";
import { collect, sampleBytes } from "../support/bytes.ts";
import { testSecretKey } from "../support/ports.ts";

const sizes = [0, 10, 20_000, 300_000];

function store() {
  const ports = { records: createMemoryRecords(), blobs: createMemoryBlobs() };
  const masterKeys = createEncryptionKeys(ports.records.documents, () => testSecretKey);
  return { ...ports, engine: createEngine({ ...ports, encryption: { masterKeys, encrypt: "always" } }) };
}

test("every encrypted object, version and upload of a copied store is readable in the copy", async () => {
  const [from, to] = [store(), store()];
  const { engine } = from;
  await engine.createBucket("photos");
  await engine.changeSettings("photos", { versioning: "on", encryption: { algorithm: "AES256" } });
  for (const size of sizes) await engine.put("photos", "a", sampleBytes(size));
  const done = await engine.createUpload("photos", "b");
  const part = await engine.uploadPart("photos", done, 1, sampleBytes(70_000));
  await engine.completeUpload("photos", done, [part]);
  const open = await engine.createUpload("photos", "open");
  const openPart = await engine.uploadPart("photos", open, 1, sampleBytes(30));
  await engine.encryption.rotate();
  const findings: CopyFinding[] = [];
  await copyAll(from, to, { source: "the source", onFinding: async (found) => void findings.push(found) });
  assert.deepEqual(findings, []);
  const { versions } = await to.engine.listVersions("photos");
  assert.equal(versions.length, sizes.length + 1);
  for (const { version } of versions) {
    assert.ok("size" in version);
    const got = await to.engine.get("photos", version.key, { version: version.version });
    assert.ok(got.outcome === "found");
    assert.deepEqual(await collect(got.bytes.chunks()), sampleBytes(version.size));
  }
  await to.engine.completeUpload("photos", open, [openPart]);
  const completed = await to.engine.get("photos", "open");
  assert.ok(completed.outcome === "found");
  assert.deepEqual(await collect(completed.bytes.chunks()), sampleBytes(30));
  assert.deepEqual((await to.engine.bucket("photos"))?.settings.encryption, { algorithm: "AES256" });
  assert.deepEqual((await to.engine.verify()).damages, []);
});
