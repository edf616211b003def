// Engine contract: lifecycle rules for noncurrent versions, delete markers and tags.
import assert from "node:assert/strict";
import type { Engine } from "../../../src/engine/engine.ts";
import type { LifecycleRule } from "../../../src/model/settings/lifecycle.ts";
import { isDeleteMarker } from "../../../src/model/version.ts";
import { bucket, type Chapter, day, emptied, type SharedEngine } from "./setup.ts";

function rule(fields: Partial<LifecycleRule>): LifecycleRule {
  return { id: "r", isEnabled: true, prefix: "", ...fields };
}

async function versioned(shared: SharedEngine, ...lifecycle: LifecycleRule[]): Promise<SharedEngine> {
  await emptied(shared);
  await shared.engine.changeSettings(bucket, { versioning: "on", lifecycle });
  return shared;
}

async function put(engine: Engine, key: string, text: string, tag?: string): Promise<void> {
  const tags = tag === undefined ? undefined : new Map([["tag", tag]]);
  await engine.put(bucket, key, Buffer.from(text), { tags });
}

/** Returns the size of each version in listed order; a delete marker has "-". */
async function sizes(engine: Engine): Promise<string> {
  const { versions } = await engine.listVersions(bucket);
  return versions.map(({ version }) => (isDeleteMarker(version) ? "-" : version.size)).join(" ");
}

export const versionRules: Chapter = async (t, shared) => {
  await t.test("noncurrent versions expire by the time since they were replaced", async () => {
    const { engine, time } = await versioned(shared, rule({ expireNoncurrent: { days: 2 } }));
    for (const text of ["1", "22", "333"]) {
      await put(engine, "a", text);
      time.time += day;
    }
    assert.equal(await sizes(engine), "3 2 1");
    assert.equal((await engine.sweep()).versionsExpired, 1);
    assert.equal(await sizes(engine), "3 2");
    time.time += 100 * day;
    await engine.sweep();
    assert.equal(await sizes(engine), "3");
  });

  await t.test("the newest noncurrent versions are kept if the rule says so", async () => {
    const { engine, time } = await versioned(shared, rule({ expireNoncurrent: { days: 1, keep: 2 } }));
    for (const key of ["a", "b"])
      for (const text of ["1", "22", "333", "4444", ""]) await put(engine, key, text);
    time.time += 10 * day;
    await engine.sweep();
    assert.equal(await sizes(engine), "0 4 3 0 4 3");
  });

  await t.test("an expired object of a versioned bucket gets a delete marker", async () => {
    const { engine, time } = await versioned(shared, rule({ expire: { days: 1 } }));
    await put(engine, "a", "1");
    time.time += 2 * day;
    assert.equal((await engine.sweep()).objectsExpired, 1);
    assert.equal(await sizes(engine), "- 1");
    assert.equal((await engine.sweep()).objectsExpired, 0);
  });

  await t.test("a delete marker without older versions is removed, others stay", async () => {
    const { engine } = await versioned(shared, rule({ expireMarkers: true }));
    await put(engine, "a", "1");
    await engine.delete(bucket, ["a", "b"]);
    await put(engine, "c", "22");
    assert.equal(await sizes(engine), "- 1 - 2");
    assert.equal((await engine.sweep()).versionsExpired, 1);
    assert.equal(await sizes(engine), "- 1 2");
  });

  await t.test("rules apply to objects with all their tags and to their sizes only", async () => {
    const tags = [["tag", "old"]] as const;
    const { engine, time } = await versioned(shared, rule({ tags, largerThan: 1, expire: { days: 1 } }));
    await put(engine, "a", "11", "old");
    await put(engine, "b", "22", "new");
    await put(engine, "c", "33");
    await put(engine, "d", "4", "old");
    time.time += 2 * day;
    await engine.sweep();
    const { objects } = await engine.list(bucket);
    assert.deepEqual(
      objects.map(({ key }) => key),
      ["b", "c", "d"],
    );
  });

  await t.test("noncurrent versions change their storage class", async () => {
    const { engine, time } = await versioned(shared, rule({ transitionNoncurrent: { days: 1 } }));
    await put(engine, "a", "1");
    await put(engine, "a", "22");
    time.time += 3 * day;
    await engine.sweep();
    const { versions } = await engine.listVersions(bucket);
    assert.deepEqual(
      versions.map(({ version }) => !isDeleteMarker(version) && version.storageClass),
      ["Standard", "InfrequentAccess"],
    );
  });

  await t.test("a locked version does not expire before the end of its lock", async () => {
    const { engine, time } = await versioned(shared, rule({ expireNoncurrent: { days: 1 } }));
    await engine.changeSettings(bucket, { objectLock: {} });
    const retention = { mode: "compliance", until: time.time + 10 * day } as const;
    await engine.put(bucket, "a", Buffer.from("1"), { lock: { retention } });
    await put(engine, "a", "22");
    time.time += 5 * day;
    assert.equal((await engine.sweep()).versionsExpired, 0);
    assert.equal(await sizes(engine), "2 1");
    time.time += 6 * day;
    assert.equal((await engine.sweep()).versionsExpired, 1);
  });

  await t.test("a lock rule keeps objects of an unversioned bucket from expiring", async () => {
    const { engine, time } = await emptied(shared);
    await put(engine, "a", "1");
    await engine.changeSettings(bucket, {
      lifecycle: [rule({ expire: { days: 1 } })],
      lockRules: [{ id: "l", isEnabled: true, prefix: "", condition: { kind: "indefinite" } }],
    });
    time.time += 10 * day;
    assert.equal((await engine.sweep()).objectsExpired, 0);
    await engine.changeSettings(bucket, { lockRules: undefined });
    time.time += day;
    assert.equal((await engine.sweep()).objectsExpired, 1);
  });
};
