// Records contract: another body for a stored version, current or not.
import assert from "node:assert/strict";
import type { Body, Mutation, Records } from "../../../src/engine/records.ts";
import type { Protection } from "../../../src/model/bucket.ts";
import type { ObjectRecord } from "../../../src/model/object.ts";
import { inBlob, inline, inParts, objectRecord, plain } from "../../support/samples.ts";
import { apply, bucket, buriedBlobs, type Chapter, emptyBucket } from "./setup.ts";

const on: Protection = { versioning: "on" };
const tags = new Map([["replaced", "yes"]]);
const id = (label: string) => Buffer.from(label).toString("hex").repeat(16).slice(0, 32);

function object(label: string, size: number): ObjectRecord {
  return objectRecord("a", { version: id(label), size, isVersioned: true });
}

async function replace(
  records: Records,
  earlier: ObjectRecord,
  body: Body,
  protection: Protection = {},
): Promise<"committed" | "conflict"> {
  const mutation: Mutation = { kind: "replace body", record: { ...earlier, tags }, body };
  return records.commit(bucket, {
    checks: [{ kind: "version", version: earlier }],
    mutations: [mutation],
    protection,
  });
}

export const replacedBodies: Chapter = async (t, ports) => {
  await t.test("a replaced body leaves the earlier blob as garbage and keeps the version", async () => {
    const { records, stage } = await emptyBucket(ports);
    const { old, young } = await stage("old", "young");
    const record = objectRecord("a", { version: id("a"), size: 70_000 });
    await apply(records, { kind: "put object", record, body: inBlob(old) });
    const totals = await records.totals(bucket);
    assert.equal(await replace(records, record, inBlob(young)), "committed");
    const found = await records.objectWithBody(bucket, "a");
    assert.deepEqual([plain(found?.record), found?.body], [{ ...record, tags }, inBlob(young)]);
    assert.deepEqual(await buriedBlobs(records), [[old]]);
    assert.deepEqual(await records.totals(bucket), totals);
    assert.equal(await records.referencesBlob(bucket, young), true);
    assert.equal(await replace(records, record, inline("other")), "conflict");
  });

  await t.test("a body can be replaced between inline bytes, a blob and parts", async () => {
    const { records, stage } = await emptyBucket(ports);
    const { blob, one, two } = await stage("blob", "one", "two");
    let record = objectRecord("a", { version: id("a"), size: 10 });
    await apply(records, { kind: "put object", record, body: inline("first") });
    for (const body of [inline("second"), inBlob(blob), inParts(one, two), inline("last")]) {
      assert.equal(await replace(records, record, body), "committed");
      record = { ...record, tags };
      assert.deepEqual(plain((await records.objectWithBody(bucket, "a"))?.body), plain(body));
    }
    assert.deepEqual((await buriedBlobs(records)).flat().sort(), [blob, one, two].sort());
  });

  await t.test("a body of a version that is not current is replaced", async () => {
    const { records, stage } = await emptyBucket(ports);
    await apply(records, { kind: "put setting", name: "versioning", value: "on" });
    const { old, young, one, two } = await stage("old", "young", "one", "two");
    const [first, second] = [object("a", 70_000), object("b", 5)];
    for (const [record, body] of [[first, inBlob(old)] as const, [second, inline("hello")] as const]) {
      await records.commit(bucket, { mutations: [{ kind: "put object", record, body }], protection: on });
    }
    assert.equal(await replace(records, first, inBlob(young), on), "committed");
    const found = await records.version(bucket, "a", first.version);
    assert.deepEqual([plain(found?.version), found?.body], [{ ...first, tags }, inBlob(young)]);
    assert.equal(await replace(records, { ...first, tags }, inParts(one, two), on), "committed");
    assert.equal(await replace(records, { ...first, tags }, inline("small"), on), "committed");
    assert.equal(await replace(records, second, inline("other"), on), "committed");
    assert.deepEqual(plain((await records.version(bucket, "a", first.version))?.body), inline("small"));
    assert.deepEqual(plain((await records.objectWithBody(bucket, "a"))?.body), inline("other"));
    assert.deepEqual((await buriedBlobs(records)).flat().sort(), [old, young, one, two].sort());
  });

  await t.test("a shared body stays for the other version when one is replaced", async () => {
    const { records, stage } = await emptyBucket(ports);
    await apply(records, { kind: "put setting", name: "versioning", value: "on" });
    const { shared, one, two } = await stage("shared", "one", "two");
    const [first, copy] = [object("a", 70_000), object("b", 70_000)];
    const mutations: Mutation[] = [
      { kind: "put object", record: first, body: inBlob(shared) },
      { kind: "put copy", record: copy, of: first.version },
    ];
    for (const one of mutations) await records.commit(bucket, { mutations: [one], protection: on });
    assert.equal(await replace(records, first, inBlob(one), on), "committed");
    assert.deepEqual(await buriedBlobs(records), []);
    assert.deepEqual((await records.objectWithBody(bucket, "a"))?.body, inBlob(shared));
    assert.equal(await replace(records, copy, inBlob(two), on), "committed");
    assert.deepEqual(await buriedBlobs(records), [[shared]]);
  });
};
