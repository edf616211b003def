// Engine contract: objects that are encrypted with the store's keys.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Body } from "../../../src/engine/records.ts";
import type { ObjectRecord, StoreEncryption } from "../../../src/model/object.ts";
import { assertBytes, collect, sampleBytes } from "../../support/bytes.ts";
import {
  bucket,
  type Chapter,
  contentOf,
  emptied,
  failsWith,
  found,
  type OpenedEngine,
  probe,
  uploadParts,
} from "./setup.ts";

const encryption = "store";
const versioningOn = { versioning: "on" } as const;

export const encryptions: Chapter = async (t, shared) => {
  await t.test("bodies of every size are stored encrypted and read back, whole and in ranges", async () => {
    const { engine, ...ports } = await emptied(shared);
    for (const size of [0, 1, 1000, 4096, 4097, 65_536, 65_537, 200_000, 600_000]) {
      const bytes = sampleBytes(size);
      for (const source of [bytes, probe(bytes, { length: size }), probe(bytes)]) {
        const put = await engine.put(bucket, "a", source, { encryption });
        assert(put.outcome === "stored");
        assert.equal(put.record.etag, createHash("md5").update(bytes).digest("hex"));
        assertBytes(await contentOf(engine, "a"), bytes, `${size}`);
        for (const range of [{ offset: 0, length: 1 }, { suffix: 3 }, { offset: Math.floor(size / 2) }]) {
          if (size < 4) continue;
          const got = await found(engine, "a", { range });
          const { offset, length } = got.range;
          assertBytes(await collect(got.bytes.chunks()), bytes.subarray(offset, offset + length), `${size}`);
        }
        const stored = await storedBytes({ engine, ...ports }, "a");
        assert.equal(stored.length > size, true);
        if (size >= 32) assert.equal(stored.includes(bytes.subarray(0, 32)), false);
      }
    }
  });

  await t.test("a record keeps the checksums, and names the master key but not the data key", async () => {
    const { engine } = await emptied(shared);
    const checksums = [{ algorithm: "sha256" }] as const;
    const put = await engine.put(bucket, "a", sampleBytes(100), { encryption, checksums });
    assert(put.outcome === "stored");
    const head = (await engine.head(bucket, "a"))!;
    assert.deepEqual(head, put.record);
    assert.deepEqual(
      Buffer.from(head.checksums.sha256!),
      createHash("sha256").update(sampleBytes(100)).digest(),
    );
    const { masterKey, scope, sealedKey } = head.encryption as StoreEncryption;
    assert.match(masterKey, /^[0-9a-f]{16}$/);
    assert.equal(scope, head.version);
    assert.equal(sealedKey.length, 61);
  });

  await t.test("the bucket's setting encrypts objects and uploads that do not ask for it", async () => {
    const { engine } = await emptied(shared);
    await engine.changeSettings(bucket, { encryption: { algorithm: "AES256" } });
    await engine.put(bucket, "a", sampleBytes(10));
    assert.ok((await engine.head(bucket, "a"))?.encryption?.masterKey);
    const upload = await engine.createUpload(bucket, "b");
    assert.ok(upload.encryption?.masterKey);
    const customerKey = Buffer.alloc(32, 1);
    await engine.put(bucket, "c", sampleBytes(10), { customerKey });
    assert.ok((await engine.head(bucket, "c"))?.encryption?.keyMd5);
    await engine.changeSettings(bucket, { encryption: undefined });
  });

  await t.test("a customer's key and the store's key cannot be combined", async () => {
    const { engine } = await emptied(shared);
    const customerKey = Buffer.alloc(32, 1);
    const refused = failsWith("InvalidArgument");
    await assert.rejects(engine.put(bucket, "a", sampleBytes(1), { encryption, customerKey }), refused);
    await assert.rejects(engine.createUpload(bucket, "a", { encryption, customerKey }), refused);
    await engine.put(bucket, "a", sampleBytes(1), { encryption });
    await assert.rejects(engine.get(bucket, "a", { customerKey }), refused);
    await assert.rejects(engine.describe(bucket, "a", { customerKey }), refused);
    const upload = await engine.createUpload(bucket, "a", { encryption });
    await assert.rejects(engine.uploadPart(bucket, upload, 1, sampleBytes(1), { customerKey }), refused);
  });

  await t.test("an encrypted upload is completed and read by range and by part", async () => {
    const opened = await emptied(shared);
    const { engine } = opened;
    const upload = await engine.createUpload(bucket, "a", { encryption });
    const bodies = { 1: sampleBytes(70_000), 2: sampleBytes(70_000), 3: sampleBytes(5) };
    const parts = await uploadParts(engine, upload, bodies);
    assert.equal(parts[0]!.etag, createHash("md5").update(bodies[1]).digest("hex"));
    const record = await engine.completeUpload(bucket, upload, parts);
    assert.ok(record.encryption?.masterKey);
    const whole = Buffer.concat(Object.values(bodies));
    assertBytes(await contentOf(engine, "a"), whole, "whole");
    assertBytes(await contentOf(engine, "a", { part: 3 }), bodies[3], "a part");
    const range = { offset: 69_990, length: 70_012 };
    assertBytes(await contentOf(engine, "a", { range }), whole.subarray(69_990, 140_002), "a range");
    assert.equal((await storedBytes(opened, "a")).includes(bodies[1].subarray(0, 64)), false);
  });

  await t.test("a restored version shares the encrypted body of the earlier version", async () => {
    const { engine } = await emptied(shared);
    await engine.changeSettings(bucket, versioningOn);
    for (const size of [100, 10_000, 100_000]) {
      const first = await engine.put(bucket, "a", sampleBytes(size), { encryption });
      assert(first.outcome === "stored");
      await engine.put(bucket, "a", sampleBytes(3));
      const restored = await engine.restoreVersion(bucket, "a", first.record.version);
      assertBytes(await contentOf(engine, "a"), sampleBytes(size), `${size}`);
      await engine.deleteVersions(bucket, [{ key: "a", version: first.record.version }]);
      assert.notEqual(restored.version, first.record.version);
      assertBytes(await contentOf(engine, "a"), sampleBytes(size), `${size} after deletion`);
    }
  });

  await t.test("a sealed data key that was changed or moved to another key is not opened", async () => {
    const { engine, records } = await emptied(shared);
    for (const key of ["a", "b"]) await engine.put(bucket, key, sampleBytes(100), { encryption });
    const { record, body } = (await records.objectWithBody(bucket, "a"))!;
    const other = (await engine.head(bucket, "b"))!.encryption as StoreEncryption;
    const own = record.encryption as StoreEncryption;
    const changed = Buffer.from(own.sealedKey);
    changed[20]! ^= 1;
    const forged: StoreEncryption[] = [
      { ...own, sealedKey: changed },
      { ...own, sealedKey: own.sealedKey.subarray(0, 40) },
      { ...own, scope: "other" },
      { ...own, masterKey: "0000000000000000" },
      other,
    ];
    for (const encryption of forged) {
      await restate(records, { ...record, encryption }, body);
      await assert.rejects(engine.get(bucket, "a"), failsWith("Damaged"));
    }
    await restate(records, record, body);
    assertBytes(await contentOf(engine, "a"), sampleBytes(100), "the original record");
  });

  await t.test("verify reads encrypted objects and finds no damage", async () => {
    const { engine } = await emptied(shared);
    for (const size of [10, 10_000, 300_000]) {
      await engine.put(bucket, `${size}`, sampleBytes(size), { encryption });
    }
    const report = await engine.verify();
    assert.deepEqual(report.damages, []);
  });
};

function restate(records: OpenedEngine["records"], record: ObjectRecord, body: Body) {
  return records.commit(bucket, { mutations: [{ kind: "restate object", record, body }] });
}

/** Returns the bytes of an object as they are stored. */
async function storedBytes({ records, blobs }: OpenedEngine, key: string): Promise<Buffer> {
  const { body } = (await records.objectWithBody(bucket, key))!;
  if (body.storage === "inline") return Buffer.from(body.bytes);
  const stored = body.storage === "blob" ? [body.blob] : body.parts.map(({ blob }) => blob);
  const reader = (await blobs.open(bucket, stored, async () => true))!;
  const chunks: Uint8Array[] = [];
  for (const blob of stored) {
    for await (const chunk of reader.read(blob, { offset: 0, length: blob.size })) {
      chunks.push(Buffer.from(chunk));
    }
  }
  await reader.close();
  return Buffer.concat(chunks);
}
