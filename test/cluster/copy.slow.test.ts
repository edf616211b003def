// Copies of a whole store to a cluster on PostgreSQL and back contain all data unchanged.
import assert from "node:assert/strict";
import { test } from "node:test";
import { copyAll } from "../../src/copy/copy-store.ts";
import { unfinishedCopy } from "../../src/copy/documents.ts";
import { createMemoryBlobs } from "../../src/memory/blobs.ts";
import { createMemoryRecords } from "../../src/memory/records.ts";
import type { CopyFinding } from "../../src/model/copy.ts";
import { openStore } from "../../src/open.ts";
import { assertSound, contentsOf, fill } from "../support/filled-store.ts";
import type { Ports } from "../support/ports.ts";
import { useCluster } from "./scene.ts";

const cluster = useCluster();

function memory(): Ports {
  return { records: createMemoryRecords(), blobs: createMemoryBlobs() };
}

async function copy(from: Ports, to: Ports, signal?: AbortSignal): Promise<readonly CopyFinding[]> {
  const findings: CopyFinding[] = [];
  const onFinding = async (finding: CopyFinding) => void findings.push(finding);
  await copyAll(from, to, { source: "the source", onFinding, signal });
  return findings;
}

test("a store copied to a cluster, to a second cluster and back is identical everywhere", async (t) => {
  const from = memory();
  await fill(from);
  const expected = await contentsOf(from);
  const [first, second] = [await cluster.scene(t), await cluster.scene(t)];
  const places = [from, await first.open(), await second.open(), memory()];
  for (const [i, to] of places.slice(1).entries()) {
    assert.deepEqual(await copy(places[i]!, to), []);
    assert.deepEqual(await contentsOf(to), expected);
    await assertSound(to);
  }
});

test("an interrupted copy to a cluster resumes in another process, and the cluster cannot be opened until then", async (t) => {
  const from = memory();
  await fill(from);
  const scene = await cluster.scene(t);
  const to = await scene.open();
  const controller = new AbortController();
  let commits = 0;
  const counting: Ports = {
    ...to,
    records: {
      ...to.records,
      commit(bucket, change) {
        if (++commits === 12) controller.abort(new Error("cut off"));
        return to.records.commit(bucket, change);
      },
    },
  };
  await assert.rejects(copy(from, counting, controller.signal), /cut off/);
  await assert.rejects(openStore(scene.location), /a copy of the source that was not finished/);
  const again = await scene.open();
  assert.equal(await unfinishedCopy(again), "the source");
  assert.deepEqual(await copy(from, again), []);
  assert.deepEqual(await contentsOf(again), await contentsOf(from));
  await assertSound(again);
  await (await openStore(scene.location)).close();
});
