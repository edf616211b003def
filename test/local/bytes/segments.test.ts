// Medium-sized bodies share segments. Compaction reclaims the space of removed bodies and moves
// live bodies while they are read and written, without losing any.
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createEngine } from "../../../src/engine/create.ts";
import type { Engine, GetOutcome } from "../../../src/engine/engine.ts";
import type { ObjectWithBody } from "../../../src/engine/records.ts";
import { defaultSizes, type Sizes } from "../../../src/local/blobs.ts";
import { bucketPaths, dataLayout, isInSegment } from "../../../src/local/disk/layout.ts";
import { openLocal } from "../../../src/local/open.ts";
import { backUpStore, restoreStore } from "../../../src/maintenance.ts";
import type { ObjectRecord } from "../../../src/model/object.ts";
import { bytesOf, KiB, MiB } from "../../support/bodies.ts";
import { assertBytes, collect, sampleBytes } from "../../support/bytes.ts";
import { assertNothingLeftOver, blobFiles, bucketIds } from "../../support/disk/on-disk.ts";
import { mockTimeouts } from "../../support/mock-timeouts.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const bucket = "shared";
/** Segments are small, so that a few bodies fill several segments. */
const sizes = { ...defaultSizes, segments: { bodyBytes: 256 * KiB, fileBytes: 512 * KiB } };

async function openAt(directory: string, used: Sizes = sizes) {
  const ports = await openLocal(directory, used);
  return { ...ports, engine: createEngine(ports) };
}

async function opened(t: TestContext) {
  const directory = await temporaryDirectory(t);
  const store = await openAt(directory);
  await store.engine.createBucket(bucket);
  return { directory, ...store };
}

function segmentBytes(directory: string): number {
  const { segments } = bucketPaths(dataLayout(directory), bucketIds(directory).get(bucket)!);
  return readdirSync(segments).reduce((sum, name) => sum + statSync(join(segments, name)).size, 0);
}

async function bodyOf(outcome: GetOutcome): Promise<Uint8Array> {
  assert.ok(outcome.outcome === "found");
  return collect(outcome.bytes.chunks());
}

async function assertHolds(engine: Engine, key: string, bytes: Uint8Array): Promise<void> {
  assertBytes(await bodyOf(await engine.get(bucket, key)), bytes, key);
}

async function closeClean(directory: string, engine: Engine): Promise<void> {
  assert.deepEqual((await engine.verify()).damages, []);
  await engine.sweep();
  await engine.close();
  assertNothingLeftOver(directory);
}

const size = 20 * KiB;
const many = Array.from({ length: 60 }, (_, i) => `key ${i}`);
const contentOf = (key: string, name = "first") => bytesOf(key, { name, size });

async function fill(engine: Engine): Promise<void> {
  await Promise.all(many.map((key) => engine.put(bucket, key, contentOf(key))));
}

test("bodies put concurrently share a segment file and are readable after the store is reopened", async (t) => {
  const directory = await temporaryDirectory(t);
  const first = await openAt(directory, defaultSizes);
  await first.engine.createBucket(bucket);
  await fill(first.engine);
  assert.equal(new Set(blobFiles(directory).map(({ path }) => path)).size, 1);
  for (const key of many) await assertHolds(first.engine, key, contentOf(key));
  await first.engine.close();
  const { engine } = await openAt(directory, defaultSizes);
  for (const key of many) await assertHolds(engine, key, contentOf(key));
  const range = await engine.get(bucket, "key 7", { range: { offset: 1000, length: 5000 } });
  assertBytes(await bodyOf(range), contentOf("key 7").subarray(1000, 6000), "a range");
  await closeClean(directory, engine);
});

test("only medium-sized bodies of known length are stored in segments, also encrypted ones", async (t) => {
  const { directory, engine, records } = await opened(t);
  const homeOf = async (key: string) => {
    const body = (await records.objectWithBody(bucket, key))!.body;
    return body.storage === "blob" && isInSegment(body.blob.id) ? "segment" : body.storage;
  };
  await engine.put(bucket, "small", sampleBytes(4 * KiB));
  await engine.put(bucket, "middle", sampleBytes(4 * KiB + 1));
  await engine.put(bucket, "most", sampleBytes(256 * KiB));
  await engine.put(bucket, "large", sampleBytes(256 * KiB + 1));
  await engine.put(bucket, "sealed", sampleBytes(20 * KiB), { customerKey: new Uint8Array(32) });
  const homes = ["small", "middle", "most", "large", "sealed"].map(homeOf);
  assert.deepEqual(await Promise.all(homes), ["inline", "segment", "segment", "blob", "segment"]);
  await assertHolds(engine, "most", sampleBytes(256 * KiB));
  await closeClean(directory, engine);
});

test("the live bodies of a sparse segment are moved, and its file is removed", async (t) => {
  const { directory, engine } = await opened(t);
  await fill(engine);
  const before = new Set(blobFiles(directory).map(({ id }) => id));
  const kept = many.filter((_, i) => i % 4 === 0);
  await engine.delete(
    bucket,
    many.filter((key) => !kept.includes(key)),
  );
  await engine.sweep();
  const live = kept.length * (size + 4);
  assert.ok(
    segmentBytes(directory) <= 2 * live + 2 * sizes.segments.fileBytes,
    "most of the space is given back",
  );
  assert.ok(
    blobFiles(directory).some(({ id }) => !before.has(id)),
    "bodies were moved",
  );
  for (const key of kept) await assertHolds(engine, key, contentOf(key));
  await engine.delete(bucket, kept);
  await engine.sweep();
  assert.deepEqual(blobFiles(directory), [], "the last file is removed with the last body");
  await closeClean(directory, engine);
});

