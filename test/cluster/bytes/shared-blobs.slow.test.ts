// Blobs of versions: those that several versions share, and damages that a check finds in the history.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Body, Mutation, Records } from "../../../src/engine/records.ts";
import type { Protection } from "../../../src/model/bucket.ts";
import { StoreError } from "../../../src/model/errors.ts";
import { inChunks, sampleBytes, toArray } from "../../support/bytes.ts";
import {
  inBlob,
  inline,
  inParts,
  objectRecord,
  partRecord,
  randomHex,
  uploadRecord,
} from "../../support/samples.ts";
import { type ClusterScene, type Ports, useCluster } from "../scene.ts";

const cluster = useCluster();
const bucket = "bucket";
const protection: Protection = { versioning: "on" };

interface VersionedBucket extends Ports {
  readonly scene: ClusterScene;
  apply(...mutations: Mutation[]): Promise<void>;
  stage(): Promise<string>;
}

async function versionedBucket(t: TestContext): Promise<VersionedBucket> {
  const scene = await cluster.scene(t);
  const ports = await scene.open({ heartbeatMilliseconds: 20 });
  const { records, blobs } = ports;
  await records.createBucket({ name: bucket, created: 0, storageClass: "Standard", account: "default" });
  await records.commit(bucket, { mutations: [{ kind: "put setting", name: "versioning", value: "on" }] });
  return {
    ...ports,
    scene,
    async apply(...mutations) {
      assert.equal(await records.commit(bucket, { mutations, protection }), "committed");
    },
    async stage() {
      const staged = await blobs.stage(bucket, inChunks(sampleBytes(1000), 999));
      staged.keep();
      return staged.id;
    },
  };
}

function put(key: string, version: string, body: Body): Mutation {
  return { kind: "put object", record: objectRecord(key, { version, isVersioned: true }), body };
}

function remove(key: string, version: string): Mutation {
  return { kind: "delete version", key, version };
}

async function damages(records: Records): Promise<string[]> {
  return (await toArray(records.checkIntegrity(bucket, "records"))).map(({ key, what }) => `${key}: ${what}`);
}

test("the bytes of a version are removed with the last version that shares them", async (t) => {
  const { records, blobs, apply, stage, scene } = await versionedBucket(t);
  const [blob, first, second] = [await stage(), randomHex(), randomHex()];
  await apply(put("a", first, inBlob(blob)));
  const record = objectRecord("a", { version: second, isVersioned: true });
  await apply({ kind: "put copy", record, of: first });
  assert.deepEqual(await damages(records), []);
  await apply(remove("a", first));
  assert.deepEqual(await records.garbage(bucket, 0, 10), []);
  await apply(remove("a", second));
  const garbage = await records.garbage(bucket, 0, 10);
  assert.deepEqual(
    garbage.map(({ blobs }) => blobs),
    [[blob]],
  );
  assert.equal(await blobs.remove(bucket, garbage[0]!.blobs), true);
  await records.ackGarbage(bucket, garbage);
  assert.deepEqual(await toArray(blobs.all(bucket)), []);
  for (const table of ["blobs", "dead", "shared_blobs", "history", "objects"]) {
    assert.deepEqual(await scene.ask(`SELECT 1 FROM store.${table}`), [], table);
  }
});

test("of a body of which one part is shared, only the other parts become garbage", async (t) => {
  const { records, apply, stage, scene } = await versionedBucket(t);
  const parts = [await stage(), await stage(), await stage()];
  const [version, upload] = [randomHex(), uploadRecord("a")];
  await apply(
    { kind: "put upload", record: upload },
    ...parts.map(
      (blob, i): Mutation => ({ kind: "put part", uploadId: upload.id, part: partRecord(i + 1, blob) }),
    ),
    put("a", version, inParts(...parts)),
    { kind: "end parts", uploadId: upload.id, taken: [1, 2, 3] },
  );
  await scene.ask(
    "INSERT INTO store.shared_blobs (bucket, name) SELECT bucket, name FROM store.blobs WHERE name = $1",
    parts[1]!.split(".")[1],
  );
  await apply(remove("a", version));
  const garbage = await records.garbage(bucket, 0, 10);
  assert.deepEqual(
    garbage.map(({ blobs }) => blobs),
    [[parts[0], parts[2]]],
  );
  assert.equal(await records.referencesBlob(bucket, parts[1]!), true);
});

test("an integrity check reports damage of the history", async (t) => {
  const { records, apply, stage, scene } = await versionedBucket(t);
  const [lost, shared] = [await stage(), await stage()];
  const versions = [randomHex(), randomHex()] as const;
  await apply(put("a", versions[0], inBlob(lost)), put("b", versions[0], inBlob(shared)));
  await apply({ kind: "put copy", record: objectRecord("b", { isVersioned: true }), of: versions[0] });
  await apply(put("a", versions[1], inline("")), put("c", versions[0], inline("")));
  await apply(put("c", versions[1], inline("")));
  assert.deepEqual(await damages(records), []);
  await scene.ask("DELETE FROM store.blobs WHERE name = $1", lost.split(".")[1]);
  await scene.ask("DELETE FROM store.shared_blobs");
  await scene.ask("DELETE FROM store.objects WHERE key = 'c'");
  assert.deepEqual(await damages(records), [
    `a: Blob ${lost} of a record is not in the blob table.`,
    `b: Blob ${shared.split(".")[1]} has another number of references than versions.`,
    "c: The newest version of the key is not its current version.",
    "c: A read as of a time does not find the right version of the key.",
  ]);
  await scene.ask("UPDATE store.history SET record = 'rot' WHERE key = 'a'");
  const inspected = await toArray(records.inspectHistory(bucket));
  const damaged = inspected.filter(({ found }) => found instanceof StoreError);
  assert.deepEqual(
    damaged.map(({ key }) => key),
    ["a"],
  );
  assert.equal(inspected.length, 3);
});
