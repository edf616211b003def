// Copies of a store with versioned buckets: all versions, delete markers, tags and locks are copied in
// order, later runs follow the source, and a locked version of the target is not removed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createCopyContext } from "../../src/copy/context.ts";
import { copyBucket } from "../../src/copy/copy-bucket.ts";
import { copyAll } from "../../src/copy/copy-store.ts";
import { createEngine } from "../../src/engine/create.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { createMemoryBlobs } from "../../src/memory/blobs.ts";
import { createMemoryRecords } from "../../src/memory/records.ts";
import { CopyError, type CopyFinding } from "../../src/model/copy.ts";
import { collect, sampleBytes } from "../support/bytes.ts";
import type { Ports } from "../support/ports.ts";

const bucket = "photos";
const day = 24 * 3600 * 1000;

interface Store extends Ports {
  readonly engine: Engine;
}

function store(): Store {
  const ports = { records: createMemoryRecords(), blobs: createMemoryBlobs() };
  return { ...ports, engine: createEngine(ports) };
}

async function copy(from: Store, to: Store): Promise<readonly CopyFinding[]> {
  const findings: CopyFinding[] = [];
  await copyAll(from, to, {
    source: "the source",
    onFinding: async (finding) => void findings.push(finding),
  });
  return findings;
}

/** Copies the bucket without completing the copy, as a run that is interrupted later does. */
async function copyUnfinished(from: Store, to: Store): Promise<void> {
  const context = createCopyContext(from, to, { work: {}, now: Date.now, concurrency: 4 });
  await copyBucket(context, (await from.records.bucket(bucket))!);
}

async function versionsOf({ engine }: Store): Promise<readonly unknown[]> {
  return (await engine.listVersions(bucket)).versions;
}

async function filled(): Promise<Store> {
  const filledStore = store();
  const { engine } = filledStore;
  await engine.createBucket(bucket);
  await engine.put(bucket, "a", Buffer.from("null version"));
  await engine.changeSettings(bucket, { versioning: "on", objectLock: {} });
  for (const size of [300_000, 10, 0]) {
    await engine.put(bucket, "a", sampleBytes(size), { tags: new Map([["size", String(size)]]) });
  }
  const upload = await engine.createUpload(bucket, "b");
  const part = await engine.uploadPart(bucket, upload, 1, sampleBytes(70_000));
  await engine.completeUpload(bucket, upload, [part]);
  await engine.delete(bucket, ["a", "b", "c"]);
  await engine.put(bucket, "b", Buffer.from("last"));
  return filledStore;
}

test("a copy has every version, delete marker and tag of the source, in the same order", async () => {
  const [from, to] = [await filled(), store()];
  assert.deepEqual(await copy(from, to), []);
  assert.deepEqual(await versionsOf(to), await versionsOf(from));
  assert.equal((await versionsOf(to)).length, 9);
  const got = await to.engine.get(bucket, "a", { version: "null" });
  assert.ok(got.outcome === "found");
  assert.equal((await collect(got.bytes.chunks())).toString(), "null version");
  assert.deepEqual((await to.engine.verify()).damages, []);
});

test("a resumed copy follows removed, added and restated versions of the source", async () => {
  const [from, to] = [await filled(), store()];
  await copyUnfinished(from, to);
  const { versions } = await from.engine.listVersions(bucket, { prefix: "a" });
  const targets = [versions[0]!, versions[2]!].map(({ version: { key, version } }) => ({ key, version }));
  await from.engine.deleteVersions(bucket, targets);
  await from.engine.setTags(bucket, "a", new Map([["new", "tag"]]));
  await from.engine.put(bucket, "a", Buffer.from("added"));
  await from.engine.put(bucket, "d", Buffer.from("added"));
  await copyUnfinished(from, to);
  assert.deepEqual(await versionsOf(to), await versionsOf(from));
  await to.engine.sweep();
  assert.deepEqual((await to.engine.verify()).damages, []);
});

test("a version of the target that the source does not have stays if it is locked, and the copy fails", async () => {
  const [from, to] = [await filled(), store()];
  const retention = { mode: "compliance", until: Date.now() + day } as const;
  const locked = await from.engine.put(bucket, "locked", Buffer.from("x"), { lock: { retention } });
  assert.ok(locked.outcome === "stored");
  await copyUnfinished(from, to);
  const { version } = locked.record;
  // The source loses the version by means that the engine does not have.
  await from.records.commit(bucket, {
    mutations: [{ kind: "delete version", key: "locked", version }],
    protection: (await from.engine.bucket(bucket))!.settings,
  });
  await assert.rejects(copyUnfinished(from, to), (error) => {
    assert.ok(error instanceof CopyError);
    assert.match(error.message, /photos\/locked/);
    return true;
  });
  assert.notEqual(await to.records.version(bucket, "locked", version), undefined);
});
