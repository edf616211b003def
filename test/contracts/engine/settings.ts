// Engine contract: bucket settings and lifecycle rules. The test controls the clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { createNotificationRules } from "../../../src/events/rules.ts";
import { createMemoryRecords } from "../../../src/memory/records.ts";
import type { LifecycleRule } from "../../../src/model/settings/lifecycle.ts";
import { assertBytes, sampleBytes } from "../../support/bytes.ts";
import {
  blobsLeft,
  bucket,
  clock,
  contentOf,
  day,
  exists,
  type OpenEngine,
  openBucket,
  uploadParts,
} from "./setup.ts";

const rule = (fields: Partial<LifecycleRule>): LifecycleRule => ({
  id: "r",
  isEnabled: true,
  prefix: "",
  ...fields,
});

export function settings(open: OpenEngine): void {
  test("replacing a setting fails only if the same setting changed since it was read", async (t) => {
    const { engine } = await openBucket(open, t);
    const seen = (await engine.bucket(bucket))!.settings;
    const [first, second] = [[rule({ id: "first" })], [rule({ id: "second" })]];
    assert.equal(await engine.changeSettings(bucket, { lifecycle: first }, seen), "committed");
    assert.equal(await engine.changeSettings(bucket, { lifecycle: second }, seen), "conflict");
    assert.deepEqual((await engine.bucket(bucket))!.settings.lifecycle, first);
    const cors = [{ origins: ["*"], methods: ["GET"], headers: [], exposed: [] }];
    assert.equal(await engine.changeSettings(bucket, { cors }, seen), "committed");
    const now = (await engine.bucket(bucket))!.settings;
    assert.equal(await engine.changeSettings(bucket, { lifecycle: undefined }, now), "committed");
    assert.equal(await engine.changeSettings(bucket, { lifecycle: second }, now), "conflict");
  });

  test("notification rules that are added and removed concurrently are all applied", async (t) => {
    const { engine } = await openBucket(open, t);
    const { documents } = createMemoryRecords();
    const rules = createNotificationRules({
      engine,
      documents,
      secretKey: () => Buffer.alloc(32),
      listScripts: async () => [{ name: "app", buckets: [bucket] }],
    });
    const ids = Array.from({ length: 8 }, (_, index) => `rule-${index}`);
    const target = { kind: "script", name: "app" } as const;
    await Promise.all(ids.map((id) => rules.add(bucket, { id, target })));
    assert.deepEqual((await rules.list(bucket)).map((one) => one.rule.id).sort(), ids);
    const removed = await Promise.all(ids.slice(2).map((id) => rules.remove(bucket, id)));
    assert.ok(removed.every((isRemoved) => isRemoved));
    assert.deepEqual((await rules.list(bucket)).map((one) => one.rule.id).sort(), ids.slice(0, 2));
    assert.equal(await rules.remove(bucket, "rule-7"), false);
  });

  test("the settings of a bucket are changed and removed independently, and deleted with the bucket", async (t) => {
    const { engine } = await openBucket(open, t);
    assert.deepEqual((await engine.bucket(bucket))?.settings, {});
    const cors = [{ origins: ["*"], methods: ["GET"], headers: [], exposed: [] }];
    const lifecycle = [rule({ expire: { days: 1 } })];
    await engine.changeSettings(bucket, { cors });
    await engine.changeSettings(bucket, { lifecycle });
    assert.deepEqual((await engine.bucket(bucket))?.settings, { cors, lifecycle });
    await engine.changeSettings(bucket, { cors: undefined });
    const { cors: taken, lifecycle: kept } = (await engine.bucket(bucket))!.settings;
    assert.deepEqual([taken, kept], [undefined, lifecycle]);
    await engine.deleteBucket(bucket);
    await engine.createBucket(bucket, { account: "other" });
    assert.deepEqual((await engine.bucket(bucket))?.settings, {});
    assert.equal((await engine.bucket(bucket))?.account, "other");
    await assert.rejects(engine.changeSettings("none", { cors }), { reason: "NoSuchBucket" });
  });

  test("objects that match a lifecycle rule expire at midnight after the rule's days, and their bytes are freed", async (t) => {
    const time = clock();
    const opened = await openBucket(open, t, time);
    const { engine } = opened;
    time.time += day / 2;
    for (const key of ["log/a", "log/b", "other"]) await engine.put(bucket, key, sampleBytes(9000));
    await engine.put(bucket, "log/small", sampleBytes(10));
    const lifecycle = [rule({ prefix: "log/", largerThan: 100, expire: { days: 2 } })];
    await engine.changeSettings(bucket, { lifecycle });
    time.time += 2 * day;
    assert.equal((await engine.sweep()).objectsExpired, 0);
    await engine.put(bucket, "log/b", sampleBytes(9000));
    time.time += day / 2;
    assert.equal((await engine.sweep()).objectsExpired, 1);
    assert.deepEqual(
      await Promise.all(["log/a", "log/b", "log/small", "other"].map((key) => exists(engine, key))),
      [false, true, true, true],
    );
    assert.equal(await blobsLeft(opened), 2);
  });

  test("a lifecycle rule with a date expires existing objects, and a disabled rule does nothing", async (t) => {
    const time = clock();
    const { engine } = await openBucket(open, t, time);
    await engine.put(bucket, "a", sampleBytes(1));
    const expire = { date: time.time + day };
    await engine.changeSettings(bucket, { lifecycle: [rule({ expire, isEnabled: false })] });
    time.time += day;
    assert.equal((await engine.sweep()).objectsExpired, 0);
    await engine.changeSettings(bucket, { lifecycle: [rule({ expire })] });
    assert.equal((await engine.sweep()).objectsExpired, 1);
  });

  test("a lifecycle transition changes the storage class of an object once, and nothing else", async (t) => {
    const time = clock();
    const { engine } = await openBucket(open, t, time);
    await engine.put(bucket, "inline", sampleBytes(10));
    await engine.put(bucket, "blob", sampleBytes(100_000));
    const upload = await engine.createUpload(bucket, "parts");
    await engine.completeUpload(
      bucket,
      upload,
      await uploadParts(engine, upload, { 1: sampleBytes(70_000), 2: sampleBytes(3) }),
    );
    const before = await Promise.all(["inline", "blob", "parts"].map((key) => engine.head(bucket, key)));
    await engine.changeSettings(bucket, { lifecycle: [rule({ transition: { days: 1 } })] });
    time.time += 2 * day;
    assert.equal((await engine.sweep()).objectsMoved, 3);
    assert.equal((await engine.sweep()).objectsMoved, 0);
    for (const record of before) {
      assert.deepEqual(await engine.head(bucket, record!.key), {
        ...record,
        storageClass: "InfrequentAccess",
      });
    }
    assertBytes(await contentOf(engine, "inline"), sampleBytes(10));
    assertBytes(await contentOf(engine, "blob"), sampleBytes(100_000));
    assert.equal((await contentOf(engine, "parts")).length, 70_003);
    assert.deepEqual((await engine.verify()).damages, []);
  });

  test("later transitions of a rule change the name of the storage class of objects that it moved", async (t) => {
    const time = clock();
    const { engine } = await openBucket(open, t, time);
    const own = { passthrough: new Map([["class", "OWN"]]) };
    await engine.put(bucket, "plain", sampleBytes(10));
    await engine.put(bucket, "described", sampleBytes(10), { passthrough: new Map([["redirect", "/"]]) });
    await engine.put(bucket, "own", sampleBytes(10), { storageClass: "InfrequentAccess", ...own });
    const namedTransitions = [{ days: 2 }, { days: 4, className: "COLD" }, { days: 6, className: "COLDER" }];
    const transition = { days: 2 };
    await engine.changeSettings(bucket, { lifecycle: [rule({ transition, namedTransitions })] });
    const seen: unknown[] = [];
    for (let i = 0; i < 8; i++) {
      const { objectsMoved } = await engine.sweep();
      const record = await engine.head(bucket, "plain");
      seen.push([objectsMoved, record?.storageClass, record?.passthrough?.get("class")]);
      time.time += day;
    }
    assert.deepEqual(
      seen.filter((entry, i) => i === 0 || !isDeepStrictEqual(entry, seen[i - 1])),
      [
        [0, "Standard", undefined],
        [2, "InfrequentAccess", undefined],
        [0, "InfrequentAccess", undefined],
        [2, "InfrequentAccess", "COLD"],
        [0, "InfrequentAccess", "COLD"],
        [2, "InfrequentAccess", "COLDER"],
        [0, "InfrequentAccess", "COLDER"],
      ],
    );
    const [described, other] = [await engine.head(bucket, "described"), await engine.head(bucket, "own")];
    assert.deepEqual(Object.fromEntries(described!.passthrough!), { redirect: "/", class: "COLDER" });
    assert.deepEqual(Object.fromEntries(other!.passthrough!), { class: "OWN" });
  });

  test("a lifecycle rule can abort incomplete uploads before the default of seven days", async (t) => {
    const time = clock();
    const { engine } = await openBucket(open, t, time);
    await engine.createUpload(bucket, "tmp/a");
    await engine.createUpload(bucket, "b");
    await engine.changeSettings(bucket, { lifecycle: [rule({ prefix: "tmp/", abortUploadsAfter: 1 })] });
    time.time += 2 * day;
    assert.equal((await engine.sweep()).uploadsAborted, 1);
    assert.deepEqual(
      (await engine.listUploads(bucket)).uploads.map(({ key }) => key),
      ["b"],
    );
  });
}
