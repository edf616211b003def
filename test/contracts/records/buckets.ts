// Records contract: creating, listing and deleting buckets, and methods on missing buckets.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Records } from "../../../src/engine/records.ts";
import { inBlob, partRecord, plain, putObject, uploadRecord } from "../../support/samples.ts";
import { bucketRecord, emptyBucket, type OpenRecords } from "./setup.ts";

const noSuchBucket = { name: "StoreError", reason: "NoSuchBucket" };

export function bucketRecords(open: OpenRecords): void {
  test("a bucket is returned with the fields it was created with", async (t) => {
    const { records } = await open(t);
    const record = bucketRecord("logs", { created: 8.64e15, storageClass: "InfrequentAccess" });
    assert.equal(await records.createBucket(record), true);
    assert.deepEqual(plain(await records.bucket("logs")), { ...record, settings: {} });
    assert.equal(await records.bucket("log"), undefined);
  });

  test("creating a bucket with a name in use is refused and changes nothing", async (t) => {
    const { records } = await emptyBucket(await open(t));
    await records.commit("bucket", { mutations: [putObject("kept")] });
    const other = bucketRecord("bucket", { storageClass: "InfrequentAccess", created: 1 });
    assert.equal(await records.createBucket(other), false);
    assert.deepEqual(plain(await records.bucket("bucket")), { ...bucketRecord("bucket"), settings: {} });
    assert.notEqual(await records.object("bucket", "kept"), undefined);
  });

  test("a bucket keeps its policy and its public access block until they are removed", async (t) => {
    const { records } = await emptyBucket(await open(t));
    const policy = '{ "Statement": "as it was put, \\u00e9 and é" }';
    const publicAccessBlock = {
      blockPublicAcls: true,
      ignorePublicAcls: false,
      blockPublicPolicy: true,
      restrictPublicBuckets: false,
    };
    const put = (name: "policy" | "publicAccessBlock", value: unknown) =>
      records.commit("bucket", { mutations: [{ kind: "put setting", name, value }] });
    await put("policy", policy);
    await put("publicAccessBlock", publicAccessBlock);
    assert.deepEqual(plain((await records.bucket("bucket"))?.settings), { policy, publicAccessBlock });
    const checks = [{ kind: "setting", name: "policy", value: "{}" }] as const;
    const mutations = [{ kind: "put setting", name: "policy", value: "{}" }] as const;
    assert.equal(await records.commit("bucket", { checks, mutations }), "conflict");
    await put("policy", undefined);
    const { settings } = (await records.bucket("bucket"))!;
    assert.equal(settings.policy, undefined);
    assert.deepEqual(settings.publicAccessBlock, publicAccessBlock);
  });

  test("exactly one of many concurrent creations of one bucket succeeds", async (t) => {
    const { records } = await open(t);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, created) => records.createBucket(bucketRecord("wanted", { created }))),
    );
    assert.equal(answers.filter((created) => created).length, 1);
    assert.equal((await records.bucket("wanted"))?.created, answers.indexOf(true));
  });

  test("buckets are listed by name", async (t) => {
    const { records } = await open(t);
    assert.deepEqual(await records.buckets(), []);
    for (const name of ["ba", "b0", "b.a", "b-a", "zzz", "abc", "b-b"]) {
      await records.createBucket(bucketRecord(name));
    }
    const names = (await records.buckets()).map(({ name }) => name);
    assert.deepEqual(names, ["abc", "b-a", "b-b", "b.a", "b0", "ba", "zzz"]);
    assert.deepEqual(plain((await records.buckets())[0]), bucketRecord("abc"));
  });

  test("a bucket with objects is not deleted, and can be deleted once it is empty", async (t) => {
    const { records } = await emptyBucket(await open(t));
    await records.commit("bucket", { mutations: [putObject("a"), putObject("b")] });
    assert.equal(await records.deleteBucket("bucket"), "not empty");
    await records.commit("bucket", { mutations: [{ kind: "delete object", key: "a" }] });
    assert.equal(await records.deleteBucket("bucket"), "not empty");
    await records.commit("bucket", { mutations: [{ kind: "delete object", key: "b" }] });
    assert.equal(await records.deleteBucket("bucket"), "deleted");
    assert.equal(await records.bucket("bucket"), undefined);
    assert.deepEqual(await records.buckets(), []);
  });

  test('deleting a missing bucket returns "missing"', async (t) => {
    const { records } = await emptyBucket(await open(t));
    assert.equal(await records.deleteBucket("absent"), "missing");
    assert.equal(await records.deleteBucket("bucket"), "deleted");
    assert.equal(await records.deleteBucket("bucket"), "missing");
  });

  test("deleting a bucket deletes its uploads in flight, and a new bucket with the same name is empty", async (t) => {
    const { records, stage } = await emptyBucket(await open(t));
    const blob = await stage("part", "dead");
    const upload = uploadRecord("film", { id: "u1" });
    await records.commit("bucket", {
      mutations: [
        { kind: "put upload", record: upload },
        { kind: "put part", uploadId: "u1", part: partRecord(1, blob.part) },
        putObject("a", inBlob(blob.dead)),
        { kind: "delete object", key: "a" },
      ],
    });
    assert.equal(await records.deleteBucket("bucket"), "deleted");
    assert.equal(await records.createBucket(bucketRecord("bucket")), true);
    assert.equal(await records.upload("bucket", "film", "u1"), undefined);
    assert.deepEqual(await records.uploads("bucket", { prefix: "", after: undefined, limit: 10 }), []);
    assert.deepEqual(await records.dueUploads("bucket", Number.MAX_SAFE_INTEGER, 10), []);
    assert.deepEqual(await records.parts("bucket", "u1"), []);
    assert.deepEqual(await records.garbage("bucket", 0, 10), []);
  });

  test("a put and the deletion of its bucket never both succeed", async (t) => {
    const { records } = await open(t);
    for (let round = 0; round < 10; round++) {
      const name = `round-${round}`;
      await records.createBucket(bucketRecord(name));
      const [put, deletion] = await Promise.allSettled([
        records.commit(name, { mutations: [putObject("a")] }),
        records.deleteBucket(name),
      ]);
      assert(deletion.status === "fulfilled");
      if (put.status === "fulfilled") {
        assert.deepEqual([put.value, deletion.value], ["committed", "not empty"]);
        assert.notEqual(await records.object(name, "a"), undefined);
      } else {
        assert.equal(deletion.value, "deleted");
        assert.equal(put.reason.reason, "NoSuchBucket");
      }
    }
  });

  test("records of one bucket are not visible in another bucket", async (t) => {
    const { records } = await emptyBucket(await open(t));
    await records.createBucket(bucketRecord("other"));
    await records.commit("bucket", {
      mutations: [putObject("a"), { kind: "put upload", record: uploadRecord("a", { id: "u1" }) }],
    });
    assert.equal(await records.object("other", "a"), undefined);
    assert.equal(await records.upload("other", "a", "u1"), undefined);
    const scan = { prefix: "", delimiter: "", limit: 10, metadataBytes: Number.POSITIVE_INFINITY };
    assert.deepEqual(await records.objects("other", scan), { entries: [], next: undefined });
  });

  test("every method on the contents of a missing bucket rejects with NoSuchBucket", async (t) => {
    const { records } = await emptyBucket(await open(t));
    await rejectsEverywhere(records, "never-made");
    await records.deleteBucket("bucket");
    await rejectsEverywhere(records, "bucket");
  });

  test("a path or property name such as ../bucket or __proto__ does not match a bucket", async (t) => {
    const { records } = await emptyBucket(await open(t));
    for (const name of [
      "",
      ".",
      "..",
      "../bucket",
      "./bucket",
      "bucket/",
      "BUCKET",
      "__proto__",
      "constructor",
    ]) {
      assert.equal(await records.bucket(name), undefined, name);
      await assert.rejects(records.object(name, "a"), noSuchBucket, name);
    }
  });
}

async function rejectsEverywhere(records: Records, name: string): Promise<void> {
  const scan = { prefix: "", delimiter: "", limit: 1, metadataBytes: 1 };
  const calls: Record<string, () => Promise<unknown>> = {
    object: () => records.object(name, "a"),
    objectWithBody: () => records.objectWithBody(name, "a"),
    objects: () => records.objects(name, scan),
    upload: () => records.upload(name, "a", "u1"),
    uploads: () => records.uploads(name, { prefix: "", after: undefined, limit: 1 }),
    dueUploads: () => records.dueUploads(name, 0, 1),
    parts: () => records.parts(name, "u1"),
    commit: () => records.commit(name, { mutations: [putObject("a")] }),
    "empty commit": () => records.commit(name, { mutations: [] }),
    buried: () => records.garbage(name, 0, 1),
    forget: () => records.ackGarbage(name, []),
  };
  for (const [method, call] of Object.entries(calls)) {
    await assert.rejects(call, noSuchBucket, method);
  }
  assert.equal(await records.bucket(name), undefined);
}
