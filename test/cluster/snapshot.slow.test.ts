// A snapshot of a cluster shows one instant while other processes write, delete and collect garbage.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openClusterSnapshot } from "../../src/cluster/snapshot.ts";
import { copyAll } from "../../src/copy/copy-store.ts";
import { createEngine } from "../../src/engine/create.ts";
import { createMemoryBlobs } from "../../src/memory/blobs.ts";
import { createMemoryRecords } from "../../src/memory/records.ts";
import { contentsOf, fill } from "../support/filled-store.ts";
import type { Ports } from "../support/ports.ts";
import { until, useCluster } from "./scene.ts";

const cluster = useCluster();

test("a snapshot is copied as it was, though everything is deleted and swept meanwhile", async (t) => {
  const scene = await cluster.scene(t);
  const live = await scene.open({ heartbeatMilliseconds: 50, lateWriteSeconds: 0 });
  await fill(live);
  const engine = createEngine(live);
  await engine.createBucket("later-deleted");
  const body = Buffer.alloc(50_000, "a body in the blob backend");
  for (const key of ["one", "two", "three"]) await engine.put("later-deleted", key, body);
  const expected = await contentsOf(live);
  const snapshot = await openClusterSnapshot(scene.location, { heartbeatMilliseconds: 50 });
  try {
    await engine.delete("later-deleted", ["one", "two"]);
    await engine.put("later-deleted", "three", Buffer.from("replaced"));
    await engine.put("later-deleted", "four", body);
    // The second sweep removes what the first one saw, unless a read is older than that.
    await engine.sweep();
    const [[seen] = []] = await scene.ask("SELECT store.clock()");
    await until(async () => {
      const [[beat] = []] = await scene.ask("SELECT min(beat) FROM store.processes");
      return Number(beat) > Number(seen);
    }, "every process has sent a heartbeat");
    await engine.sweep();
    const copy: Ports = { records: createMemoryRecords(), blobs: createMemoryBlobs() };
    const report = await copyAll(snapshot, copy, { source: "the cluster" });
    assert.deepEqual([report.damages, report.differences], [0, 0]);
    assert.deepEqual(await contentsOf(copy), expected);
    snapshot.assertHeld();
    await assert.rejects(snapshot.records.commit("later-deleted", { mutations: [] }), /cannot be changed/);
  } finally {
    await snapshot.close();
  }
});

test("a second copy of a snapshot to the same target brings it up to date", async (t) => {
  const scene = await cluster.scene(t);
  const live = await scene.open();
  await fill(live);
  const engine = createEngine(live);
  const copy: Ports = { records: createMemoryRecords(), blobs: createMemoryBlobs() };
  const refresh = async () => {
    const snapshot = await openClusterSnapshot(scene.location);
    try {
      return await copyAll(snapshot, copy, { source: "the cluster", existing: "update" });
    } finally {
      await snapshot.close();
    }
  };
  await refresh();
  await engine.createBucket("new");
  await engine.put("new", "key", Buffer.from("bytes"));
  const { copiedObjects, differences } = await refresh();
  assert.deepEqual({ copiedObjects, differences }, { copiedObjects: 1, differences: 0 });
  assert.deepEqual(await contentsOf(copy), await contentsOf(live));
  await assert.rejects(copyAll(live, copy, { source: "the cluster" }), /already holds a copy/);
  await assert.rejects(
    copyAll(live, copy, { source: "another", existing: "update" }),
    /already holds a copy/,
  );
});
