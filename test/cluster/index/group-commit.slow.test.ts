// Puts that share a commit: each has its own outcome, even if the response is lost.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Change } from "../../../src/engine/records.ts";
import { compareKeys } from "../../../src/model/key.ts";
import { startFaultProxy } from "../../support/fault-proxy.ts";
import { inline, plain, putObject, randomHex } from "../../support/samples.ts";
import { type ClusterScene, commitWaits, lingerBeforeTheEnd, through, useCluster } from "../scene.ts";

const cluster = useCluster();
const bucket = "bucket";
const bucketRecord = { name: bucket, created: 0, storageClass: "Standard", account: "default" } as const;

function creating(key: string, version = randomHex()): Change {
  return {
    checks: [{ kind: "object", key, version: undefined }],
    mutations: [putObject(key, inline(key), version)],
  };
}

/** Returns the number of commits so far, from the sessions table. */
async function commitsOf(scene: ClusterScene): Promise<number> {
  const [[sum] = []] = await scene.ask("SELECT coalesce(sum(last), 0) FROM store.sessions");
  return Number(sum);
}

test("concurrent puts share a commit, and each object has its own bytes", async (t) => {
  const scene = await cluster.scene(t);
  const { records } = await scene.open();
  await records.createBucket(bucketRecord);
  const before = await commitsOf(scene);
  const keys = Array.from({ length: 200 }, (_, i) => `${i % 2 === 0 ? "é😀" : "\u{ffee}"}${i}`);
  const outcomes = await Promise.all(keys.map((key) => records.commit(bucket, creating(key))));
  assert.ok(outcomes.every((outcome) => outcome === "committed"));
  const commits = (await commitsOf(scene)) - before;
  assert.ok(commits < keys.length / 4, `${commits} commits for ${keys.length} puts`);
  const found: string[] = [];
  for await (const { key, found: object } of records.inspect(bucket)) {
    assert.ok("body" in object);
    assert.deepEqual(plain(object.body), plain(inline(key)));
    found.push(key);
  }
  assert.deepEqual(found, [...keys].sort(compareKeys));
});

test("a put whose version check fails returns a conflict, and the other puts of its commit succeed", async (t) => {
  const scene = await cluster.scene(t);
  const { records } = await scene.open();
  await records.createBucket(bucketRecord);
  await records.commit(bucket, creating("taken"));
  const { version } = (await records.object(bucket, "taken"))!;
  const keys = Array.from({ length: 50 }, (_, i) => (i % 10 === 7 ? "taken" : `key ${i}`));
  const outcomes = await Promise.all(keys.map((key) => records.commit(bucket, creating(key))));
  assert.deepEqual(
    outcomes,
    keys.map((key) => (key === "taken" ? "conflict" : "committed")),
  );
  assert.equal((await records.object(bucket, "taken"))!.version, version);
  assert.equal((await records.totals(bucket)).objects, 46);
});

test("exactly one of many concurrent create-only puts of a key succeeds", async (t) => {
  const scene = await cluster.scene(t);
  const openings = [await scene.open(), await scene.open()];
  await openings[0]!.records.createBucket(bucketRecord);
  const outcomes = await Promise.all(
    Array.from({ length: 60 }, (_, i) => openings[i % 2]!.records.commit(bucket, creating("one"))),
  );
  assert.equal(outcomes.filter((outcome) => outcome === "committed").length, 1);
});

test("a put whose blob was removed is refused, and the other puts of its commit succeed", async (t) => {
  const scene = await cluster.scene(t);
  const { records } = await scene.open();
  await records.createBucket(bucketRecord);
  const [[id] = []] = await scene.ask("SELECT id FROM store.buckets");
  const blob = { storage: "blob", blob: { id: `${String(id)}.${randomHex()}.5.0`, size: 5 } } as const;
  const commits = [
    ...Array.from({ length: 10 }, (_, i) => records.commit(bucket, creating(`before ${i}`))),
    records.commit(bucket, { mutations: [putObject("lost", blob)] }),
    ...Array.from({ length: 10 }, (_, i) => records.commit(bucket, creating(`behind ${i}`))),
  ];
  const settled = await Promise.allSettled(commits);
  const refused = settled.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
  assert.equal(refused.length, 1);
  assert.match(refused[0]!, /sent no heartbeat/);
  assert.equal((await records.totals(bucket)).objects, 20);
});

test("every put of a group fails with NoSuchBucket when the bucket was deleted", async (t) => {
  const scene = await cluster.scene(t);
  const { records } = await scene.open();
  await records.createBucket(bucketRecord);
  await records.deleteBucket(bucket);
  const settled = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => records.commit(bucket, creating(String(i)))),
  );
  for (const one of settled) {
    assert.equal(one.status, "rejected");
    assert.equal((one.reason as { reason?: string }).reason, "NoSuchBucket");
  }
});

test("puts of a shared commit whose response was lost are acknowledged and applied only once", async (t) => {
  const scene = await cluster.scene(t);
  const proxy = await startFaultProxy(t, cluster.postgres().port);
  const { records } = await scene.open({}, { records: through(scene.location.records, proxy.port) });
  await records.createBucket(bucketRecord);
  const letGo = await lingerBeforeTheEnd(scene);
  const commits = Array.from({ length: 40 }, (_, i) => records.commit(bucket, creating(`key ${i}`)));
  await commitWaits(scene);
  proxy.planAlways(undefined);
  await letGo();
  // If the commits had been applied twice, the second attempt would return a conflict.
  assert.ok((await Promise.all(commits)).every((outcome) => outcome === "committed"));
  assert.equal((await records.totals(bucket)).objects, 40);
});
