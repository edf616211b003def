// Lifecycle rules and locks while the clock of the server is set forward and back.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createEngine } from "../../../src/engine/create.ts";
import { claimLifecycleRun } from "../../../src/engine/maintenance/lifecycle.ts";
import { createMemoryBlobs } from "../../../src/memory/blobs.ts";
import { createMemoryRecords } from "../../../src/memory/records.ts";

const bucket = "bucket";
const hour = 3600 * 1000;
const day = 24 * hour;
const year = 365 * day;

function scene() {
  const clock = { time: Date.UTC(2024, 0, 1) };
  const now = () => clock.time;
  const records = createMemoryRecords();
  const engine = createEngine({ records, blobs: createMemoryBlobs(), now });
  return { clock, engine, claim: () => claimLifecycleRun({ records, now }) };
}

test("lifecycle rules run again after the clock was set forward and back", async () => {
  const { clock, claim } = scene();
  assert.equal(await claim(), true);
  assert.equal(await claim(), false);
  clock.time += hour;
  assert.equal(await claim(), true);
  clock.time += year;
  assert.equal(await claim(), true, "a year later");
  clock.time -= year;
  assert.equal(await claim(), true, "set back");
  clock.time += hour - 1;
  assert.equal(await claim(), false, "not twice in an hour");
  clock.time += 1;
  assert.equal(await claim(), true);
});

test("rules delete no version that a lock keeps at any time the clock shows", async () => {
  const { clock, engine } = scene();
  const start = clock.time;
  await engine.createBucket(bucket);
  await engine.changeSettings(bucket, {
    versioning: "on",
    objectLock: {},
    lifecycle: [{ id: "r", isEnabled: true, prefix: "", expire: { days: 1 }, expireNoncurrent: { days: 1 } }],
  });
  const until = start + 60 * day;
  const locks = {
    compliance: { retention: { mode: "compliance", until } },
    governance: { retention: { mode: "governance", until } },
    hold: { legalHold: true },
    plain: undefined,
  } as const;
  const versions: { key: string; version: string }[] = [];
  for (const [key, lock] of Object.entries(locks)) {
    const outcome = await engine.put(bucket, key, Buffer.from(key), { lock });
    assert.equal(outcome.outcome, "stored");
    versions.push({ key, version: outcome.record.version });
  }
  const kept = async () => {
    const page = await engine.listVersions(bucket);
    const found = new Set(page.versions.map(({ version }) => version.version));
    return versions.filter(({ version }) => found.has(version)).map(({ key }) => key);
  };
  for (const time of [-1, -50 * 365, 29, -1, 59].map((days) => start + days * day)) {
    clock.time = time;
    await engine.sweep();
    await engine.sweep();
    assert.deepEqual((await kept()).slice(0, 3), ["compliance", "governance", "hold"], String(time - start));
    for (const outcome of await engine.deleteVersions(bucket, versions.slice(0, 3)))
      assert.equal(outcome.outcome, "locked");
  }
  assert.deepEqual(await kept(), ["compliance", "governance", "hold"], "the rules have run");
  clock.time = start + year;
  await engine.sweep();
  assert.deepEqual(await kept(), ["hold"], "a hold has no end");
});
