// Engine contract: retention, legal holds and lock rules keep versions from being removed.
import assert from "node:assert/strict";
import type { Engine } from "../../../src/engine/engine.ts";
import type { LockRule, ObjectLock } from "../../../src/model/lock.ts";
import { bucket, type Chapter, contentOf, day, emptied, failsWith, type SharedEngine } from "./setup.ts";

const bytes = (text: string) => Buffer.from(text);

async function lockable(shared: SharedEngine): Promise<SharedEngine> {
  await emptied(shared);
  await shared.engine.changeSettings(bucket, { versioning: "on", objectLock: {} });
  return shared;
}

async function put(engine: Engine, key: string, lock?: ObjectLock): Promise<string> {
  const outcome = await engine.put(bucket, key, bytes(key), { lock });
  assert.ok(outcome.outcome === "stored");
  return outcome.record.version;
}

async function remove(engine: Engine, key: string, version: string, bypassGovernance = false) {
  const [deletion] = await engine.deleteVersions(bucket, [{ key, version }], { bypassGovernance });
  return deletion!;
}

function rule(fields: Partial<LockRule>): LockRule {
  return { id: "r", isEnabled: true, prefix: "", condition: { kind: "indefinite" }, ...fields };
}

export const locks: Chapter = async (t, shared) => {
  await t.test("a version with compliance retention is removed only after its end", async () => {
    const { engine, time } = await lockable(shared);
    const until = time.time + day;
    const version = await put(engine, "a", { retention: { mode: "compliance", until } });
    for (const bypass of [false, true]) {
      const deletion = await remove(engine, "a", version, bypass);
      assert.ok(deletion.outcome === "locked");
      assert.match(deletion.message, /compliance retention until 2024-01-02T/);
    }
    const [marker] = await engine.delete(bucket, ["a"]);
    assert.ok(marker !== undefined);
    assert.equal((await contentOf(engine, "a", { version })).toString(), "a");
    for (const shorter of [
      undefined,
      { mode: "governance", until },
      { mode: "compliance", until: until - 1 },
    ] as const) {
      await assert.rejects(
        engine.setRetention(bucket, "a", shorter, { version, bypassGovernance: true }),
        failsWith("AccessDenied"),
      );
    }
    await engine.setRetention(bucket, "a", { mode: "compliance", until: until + day }, { version });
    time.time = until;
    assert.equal((await remove(engine, "a", version)).outcome, "locked");
    time.time = until + day;
    assert.equal((await remove(engine, "a", version)).outcome, "deleted");
  });

  await t.test("governance retention is bypassed only by a caller that may", async () => {
    const { engine, time } = await lockable(shared);
    const until = time.time + day;
    const version = await put(engine, "a", { retention: { mode: "governance", until } });
    assert.equal((await remove(engine, "a", version)).outcome, "locked");
    await assert.rejects(engine.setRetention(bucket, "a", undefined), failsWith("AccessDenied"));
    await engine.setRetention(bucket, "a", { mode: "governance", until: until + 1 });
    assert.equal((await remove(engine, "a", version, true)).outcome, "deleted");
    const other = await put(engine, "b", { retention: { mode: "governance", until } });
    await engine.setRetention(bucket, "b", undefined, { bypassGovernance: true });
    assert.equal((await remove(engine, "b", other)).outcome, "deleted");
  });

  await t.test("a legal hold keeps a version until it is removed", async () => {
    const { engine, time } = await lockable(shared);
    const version = await put(engine, "a", { legalHold: true });
    time.time += 1000 * day;
    assert.equal((await remove(engine, "a", version, true)).outcome, "locked");
    await engine.setLegalHold(bucket, "a", false);
    assert.equal((await remove(engine, "a", version)).outcome, "deleted");
  });

  await t.test("the default retention of a bucket applies to puts and completed uploads", async () => {
    const { engine, time } = await lockable(shared);
    const defaultRetention = { mode: "governance", days: 2 } as const;
    await engine.changeSettings(bucket, { objectLock: { defaultRetention } });
    const retention = { mode: "governance", until: time.time + 2 * day };
    await put(engine, "a");
    assert.deepEqual((await engine.head(bucket, "a"))?.lock, { retention });
    const upload = await engine.createUpload(bucket, "b");
    const part = await engine.uploadPart(bucket, upload, 1, bytes("b"));
    assert.deepEqual((await engine.completeUpload(bucket, upload, [part])).lock, { retention });
  });

  await t.test("Object Lock needs versioning and cannot be removed", async () => {
    const { engine, time } = await emptied(shared);
    const retention = { mode: "compliance", until: time.time + day } as const;
    const refused = failsWith("InvalidBucketState");
    await assert.rejects(engine.changeSettings(bucket, { objectLock: {} }), refused);
    await assert.rejects(engine.put(bucket, "a", bytes(""), { lock: { retention } }), refused);
    await engine.put(bucket, "a", bytes(""));
    await assert.rejects(engine.setLegalHold(bucket, "a", true), refused);
    await assert.rejects(engine.setRetention(bucket, "a", retention), refused);
    await engine.changeSettings(bucket, { versioning: "on", objectLock: {} });
    await assert.rejects(engine.changeSettings(bucket, { objectLock: undefined }), refused);
    await assert.rejects(engine.changeSettings(bucket, { versioning: "suspended" }), refused);
  });

  await t.test("a lock rule refuses overwriting and deleting in a bucket without versioning", async () => {
    const { engine, time } = await emptied(shared);
    const denied = failsWith("AccessDenied");
    await engine.put(bucket, "logs/a", bytes("1"));
    const lockRules = [rule({ prefix: "logs/", condition: { kind: "age", seconds: 3600 } })];
    await engine.changeSettings(bucket, { lockRules });
    await assert.rejects(engine.put(bucket, "logs/a", bytes("2")), denied);
    await assert.rejects(engine.delete(bucket, ["other", "logs/a"]), denied);
    const upload = await engine.createUpload(bucket, "logs/a");
    const part = await engine.uploadPart(bucket, upload, 1, bytes("3"));
    await assert.rejects(engine.completeUpload(bucket, upload, [part]), denied);
    await engine.abortUpload(bucket, upload);
    assert.equal((await engine.put(bucket, "logs/b", bytes("new"))).outcome, "stored");
    assert.equal((await engine.put(bucket, "other", bytes("x"))).outcome, "stored");
    assert.equal((await contentOf(engine, "logs/a")).toString(), "1");
    time.time += 3600_000;
    assert.equal((await engine.put(bucket, "logs/a", bytes("2"))).outcome, "stored");
    await engine.changeSettings(bucket, { lockRules: undefined });
  });

  await t.test("a lock rule keeps the versions of a versioned bucket", async () => {
    const { engine } = await emptied(shared);
    await engine.changeSettings(bucket, { versioning: "on", lockRules: [rule({ prefix: "a" })] });
    const first = await put(engine, "a");
    await put(engine, "a");
    await engine.delete(bucket, ["a"]);
    const deletion = await remove(engine, "a", first, true);
    assert.ok(deletion.outcome === "locked");
    assert.match(deletion.message, /lock rule "r"/);
    await assert.rejects(
      engine.changeSettings(bucket, { versioning: "suspended" }),
      failsWith("InvalidBucketState"),
    );
    await engine.changeSettings(bucket, { lockRules: [rule({ prefix: "a", isEnabled: false })] });
    assert.equal((await remove(engine, "a", first)).outcome, "deleted");
    await engine.changeSettings(bucket, { lockRules: undefined });
  });

  await t.test("a clock that is set back does not unlock", async () => {
    const { engine, time } = await lockable(shared);
    const version = await put(engine, "a", { retention: { mode: "compliance", until: time.time + day } });
    time.time -= 100 * day;
    assert.equal((await remove(engine, "a", version, true)).outcome, "locked");
    time.time += 102 * day;
  });
};
