// Data keys that earlier versions sealed one by one are still read and rotated.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createEngine } from "../../../src/engine/create.ts";
import { sealKey } from "../../../src/engine/encryption/key-sealing.ts";
import { encryptInto, sealedSize } from "../../../src/engine/encryption/sealed-blocks.ts";
import type { MasterKey, MasterKeys } from "../../../src/engine/master-keys.ts";
import { createMemoryBlobs } from "../../../src/memory/blobs.ts";
import { createMemoryRecords } from "../../../src/memory/records.ts";
import { limits } from "../../../src/model/limits.ts";
import type { StoreEncryption } from "../../../src/model/object.ts";

const bucket = "photos";
const plain = Buffer.from("a body that an earlier version encrypted");

test("a data key that was sealed alone is opened and rotated", async () => {
  const keys = createKeys();
  const ports = openMemory();
  const engine = createEngine({ ...ports, encryption: { masterKeys: keys } });
  await engine.createBucket(bucket);
  await engine.put(bucket, "old", plain, { encryption: "store" });
  const { record } = (await ports.records.objectWithBody(bucket, "old"))!;
  const master = await keys.current();
  const dataKey = randomBytes(32);
  const scope = record.version;
  const names = `store data key ${master.id} 6:photos3:old${scope.length}:${scope}`;
  const encryption = {
    masterKey: master.id,
    scope,
    sealedKey: sealKey({ randomBytes }, master, dataKey, names),
  };
  const bytes = Buffer.alloc(sealedSize(plain.length, limits.blockBytes));
  encryptInto(
    bytes,
    { randomBytes, blockBytes: limits.blockBytes },
    { bytes: dataKey, use: "direct" },
    0,
    plain,
  );
  const mutation = { kind: "restate object", record: { ...record, encryption } } as const;
  await ports.records.commit(bucket, { mutations: [{ ...mutation, body: { storage: "inline", bytes } }] });

  const read = async () => {
    const found = await engine.get(bucket, "old");
    assert(found.outcome === "found");
    return Buffer.from(found.bytes.inline!);
  };
  assert.deepEqual(await read(), plain);
  const report = await engine.encryption.rotate();
  assert.equal(report.rewrapped, 1);
  const rotated = (await engine.head(bucket, "old"))!.encryption as StoreEncryption;
  assert.equal(rotated.masterKey, report.masterKey);
  assert.equal(rotated.sealedKey.length, 60);
  assert.deepEqual(await read(), plain);
  await engine.close();
});

test("objects of one process share a seed, and rotation seals it once", async () => {
  const keys = createKeys();
  const engine = createEngine({ ...openMemory(), encryption: { masterKeys: keys } });
  await engine.createBucket(bucket);
  for (const key of ["a", "b"]) await engine.put(bucket, key, plain, { encryption: "store" });
  const sealedKeys = async () => {
    const records = await Promise.all(["a", "b"].map((key) => engine.head(bucket, key)));
    return records.map((record) => (record!.encryption as StoreEncryption).sealedKey.toString());
  };
  const [first, second] = await sealedKeys();
  assert.equal(first, second);
  await engine.encryption.rotate();
  const [a, b] = await sealedKeys();
  assert.equal(a, b);
  assert.notEqual(a, first);
  await engine.close();
});

function createKeys(): MasterKeys {
  const keys: MasterKey[] = [{ id: "1".repeat(16), bytes: randomBytes(32) }];
  return {
    current: () => keys.at(-1)!,
    find: (id) => Promise.resolve(keys.find((key) => key.id === id)),
    list: async () => keys.map(({ id }) => ({ id, created: 0 })),
    async add() {
      keys.push({ id: `${keys.length + 1}`.repeat(16), bytes: randomBytes(32) });
      return keys.at(-1)!.id;
    },
    retireOthers: async () => {},
  };
}

function openMemory() {
  return { records: createMemoryRecords(), blobs: createMemoryBlobs() };
}
