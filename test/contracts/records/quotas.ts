// Records contract: a commit that puts objects and leaves the bucket above its quota is refused.
import assert from "node:assert/strict";
import type { Mutation, Records } from "../../../src/engine/records.ts";
import type { Quota } from "../../../src/model/settings/quota.ts";
import type { Versioning } from "../../../src/model/version.ts";
import { inline, objectRecord, putObject, randomHex, uploadRecord } from "../../support/samples.ts";
import { apply, bucket, type Chapter, conflicts, emptyBucket } from "./setup.ts";

const refused = { name: "StoreError", reason: "QuotaExceeded" };

async function setQuota(records: Records, quota: Quota | undefined): Promise<void> {
  await apply(records, { kind: "put setting", name: "quota", value: quota });
}

/** Puts a version with the given number of bytes. */
function put(key: string, bytes: number, isVersioned = false): Mutation {
  const record = objectRecord(key, { version: randomHex(), size: bytes, uploaded: Date.now() });
  const body = { storage: "inline", bytes: Buffer.alloc(bytes) } as const;
  return { kind: "put object", record: isVersioned ? { ...record, isVersioned: true } : record, body };
}

const versioned = (records: Records, ...mutations: Mutation[]) =>
  records.commit(bucket, { mutations, protection: { versioning: "on" satisfies Versioning } });

export const quotas: Chapter = async (t, ports) => {
  await t.test("a put that exceeds the bucket's bytes changes nothing, and a smaller put fits", async () => {
    const { records } = await emptyBucket(ports);
    await setQuota(records, { bytes: 10 });
    await apply(records, put("a", 6));
    await assert.rejects(apply(records, put("b", 5)), refused);
    assert.equal(await records.object(bucket, "b"), undefined);
    await apply(records, put("b", 4));
    assert.deepEqual(await records.usage(bucket), { bytes: 10, objects: 2 });
    await assert.rejects(apply(records, put("c", 1)), refused);
    await apply(records, put("c", 0));
    assert.deepEqual(await records.usage(bucket), { bytes: 10, objects: 3 });
  });

  await t.test(
    "a put that exceeds the bucket's number of objects is refused, an overwrite is not",
    async () => {
      const { records } = await emptyBucket(ports);
      await setQuota(records, { objects: 2 });
      await apply(records, put("a", 1), put("b", 1));
      await assert.rejects(apply(records, put("c", 0)), refused);
      await apply(records, put("a", 1000));
      await apply(records, { kind: "delete object", key: "a" });
      await apply(records, put("c", 1));
      assert.deepEqual(await records.usage(bucket), { bytes: 2, objects: 2 });
    },
  );

  await t.test("a change of several mutations above the quota is undone as a whole", async () => {
    const { records } = await emptyBucket(ports);
    await setQuota(records, { bytes: 5 });
    await apply(records, put("a", 3));
    const upload = uploadRecord("u", { id: "u1" });
    const change = [put("b", 1), { kind: "put upload", record: upload } as const, put("c", 2)];
    await assert.rejects(apply(records, ...change), refused);
    assert.deepEqual(await records.usage(bucket), { bytes: 3, objects: 1 });
    assert.equal(await records.upload(bucket, "u", "u1"), undefined);
    await apply(records, { kind: "delete object", key: "a" }, ...change);
    assert.deepEqual(await records.usage(bucket), { bytes: 3, objects: 2 });
  });

  await t.test(
    "a bucket above its new quota accepts deletes and overwrites that do not grow it",
    async () => {
      const { records } = await emptyBucket(ports);
      await apply(records, put("a", 10), put("b", 10));
      await setQuota(records, { bytes: 5, objects: 1 });
      await assert.rejects(apply(records, put("a", 11)), refused);
      await apply(records, put("a", 10));
      await apply(records, put("a", 9));
      await apply(records, { kind: "delete object", key: "b" });
      await assert.rejects(apply(records, put("b", 0)), refused);
      await setQuota(records, undefined);
      await apply(records, put("b", 100));
      assert.deepEqual(await records.usage(bucket), { bytes: 109, objects: 2 });
    },
  );

  await t.test("all versions and delete markers count, and a delete marker is never refused", async () => {
    const { records } = await emptyBucket(ports);
    await apply(records, put("a", 2));
    await apply(records, { kind: "put setting", name: "versioning", value: "on" });
    await setQuota(records, { bytes: 6, objects: 3 });
    const second = put("a", 4, true);
    assert.equal(await versioned(records, second), "committed");
    assert.deepEqual(await records.usage(bucket), { bytes: 6, objects: 2 });
    await assert.rejects(versioned(records, put("a", 1, true)), refused);
    const marker = {
      ...{ key: "a", version: randomHex(), uploaded: Date.now() },
      ...({ isVersioned: true, isDeleteMarker: true } as const),
    };
    const other = { ...marker, key: "b", version: randomHex() };
    await versioned(records, { kind: "put marker", marker });
    await versioned(records, { kind: "put marker", marker: other });
    assert.deepEqual(await records.usage(bucket), { bytes: 6, objects: 4 });
    await assert.rejects(versioned(records, put("c", 0, true)), refused);
    if (second.kind !== "put object") return;
    const { version } = second.record;
    const copy = { ...second.record, version: randomHex() };
    await assert.rejects(versioned(records, { kind: "put copy", record: copy, of: version }), refused);
    await versioned(records, { kind: "delete version", key: "a", version });
    await versioned(records, { kind: "delete version", key: "b", version: other.version });
    assert.deepEqual(await records.usage(bucket), { bytes: 2, objects: 2 });
    assert.equal(await versioned(records, put("c", 4, true)), "committed");
  });

  await t.test("while versioning is suspended, a put replaces the null version in the count", async () => {
    const { records } = await emptyBucket(ports);
    await apply(records, put("a", 3));
    await apply(records, { kind: "put setting", name: "versioning", value: "on" });
    await setQuota(records, { bytes: 10 });
    await versioned(records, put("a", 5, true));
    await apply(records, { kind: "put setting", name: "versioning", value: "suspended" });
    const suspended = (mutation: Mutation) =>
      records.commit(bucket, { mutations: [mutation], protection: { versioning: "suspended" } });
    await assert.rejects(suspended(put("a", 6)), refused);
    assert.equal(await suspended(put("a", 4)), "committed");
    assert.deepEqual(await records.usage(bucket), { bytes: 9, objects: 2 });
    assert.equal(await suspended(put("a", 5)), "committed");
    assert.deepEqual(await records.usage(bucket), { bytes: 10, objects: 2 });
  });

  await t.test("concurrent puts fill the bucket exactly to its quota", async () => {
    const { records } = await emptyBucket(ports);
    await setQuota(records, { bytes: 50, objects: 30 });
    const puts = Array.from({ length: 100 }, (_, i) => apply(records, put(`key ${i}`, 2)));
    const outcomes = await Promise.allSettled(puts);
    assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 25);
    assert.deepEqual(await records.usage(bucket), { bytes: 50, objects: 25 });
    const { objects, bytes } = await records.totals(bucket);
    assert.deepEqual([objects, bytes], [25, 50]);
  });

  await t.test("a failed check is reported as a conflict, not as an exceeded quota", async () => {
    const { records } = await emptyBucket(ports);
    await setQuota(records, { objects: 0 });
    const check = { kind: "object", key: "a", version: randomHex() } as const;
    await conflicts(records, { checks: [check], mutations: [putObject("a", inline("a"))] });
    await assert.rejects(apply(records, putObject("a", inline("a"))), refused);
  });
};
