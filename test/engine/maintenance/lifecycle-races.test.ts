// A run of lifecycle rules against changes of locks and tags that arrive between its read and its commit.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createEngine } from "../../../src/engine/create.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import type { Records } from "../../../src/engine/records.ts";
import { createMemoryBlobs } from "../../../src/memory/blobs.ts";
import { createMemoryRecords } from "../../../src/memory/records.ts";

const bucket = "bucket";
const day = 24 * 3600 * 1000;

/** Opens an engine whose lifecycle rules call `meanwhile` before their first commit to an object. */
function scene(meanwhile: (engine: Engine, now: number) => Promise<unknown>) {
  const clock = { time: Date.UTC(2024, 0, 1) };
  const now = () => clock.time;
  const records = createMemoryRecords();
  const other = createEngine({ records, blobs: createMemoryBlobs(), now });
  let isDone = false;
  const commit: Records["commit"] = async (name, change) => {
    if (
      !isDone &&
      change.mutations.some(({ kind }) => kind === "restate object" || kind === "delete version")
    ) {
      isDone = true;
      await meanwhile(other, clock.time);
    }
    return records.commit(name, change);
  };
  const engine = createEngine({ records: { ...records, commit }, blobs: createMemoryBlobs(), now });
  return { engine, clock, other, isDone: () => isDone };
}

const changes = {
  "a legal hold": {
    make: (engine: Engine) => engine.setLegalHold(bucket, "key", true, { version: undefined }),
    isKept: (found: Awaited<ReturnType<Engine["head"]>>) => found?.lock?.legalHold === true,
  },
  "compliance retention": {
    make: (engine: Engine, now: number) =>
      engine.setRetention(bucket, "key", { mode: "compliance", until: now + 1000 * day }),
    isKept: (found: Awaited<ReturnType<Engine["head"]>>) => found?.lock?.retention?.mode === "compliance",
  },
  tags: {
    make: (engine: Engine) => engine.setTags(bucket, "key", new Map([["keep", "yes"]])),
    isKept: (found: Awaited<ReturnType<Engine["head"]>>) => found?.tags?.get("keep") === "yes",
  },
} as const;

for (const [name, { make, isKept }] of Object.entries(changes)) {
  test(`a transition of an object does not undo ${name} that came meanwhile`, async () => {
    const { engine, clock, isDone } = scene(make);
    await engine.createBucket(bucket);
    const lifecycle = [{ id: "r", isEnabled: true, prefix: "", transition: { days: 1 } }];
    await engine.changeSettings(bucket, { versioning: "on", objectLock: {}, lifecycle });
    await engine.put(bucket, "key", Buffer.from("text"));
    clock.time += 3 * day;
    await engine.sweep();
    assert.ok(isDone());
    assert.ok(isKept(await engine.head(bucket, "key")));
    clock.time += day;
    await engine.sweep();
    const found = await engine.head(bucket, "key");
    assert.ok(isKept(found));
    assert.equal(found?.storageClass, "InfrequentAccess", "a later run moves the object");
  });
}