test("a read in progress completes while bodies are moved and segments removed", async (t) => {
  const { directory, engine, records, blobs } = await opened(t);
  await fill(engine);
  const kept = many.filter((_, i) => i % 4 === 0);
  const begun = await Promise.all(many.map((key) => engine.get(bucket, key)));
  const seen = await Promise.all(kept.map((key) => records.objectWithBody(bucket, key)));
  await engine.delete(
    bucket,
    many.filter((key) => !kept.includes(key)),
  );
  await engine.sweep();
  for (const [i, key] of many.entries()) assertBytes(await bodyOf(begun[i]!), contentOf(key), key);
  let moved = 0;
  for (const [i, key] of kept.entries()) {
    const now = await records.objectWithBody(bucket, key);
    const before = seen[i]!;
    assert.deepEqual(now!.record, before.record, "the record is the same");
    assert.ok(before.body.storage === "blob" && now!.body.storage === "blob");
    if (before.body.blob.id === now!.body.blob.id) continue;
    moved++;
    // A caller with the old record gets no reader, so it must read the record again.
    const reader = await blobs.open(bucket, [before.body.blob], async () => true);
    await reader?.close();
    assert.equal(reader, undefined);
  }
  assert.ok(moved > 0, "some bodies were moved");
  await closeClean(directory, engine);
});

test("a body that was opened a minute ago and not read is read from its new location after a move", async (t) => {
  const { directory, engine } = await opened(t);
  await fill(engine);
  const kept = many.filter((_, i) => i % 4 === 0);
  const timeouts = mockTimeouts(t);
  const begun = await Promise.all(kept.map((key) => engine.get(bucket, key)));
  timeouts.tick(61_000);
  timeouts.reset();
  await engine.delete(
    bucket,
    many.filter((key) => !kept.includes(key)),
  );
  await engine.sweep();
  for (const [i, key] of kept.entries()) assertBytes(await bodyOf(begun[i]!), contentOf(key), key);
  await closeClean(directory, engine);
});

test("a metadata update that races with the move of its body does not restore the old location", async (t) => {
  const { directory, engine, records } = await opened(t);
  await fill(engine);
  const kept = many.filter((_, i) => i % 4 === 0);
  await engine.delete(
    bucket,
    many.filter((key) => !kept.includes(key)),
  );
  const seen = await Promise.all(kept.map(async (key) => (await records.objectWithBody(bucket, key))!));
  const restate = async ({ record, body }: ObjectWithBody) => {
    const { key, version } = record;
    const restated: ObjectRecord = { ...record, storageClass: "InfrequentAccess" };
    return records.commit(bucket, {
      checks: [{ kind: "object", key, version }],
      mutations: [{ kind: "restate object", record: restated, body }],
    });
  };
  // Some updates run during the moves. Five run afterwards, with the old location of the body.
  await Promise.all([engine.sweep(), ...seen.slice(5).map(restate)]);
  for (const one of seen.slice(0, 5)) assert.equal(await restate(one), "committed");
  for (const key of kept) {
    assert.equal((await engine.head(bucket, key))?.storageClass, "InfrequentAccess", key);
    await assertHolds(engine, key, contentOf(key));
  }
  await closeClean(directory, engine);
});

test("overwrites and deletes take precedence over concurrent moves, and segments stay within their space limit", async (t) => {
  const { directory, engine } = await opened(t);
  const expected = new Map<string, string | undefined>();
  let most = 0;
  let next = 0;
  const turn = async (key: string) => {
    for (let i = 0; i < 15; i++) {
      const name = String(next++);
      if (next % 7 === 0) {
        await engine.delete(bucket, [key]);
        expected.set(key, undefined);
      } else {
        await engine.put(bucket, key, contentOf(key, name));
        expected.set(key, name);
      }
      most = Math.max(most, segmentBytes(directory));
    }
  };
  await Promise.all(many.map(turn));
  await engine.sweep();
  for (const [key, name] of expected) {
    if (name === undefined) assert.equal(await engine.head(bucket, key), undefined, key);
    else await assertHolds(engine, key, contentOf(key, name));
  }
  const live = [...expected.values()].filter((name) => name !== undefined).length * (size + 4);
  const left = segmentBytes(directory);
  // The limit also allows for the segment being written and the previous segment.
  assert.ok(left <= 2 * live + 2 * sizes.segments.fileBytes, `${left} bytes of files for ${live} of bodies`);
  t.diagnostic(`${live} bytes live, at most ${most} in files, ${left} in the end`);
  await closeClean(directory, engine);
});

test("a backup contains bodies that are moved meanwhile, and the restored store can be compacted", async (t) => {
  const { directory, engine } = await opened(t);
  await fill(engine);
  const places = await temporaryDirectory(t);
  const [backup, restored] = [join(places, "backup"), join(places, "restored")];
  const kept = many.filter((_, i) => i % 4 === 0);
  let swept: Promise<unknown> | undefined;
  const progress = {
    expect() {},
    advance(bytes: number) {
      if (bytes > 0) swept ??= engine.delete(bucket, many.slice(1)).then(() => engine.sweep());
    },
  };
  await backUpStore(directory, backup, { progress });
  await swept;
  await closeClean(directory, engine);
  await restoreStore(backup, restored);
  const copy = await openAt(restored);
  assert.deepEqual((await copy.engine.verify()).damages, []);
  for (const key of many) await assertHolds(copy.engine, key, contentOf(key));
  await copy.engine.delete(
    bucket,
    many.filter((key) => !kept.includes(key)),
  );
  await copy.engine.sweep();
  for (const key of kept) await assertHolds(copy.engine, key, contentOf(key));
  assert.ok(segmentBytes(restored) < MiB);
  await closeClean(restored, copy.engine);
});
