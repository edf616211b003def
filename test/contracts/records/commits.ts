// Records contract: a commit applies all its mutations if all its checks pass, otherwise none.
import assert from "node:assert/strict";
import type { Check, Mutation } from "../../../src/engine/records.ts";
import {
  inBlob,
  inline,
  objectRecord,
  partRecord,
  putObject,
  randomHex,
  uploadRecord,
} from "../../support/samples.ts";
import { apply, bucket, buriedBlobs, type Chapter, conflicts, emptyBucket } from "./setup.ts";

const [v0, v1, v2, v3] = ["0", "1", "2", "3"].map((digit) => digit.repeat(32)) as [
  string,
  string,
  string,
  string,
];

const missing = (key: string): Check => ({ kind: "object", key, version: undefined });
const has = (key: string, version: string): Check => ({ kind: "object", key, version });

export const commits: Chapter = async (t, ports) => {
  await t.test(
    "a commit that checks an object's version succeeds only if the object has that version",
    async () => {
      const { records } = await emptyBucket(ports);
      const put = (version: string, check: Check) =>
        records.commit(bucket, { checks: [check], mutations: [putObject("a", inline(version), version)] });
      assert.equal(await put(v1, has("a", v1)), "conflict");
      assert.equal(await put(v1, missing("a")), "committed");
      assert.equal(await put(v2, missing("a")), "conflict");
      assert.equal(await put(v2, has("a", v0)), "conflict");
      assert.equal(await put(v2, has("a", v1)), "committed");
      assert.equal(await put(v3, has("a", v1)), "conflict");
      assert.equal((await records.object(bucket, "a"))?.version, v2);
      await apply(records, { kind: "delete object", key: "a" });
      assert.equal(await put(v3, has("a", v2)), "conflict");
      assert.equal(await put(v3, missing("a")), "committed");
    },
  );

  await t.test("a commit that checks an upload succeeds only while the upload is active", async () => {
    const { records } = await emptyBucket(ports);
    const check: Check = { kind: "upload", key: "a", id: "u1" };
    await conflicts(records, { checks: [check], mutations: [] });
    const upload = uploadRecord("a", { id: "u1" });
    await apply(records, { kind: "put upload", record: upload });
    assert.equal(await records.commit(bucket, { checks: [check], mutations: [] }), "committed");
    await conflicts(records, { checks: [{ ...check, key: "b" }], mutations: [] });
    for (const state of ["completed", "aborted"] as const) {
      await apply(records, { kind: "put upload", record: { ...upload, state } });
      await conflicts(records, { checks: [check], mutations: [] });
    }
    await apply(records, { kind: "delete upload", key: "a", id: "u1" });
    await conflicts(records, { checks: [check], mutations: [] });
  });

  await t.test(
    "a commit that checks an upload's revision succeeds until the upload or one of its parts changes",
    async () => {
      const { records, stage } = await emptyBucket(ports);
      const blob = await stage("first", "second");
      const upload = uploadRecord("a", { id: "u1" });
      await apply(records, { kind: "put upload", record: upload });
      const changes: Mutation[] = [
        { kind: "put part", uploadId: "u1", part: partRecord(1, blob.first) },
        { kind: "put part", uploadId: "u1", part: partRecord(1, blob.second) },
        { kind: "put upload", record: upload },
      ];
      for (const change of changes) {
        const { revision } = (await records.upload(bucket, "a", "u1"))!;
        const checks: Check[] = [{ kind: "upload", key: "a", id: "u1", revision }];
        assert.equal(await records.commit(bucket, { checks, mutations: [] }), "committed");
        assert.equal(await records.commit(bucket, { checks, mutations: [change] }), "committed");
        await conflicts(records, { checks, mutations: [change] });
      }
    },
  );

  await t.test("a commit applies no mutation if one of several checks fails", async () => {
    const { records, stage } = await emptyBucket(ports);
    const blob = await stage("a1", "a2", "b1", "c1", "p1", "again");
    const upload = uploadRecord("u", { id: "u1" });
    await apply(
      records,
      putObject("a", inBlob(blob.a1), v1),
      putObject("b", inBlob(blob.b1), v1),
      { kind: "put upload", record: upload },
      { kind: "put part", uploadId: "u1", part: partRecord(1, blob.p1) },
    );
    const before = await records.upload(bucket, "u", "u1");
    const failing: Check[] = [
      missing("a"),
      has("b", v2),
      has("c", v1),
      { kind: "upload", key: "u", id: "x" },
    ];
    for (const check of failing) {
      await conflicts(records, {
        checks: [has("a", v1), check, missing("c")],
        mutations: [
          putObject("a", inBlob(blob.a2), v2),
          { kind: "delete object", key: "b" },
          putObject("c", inBlob(blob.c1)),
          { kind: "put upload", record: uploadRecord("u", { id: "u2" }) },
          { kind: "put part", uploadId: "u1", part: partRecord(1, blob.again) },
          { kind: "end parts", uploadId: "u1", taken: [] },
          { kind: "delete upload", key: "u", id: "u1" },
        ],
      });
    }
    assert.equal((await records.object(bucket, "a"))?.version, v1);
    assert.equal((await records.object(bucket, "b"))?.version, v1);
    assert.equal(await records.object(bucket, "c"), undefined);
    assert.deepEqual(await records.upload(bucket, "u", "u1"), before);
    assert.equal(await records.upload(bucket, "u", "u2"), undefined);
    assert.equal((await records.parts(bucket, "u1"))[0]?.blob, blob.p1);
    assert.deepEqual(await buriedBlobs(records), []);
  });

  await t.test("a commit applies all mutations of a change", async () => {
    const { records, stage } = await emptyBucket(ports);
    const blob = await stage("p1");
    await apply(records, putObject("a"), putObject("b"), putObject("d"));
    const upload = uploadRecord("u", { id: "u1" });
    const change = {
      checks: [missing("c")],
      mutations: [
        { kind: "put object", record: objectRecord("a", { version: v2 }), body: inline("") },
        { kind: "delete object", key: "b" },
        { kind: "delete object", key: "never there" },
        putObject("c"),
        { kind: "put upload", record: upload },
        { kind: "put part", uploadId: "u1", part: partRecord(1, blob.p1) },
      ] satisfies Mutation[],
    };
    assert.equal(await records.commit(bucket, change), "committed");
    assert.equal((await records.object(bucket, "a"))?.version, v2);
    assert.equal(await records.object(bucket, "b"), undefined);
    assert.notEqual(await records.object(bucket, "c"), undefined);
    assert.notEqual(await records.object(bucket, "d"), undefined);
    assert.notEqual(await records.upload(bucket, "u", "u1"), undefined);
    assert.equal((await records.parts(bucket, "u1")).length, 1);
  });

  await t.test("a commit applies the mutations of a change in order", async () => {
    const { records, stage } = await emptyBucket(ports);
    const blob = await stage("a1", "a2", "b1", "c1");
    await apply(
      records,
      putObject("a", inBlob(blob.a1), v1),
      putObject("a", inBlob(blob.a2), v2),
      putObject("b", inBlob(blob.b1), v1),
      { kind: "delete object", key: "b" },
      { kind: "delete object", key: "c" },
      putObject("c", inBlob(blob.c1), v1),
    );
    assert.equal((await records.object(bucket, "a"))?.version, v2);
    assert.equal(await records.object(bucket, "b"), undefined);
    assert.equal((await records.object(bucket, "c"))?.version, v1);
    assert.deepEqual(await buriedBlobs(records), [[blob.a1], [blob.b1]]);
  });

  await t.test("a commit can contain a thousand deletions", async () => {
    const { records } = await emptyBucket(ports);
    const keys = Array.from({ length: 1000 }, (_, i) => `k${i}`);
    await apply(records, ...keys.map((key) => putObject(key)));
    await apply(records, ...keys.map((key) => ({ kind: "delete object" as const, key })));
    const scan = { prefix: "", delimiter: "", limit: 1, metadataBytes: 1 };
    assert.deepEqual((await records.objects(bucket, scan)).entries, []);
  });

  await t.test("a commit without mutations succeeds", async () => {
    const { records } = await emptyBucket(ports);
    assert.equal(await records.commit(bucket, { mutations: [] }), "committed");
    assert.equal(await records.commit(bucket, { checks: [missing("a")], mutations: [] }), "committed");
  });

  await t.test("exactly one of a hundred concurrent creations of one key is committed", async () => {
    const { records, stageMany } = await emptyBucket(ports);
    const puts = (await stageMany(100)).map((blob) => ({ blob, version: randomHex() }));
    const outcomes = await Promise.all(
      puts.map(({ blob, version }) =>
        records.commit(bucket, {
          checks: [missing("a")],
          mutations: [putObject("a", inBlob(blob), version)],
        }),
      ),
    );
    assert.equal(outcomes.filter((outcome) => outcome === "committed").length, 1);
    assert.equal(outcomes.filter((outcome) => outcome === "conflict").length, 99);
    const winner = puts[outcomes.indexOf("committed")];
    assert.equal((await records.object(bucket, "a"))?.version, winner?.version);
    assert.deepEqual(await buriedBlobs(records), []);
  });

  await t.test("no update is lost if concurrent writers check the version they read", async () => {
    const { records } = await emptyBucket(ports);
    await apply(records, putObject("count"));
    const increment = async (): Promise<void> => {
      const seen = (await records.object(bucket, "count"))!;
      const record = objectRecord("count", { size: seen.size + 1 });
      const checks = [has("count", seen.version)];
      const mutations: Mutation[] = [{ kind: "put object", record, body: inline("") }];
      if ((await records.commit(bucket, { checks, mutations })) === "conflict") await increment();
    };
    await Promise.all(Array.from({ length: 12 }, increment));
    assert.equal((await records.object(bucket, "count"))?.size, 12);
  });

  await t.test("concurrent commits to different keys all succeed", async () => {
    const { records } = await emptyBucket(ports);
    const keys = Array.from({ length: 200 }, (_, i) => `k${i}`);
    await Promise.all(
      keys.map(async (key) => {
        assert.equal(
          await records.commit(bucket, { checks: [missing(key)], mutations: [putObject(key)] }),
          "committed",
        );
        assert.notEqual(await records.object(bucket, key), undefined);
      }),
    );
  });
};
