// Garbage collection after dead or suspended processes and failed writes, and during reads on other
// machines. No blob in use is removed, and no garbage stays.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { createEngine } from "../../../src/engine/create.ts";
import { assertBytes, collect, inChunks, sampleBytes, toArray } from "../../support/bytes.ts";
import { inBlob, putObject } from "../../support/samples.ts";
import { type ClusterScene, until, useCluster } from "../scene.ts";

const cluster = useCluster();
const bucket = "bucket";
const bytes = sampleBytes(100_000);

async function withBucket(t: TestContext): Promise<ClusterScene> {
  const scene = await cluster.scene(t);
  const { records } = await scene.open();
  await records.createBucket({ name: bucket, created: 0, storageClass: "Standard", account: "default" });
  return scene;
}

test("unfinished writes of a dead process are removed, and its late commits fail", async (t) => {
  const scene = await withBucket(t);
  // This process sends only its first heartbeat.
  const asleep = await scene.open({ heartbeatMilliseconds: 3_600_000 });
  const staged = await asleep.blobs.stage(bucket, inChunks(bytes, 9999));
  const kept = await asleep.blobs.stage(bucket, inChunks(bytes, 9999));
  await asleep.records.commit(bucket, { mutations: [putObject("kept", inBlob(kept.id))] });
  const other = await scene.open({
    processTimeoutSeconds: 0.2,
    lateWriteSeconds: 0,
    heartbeatMilliseconds: 20,
  });
  await until(async () => {
    await other.blobs.recover();
    return (await toArray(other.blobs.all(bucket))).length === 1;
  }, "only the named blob is left");
  assert.deepEqual(await toArray(other.blobs.all(bucket)), [kept.id]);
  const late = asleep.records.commit(bucket, { mutations: [putObject("late", inBlob(staged.id))] });
  await assert.rejects(late, { reason: "ServiceUnavailable", message: /sent no heartbeat/ });
  assert.equal(await other.records.object(bucket, "late"), undefined);
  // The process was only suspended: it continues under a new id.
  const again = await asleep.blobs.stage(bucket, inChunks(bytes, 9999));
  const outcome = await asleep.records.commit(bucket, { mutations: [putObject("again", inBlob(again.id))] });
  assert.equal(outcome, "committed");
  assert.equal((await toArray(other.blobs.all(bucket))).length, 2);
});

test("bytes that arrive after their write was abandoned are removed", async (t) => {
  const scene = await withBucket(t);
  const { blobs } = await scene.open({ lateWriteSeconds: 0.3 });
  const staged = await blobs.stage(bucket, inChunks(bytes, 9999));
  await staged.discard();
  assert.deepEqual(await toArray(blobs.all(bucket)), []);
  const [id, name] = staged.id.split(".") as [string, string];
  const path = join(scene.directory, id, name.slice(0, 2), name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "what a slow network still had");
  await until(async () => {
    await blobs.recover();
    return !existsSync(path);
  }, "the late bytes are removed");
  assert.deepEqual(await scene.ask("SELECT name FROM store.remains"), []);
});

test("the garbage of a retried write is removed twice, in case the first request arrives late", async (t) => {
  const scene = await withBucket(t);
  const ports = await scene.open({ lateWriteSeconds: 5 });
  const engine = createEngine(ports);
  t.after(() => engine.close());
  const staged = await ports.blobs.stage(bucket, inChunks(bytes, 9999));
  const doubtful = `${staged.id}.doubtful`;
  await ports.records.commit(bucket, { mutations: [putObject("a", inBlob(doubtful))] });
  staged.keep();
  await engine.delete(bucket, ["a"]);
  const remains = async () => (await scene.ask("SELECT 1 FROM store.remains")).length;
  await until(async () => {
    await engine.sweep();
    return (await remains()) === 1;
  }, "the body is removed, and late bytes may still arrive");
  assert.deepEqual(await toArray(ports.blobs.all(bucket)), []);
  await until(async () => {
    await engine.sweep();
    return (await remains()) === 0;
  }, "late bytes can no longer arrive");
});

