// Records contract: blobs that a change leaves unreferenced enter the garbage queue in the same
// commit.
import assert from "node:assert/strict";
import type { GarbageEntry, Mutation, Records } from "../../../src/engine/records.ts";
import {
  bodyPart,
  inBlob,
  inline,
  inParts,
  partRecord,
  putObject,
  uploadRecord,
} from "../../support/samples.ts";
import { apply, bucket, buriedBlobs, type Chapter, emptyBucket } from "./setup.ts";

export const burials: Chapter = async (t, ports) => {
  await t.test("the blobs of a replaced object become one garbage entry", async () => {
    const { records, stage } = await emptyBucket(ports);
    const blob = await stage("b1", "b2", "p1", "p2", "p3");
    const parts = [blob.p1, blob.p2, blob.p3];
    await apply(records, putObject("a", inBlob(blob.b1)));
    assert.deepEqual(await buriedBlobs(records), []);
    await apply(records, ...completing("a", parts));
    assert.deepEqual(await buriedBlobs(records), [[blob.b1]]);
    await apply(records, putObject("a", inline("small")));
    assert.deepEqual(await buriedBlobs(records), [[blob.b1], parts]);
    await apply(records, putObject("a", inBlob(blob.b2)));
    assert.deepEqual(await buriedBlobs(records), [[blob.b1], parts]);
  });

  await t.test(
    "deleting an object adds its blobs to the garbage queue once, even if it is deleted again",
    async () => {
      const { records, stage } = await emptyBucket(ports);
      const blob = await stage("b1", "p1", "p2");
      await apply(records, putObject("a", inBlob(blob.b1)), ...completing("b", [blob.p1, blob.p2]));
      await apply(
        records,
        { kind: "delete object", key: "a" },
        { kind: "delete object", key: "a" },
        { kind: "delete object", key: "b" },
      );
      await apply(records, { kind: "delete object", key: "a" });
      assert.deepEqual(await buriedBlobs(records), [[blob.b1], [blob.p1, blob.p2]]);
    },
  );

  await t.test("deleting an object with an inline body adds nothing to the garbage queue", async () => {
    const { records } = await emptyBucket(ports);
    await apply(records, putObject("a", inline("one")));
    await apply(records, putObject("a", inline("two")), putObject("b", inline("")));
    await apply(records, { kind: "delete object", key: "a" }, { kind: "delete object", key: "b" });
    assert.deepEqual(await buriedBlobs(records), []);
  });

  await t.test("the blob of a replaced part becomes garbage", async () => {
    const { records, stage } = await emptyBucket(ports);
    const blob = await stage("one", "again", "thrice", "other");
    await apply(records, ...uploading("film", "u1", [blob.one, blob.other]));
    await apply(records, { kind: "put part", uploadId: "u1", part: partRecord(1, blob.again) });
    assert.deepEqual(await buriedBlobs(records), [[blob.one]]);
    await apply(records, { kind: "put part", uploadId: "u1", part: partRecord(1, blob.thrice) });
    assert.deepEqual(await buriedBlobs(records), [[blob.one], [blob.again]]);
  });

  await t.test("parts used in the completed object are kept, and unused parts become garbage", async () => {
    const { records, stage } = await emptyBucket(ports);
    const blob = await stage("p1", "p2", "p3", "p4", "old");
    await apply(records, putObject("film", inBlob(blob.old)));
    await apply(records, ...uploading("film", "u1", [blob.p1, blob.p2, blob.p3, blob.p4]));
    await apply(
      records,
      putObject("film", { storage: "parts", parts: [bodyPart(2, blob.p2), bodyPart(4, blob.p4)] }),
      { kind: "end parts", uploadId: "u1", taken: [2, 4] },
      { kind: "put upload", record: uploadRecord("film", { id: "u1", state: "completed" }) },
    );
    const left = [blob.old, blob.p1, blob.p3].sort();
    assert.deepEqual(await everyBuried(records), left);
    assert.deepEqual(await records.parts(bucket, "u1"), []);
    assert.equal((await records.upload(bucket, "film", "u1"))?.record.state, "completed");
    await apply(records, { kind: "delete upload", key: "film", id: "u1" });
    assert.deepEqual(await everyBuried(records), left);
    await apply(records, { kind: "delete object", key: "film" });
    assert.deepEqual((await buriedBlobs(records)).at(-1), [blob.p2, blob.p4]);
  });

  await t.test("parts that a change ends before it puts their object do not become garbage", async () => {
    const { records, stage } = await emptyBucket(ports);
    const blob = await stage("p1", "p2");
    await apply(records, ...uploading("film", "u1", [blob.p1, blob.p2]));
    await apply(
      records,
      { kind: "end parts", uploadId: "u1", taken: [1, 2] },
      putObject("film", inParts(blob.p1, blob.p2)),
    );
    assert.deepEqual(await buriedBlobs(records), []);
  });

  await t.test("all parts of an upload that ends without an object become garbage exactly once", async () => {
    const { records, stageMany } = await emptyBucket(ports);
    const blobs = await stageMany(3);
    await apply(records, ...uploading("film", "u1", blobs));
    await apply(
      records,
      { kind: "end parts", uploadId: "u1", taken: [] },
      { kind: "put upload", record: uploadRecord("film", { id: "u1", state: "aborted" }) },
    );
    assert.deepEqual(await everyBuried(records), blobs.toSorted());
    await apply(records, { kind: "end parts", uploadId: "u1", taken: [] });
    assert.deepEqual(await everyBuried(records), blobs.toSorted());
  });

  await t.test("the parts of a deleted upload become garbage", async () => {
    const { records, stageMany } = await emptyBucket(ports);
    const blobs = await stageMany(2);
    await apply(records, ...uploading("film", "u1", blobs));
    await apply(records, { kind: "delete upload", key: "film", id: "u1" });
    assert.deepEqual(await everyBuried(records), blobs.toSorted());
    assert.deepEqual(await records.parts(bucket, "u1"), []);
  });

  await t.test("garbage entries are returned in pages, oldest first, after the given entry", async () => {
    const { records, stageMany } = await emptyBucket(ports);
    const ids = await stageMany(7);
    for (const id of ids) await apply(records, putObject("a", inBlob(id)));
    await apply(records, { kind: "delete object", key: "a" });
    assert.deepEqual(await records.garbage(bucket, 0, 0), []);
    const found: GarbageEntry[] = [];
    for (let after = 0; ; after = found.at(-1)!.entry) {
      const page = await records.garbage(bucket, after, 3);
      assert(page.length <= 3 && found.length <= 7);
      if (page.length === 0) break;
      found.push(...page);
    }
    assert.deepEqual(
      found.map(({ blobs }) => [...blobs]),
      ids.map((id) => [id]),
    );
    const entries = found.map(({ entry }) => entry);
    assert.deepEqual(
      entries,
      entries.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(entries).size, 7);
    assert.deepEqual(await records.garbage(bucket, entries[3]!, 2), found.slice(4, 6));
  });

  await t.test("ackGarbage removes only the acknowledged entries from the garbage queue", async () => {
    const { records, stage } = await emptyBucket(ports);
    const blob = await stage("b1", "b2", "b3", "b4", "b5", "p1", "p2");
    const bury = (...bodies: Mutation[]) => apply(records, ...bodies, { kind: "delete object", key: "a" });
    for (const id of [blob.b1, blob.b2, blob.b3, blob.b4]) await bury(putObject("a", inBlob(id)));
    await bury(...completing("a", [blob.p1, blob.p2]));
    const buried = await records.garbage(bucket, 0, 10);
    await records.ackGarbage(bucket, [buried[1]!, buried[3]!, buried[4]!]);
    assert.deepEqual(await buriedBlobs(records), [[blob.b1], [blob.b3]]);
    await records.ackGarbage(bucket, [buried[1]!]);
    await records.ackGarbage(bucket, []);
    assert.deepEqual(await buriedBlobs(records), [[blob.b1], [blob.b3]]);
    await bury(putObject("a", inBlob(blob.b5)));
    assert.deepEqual(await buriedBlobs(records), [[blob.b1], [blob.b3], [blob.b5]]);
    await records.ackGarbage(bucket, await records.garbage(bucket, 0, 10));
    assert.deepEqual(await buriedBlobs(records), []);
  });

  await t.test(
    "after a hundred concurrent overwrites, every replaced blob became garbage exactly once",
    async () => {
      const { records, stageMany } = await emptyBucket(ports);
      const ids = await stageMany(100);
      await Promise.all(ids.map((id) => apply(records, putObject("a", inBlob(id)))));
      const kept = (await records.objectWithBody(bucket, "a"))!.body;
      assert(kept.storage === "blob");
      assert.deepEqual([...(await everyBuried(records)), kept.blob.id].sort(), ids.sort());
    },
  );
};

async function everyBuried(records: Records): Promise<string[]> {
  return (await buriedBlobs(records)).flat().sort();
}

/** Returns the mutations that create an upload with parts numbered from 1. */
function uploading(key: string, id: string, blobs: readonly string[]): Mutation[] {
  const parts = blobs.map((blob, i) => partRecord(i + 1, blob));
  return [
    { kind: "put upload", record: uploadRecord(key, { id }) },
    ...parts.map((part) => ({ kind: "put part" as const, uploadId: id, part })),
  ];
}

/** Returns the mutations that create an upload and complete it with all its parts. */
function completing(key: string, blobs: readonly string[]): Mutation[] {
  const taken = blobs.map((_, i) => i + 1);
  const uploadId = `upload of ${key}`;
  return [
    ...uploading(key, uploadId, blobs),
    putObject(key, inParts(...blobs)),
    { kind: "end parts", uploadId, taken },
    { kind: "put upload", record: uploadRecord(key, { id: uploadId, state: "completed" }) },
  ];
}