test("a replaced body that one machine reads is not removed by another machine's sweep", async (t) => {
  const scene = await withBucket(t);
  const times = { heartbeatMilliseconds: 20 };
  const [here, there] = [await scene.open(times), await scene.open(times)];
  const [reading, writing] = [createEngine(here), createEngine(there)];
  t.after(() => Promise.all([reading.close(), writing.close()]));
  await writing.put(bucket, "a", bytes);
  const found = await reading.get(bucket, "a");
  assert(found.outcome === "found");
  await writing.put(bucket, "a", Buffer.from("another"));
  const beats = "SELECT sum(beat) FROM store.processes";
  const before = Number((await scene.ask(beats))[0]![0]);
  await until(async () => Number((await scene.ask(beats))[0]![0]) > before + 0.2, "heartbeats are sent");
  await writing.sweep();
  assert.equal((await toArray(there.blobs.all(bucket))).length, 1);
  assertBytes(await collect(found.bytes.chunks()), bytes);
  await until(async () => {
    await writing.sweep();
    return (await toArray(there.blobs.all(bucket))).length === 0;
  }, "the blob is removed when no reader is left");
});

test("a body being read is not removed if the clock of a new primary is behind", async (t) => {
  const scene = await withBucket(t);
  const [here, there] = [await scene.open({ heartbeatMilliseconds: 3_600_000 }), await scene.open()];
  const [reading, writing] = [createEngine(here), createEngine(there)];
  t.after(() => Promise.all([reading.close(), writing.close()]));
  await writing.put(bucket, "a", bytes);
  const found = await reading.get(bucket, "a");
  assert(found.outcome === "found");
  // Simulates heartbeats that were sent to a server whose clock was 15 minutes ahead.
  await scene.ask("UPDATE store.processes SET beat = beat + 900");
  await writing.put(bucket, "a", Buffer.from("another"));
  for (let i = 0; i < 3; i++) await writing.sweep();
  assert.equal((await toArray(there.blobs.all(bucket))).length, 1);
  assertBytes(await collect(found.bytes.chunks()), bytes);
  await until(async () => {
    await reading.sweep();
    await writing.sweep();
    return (await toArray(there.blobs.all(bucket))).length === 0;
  }, "the blob is removed when no reader is left");
});

test("garbage of a deleted bucket is removed by the next collection of any process", async (t) => {
  const scene = await withBucket(t);
  const { records, blobs } = await scene.open();
  const staged = await blobs.stage(bucket, inChunks(bytes, 9999));
  await records.commit(bucket, { mutations: [putObject("a", inBlob(staged.id))] });
  await records.commit(bucket, { mutations: [{ kind: "delete object", key: "a" }] });
  assert.equal(await records.deleteBucket(bucket), "deleted");
  await until(async () => {
    await blobs.recover();
    return (await scene.ask("SELECT entry FROM store.dead")).length === 0;
  }, "the garbage is removed");
  assert.deepEqual(await scene.ask("SELECT name FROM store.blobs"), []);
  assert.deepEqual(await scene.ask("SELECT bucket FROM store.gone"), []);
  assert.equal(existsSync(join(scene.directory, staged.id.split(".")[0]!)), false);
});

test("a failed write leaves nothing in the blob journal or in the backend", async (t) => {
  const scene = await withBucket(t);
  const { blobs } = await scene.open({ lateWriteSeconds: 0 });
  async function* source() {
    yield* inChunks(bytes, 50_000);
    throw new Error("The sender broke off");
  }
  await assert.rejects(blobs.stage(bucket, source()), /broke off/);
  await blobs.recover();
  for (const table of ["intents", "remains", "blobs", "dead"]) {
    assert.deepEqual(await scene.ask(`SELECT 1 FROM store.${table}`), [], table);
  }
  assert.deepEqual(await toArray(blobs.all(bucket)), []);
});

test("an integrity check reports blobs that differ between the records and the blob table", async (t) => {
  const scene = await withBucket(t);
  const ports = await scene.open();
  const engine = createEngine(ports);
  t.after(() => engine.close());
  for (const key of ["a", "b", "c"]) await engine.put(bucket, key, bytes);
  const damages = async () => (await engine.verify()).damages.map(({ key, what }) => `${key}: ${what}`);
  assert.deepEqual(await damages(), []);
  await scene.ask(
    "DELETE FROM store.blobs WHERE name = (SELECT split_part(blob, '.', 2) FROM store.objects WHERE key = 'a')",
  );
  await scene.ask("DELETE FROM store.objects WHERE key = 'b'");
  const found = (await damages()).join("\n");
  assert.match(found, /^a: Blob .* of a record is not in the blob table/m);
  assert.match(found, /is in the blob table, but no record names it/);
});
