// Engine contract: a bucket is restored to a time by new versions that share the old bodies.
import assert from "node:assert/strict";
import type { Engine } from "../../../src/engine/engine.ts";
import type { RestoreOptions } from "../../../src/engine/versions/versions.ts";
import {
  bucket,
  type Chapter,
  contentOf,
  day,
  emptied,
  failsWith,
  found,
  type SharedEngine,
  uploadParts,
} from "./setup.ts";

const bytes = (text: string) => Buffer.from(text);

async function versioned(shared: SharedEngine): Promise<SharedEngine> {
  await emptied(shared);
  await shared.engine.changeSettings(bucket, { versioning: "on" });
  return shared;
}

async function restore(engine: Engine, options: RestoreOptions) {
  const sum = { restored: [] as string[], deleted: [] as string[], unchanged: 0 };
  for (let cursor: string | undefined; ; ) {
    const page = await engine.restorePage(bucket, { ...options, cursor });
    sum.restored.push(...page.restored);
    sum.deleted.push(...page.deleted);
    sum.unchanged += page.unchanged;
    cursor = page.cursor;
    if (cursor === undefined) return sum;
  }
}

export const restores: Chapter = async (t, shared) => {
  await t.test("objects that were changed, deleted or created since then are as they were", async () => {
    const { engine, blobs, time } = await versioned(shared);
    const large = "x".repeat(300_000);
    await engine.put(bucket, "changed", bytes(large), { customMetadata: new Map([["m", "1"]]) });
    await engine.put(bucket, "deleted", bytes("two"));
    await engine.put(bucket, "same", bytes("three"));
    const at = time.time;
    time.time += 1000;
    await engine.put(bucket, "changed", bytes("ransom"));
    await engine.put(bucket, "new", bytes("new"));
    await engine.delete(bucket, ["deleted"]);
    time.time += 1000;
    const expected = { restored: ["changed", "deleted"], deleted: ["new"], unchanged: 1 };
    assert.deepEqual(await restore(engine, { time: at, isDryRun: true }), expected);
    assert.equal((await contentOf(engine, "changed")).toString(), "ransom");
    assert.deepEqual(await restore(engine, { time: at }), expected);
    assert.equal((await contentOf(engine, "changed")).toString(), large);
    assert.equal((await contentOf(engine, "deleted")).toString(), "two");
    assert.equal(await engine.head(bucket, "new"), undefined);
    const record = await engine.head(bucket, "changed");
    assert.deepEqual(record?.customMetadata, new Map([["m", "1"]]));
    assert.equal(record?.uploaded, time.time);
    const left: string[] = [];
    for await (const blob of blobs.all(bucket)) left.push(blob);
    assert.equal(left.length, 1, "the large body is stored once");
    assert.deepEqual(await restore(engine, { time: at }), { restored: [], deleted: [], unchanged: 3 });
  });

  await t.test("a restored object outlives the version it was copied from", async () => {
    const { engine, time } = await versioned(shared);
    const large = "x".repeat(300_000);
    const first = await engine.put(bucket, "a", bytes(large));
    assert.ok(first.outcome === "stored");
    const at = time.time;
    time.time += 1000;
    await engine.delete(bucket, ["a"]);
    await restore(engine, { time: at });
    await engine.deleteVersions(bucket, [{ key: "a", version: first.record.version }]);
    await engine.sweep();
    assert.equal((await contentOf(engine, "a")).toString(), large);
    const { damages } = await engine.verify();
    assert.deepEqual(damages, []);
  });

  await t.test("only keys with the prefix are restored", async () => {
    const { engine, time } = await versioned(shared);
    for (const key of ["a/1", "b/1"]) await engine.put(bucket, key, bytes(key));
    const at = time.time;
    time.time += 1000;
    await engine.delete(bucket, ["a/1", "b/1"]);
    const sum = await restore(engine, { time: at, prefix: "a/" });
    assert.deepEqual(sum, { restored: ["a/1"], deleted: [], unchanged: 0 });
    assert.equal(await engine.head(bucket, "b/1"), undefined);
  });

  await t.test("a bucket of several pages is restored", async () => {
    const { engine, time } = await versioned(shared);
    const keys = Array.from({ length: 1200 }, (_, i) => `k${String(i).padStart(5, "0")}`);
    await Promise.all(keys.map((key) => engine.put(bucket, key, bytes(key))));
    const at = time.time;
    time.time += 1000;
    await engine.delete(bucket, keys.slice(0, 1000));
    for (const key of ["a", "z"]) await engine.put(bucket, key, bytes(key));
    const sum = await restore(engine, { time: at });
    assert.deepEqual([sum.restored.length, sum.deleted, sum.unchanged], [1000, ["a", "z"], 200]);
    assert.equal((await engine.totals(bucket)).objects, 1200);
  });

  await t.test("a bucket without versioning cannot be restored", async () => {
    const { engine } = await emptied(shared);
    await assert.rejects(engine.restorePage(bucket, { time: 0 }), failsWith("InvalidBucketState"));
  });

  await t.test("one version becomes current again by a copy that shares its body", async () => {
    const { engine, blobs, time } = await versioned(shared);
    const large = "x".repeat(300_000);
    const options = { customMetadata: new Map([["m", "1"]]), tags: new Map([["t", "2"]]) };
    const first = await engine.put(bucket, "a", bytes(large), options);
    assert.ok(first.outcome === "stored");
    await engine.put(bucket, "a", bytes("second"));
    await engine.delete(bucket, ["a"]);
    time.time += 1000;
    const restored = await engine.restoreVersion(bucket, "a", first.record.version);
    assert.notEqual(restored.version, first.record.version);
    assert.deepEqual(await engine.head(bucket, "a"), restored);
    assert.deepEqual(restored.customMetadata, options.customMetadata);
    assert.deepEqual(restored.tags, options.tags);
    assert.equal(restored.uploaded, time.time);
    assert.equal((await contentOf(engine, "a")).toString(), large);
    const left: string[] = [];
    for await (const blob of blobs.all(bucket)) left.push(blob);
    assert.equal(left.length, 1, "the large body is stored once");
    assert.equal((await engine.listVersions(bucket)).versions.length, 4);
    await engine.deleteVersions(bucket, [{ key: "a", version: first.record.version }]);
    await engine.sweep();
    assert.equal((await contentOf(engine, "a")).toString(), large);
  });

  for (const size of [70_000, 300_000]) {
    await t.test(
      `a reader of parts of ${size} bytes reads on while all versions that share them are removed`,
      async () => {
        const { engine, blobs, time } = await versioned(shared);
        const upload = await engine.createUpload(bucket, "a");
        const bodies = [1, 2, 3, 4].map((fill) => Buffer.alloc(size, fill));
        const parts = await uploadParts(
          engine,
          upload,
          Object.fromEntries(bodies.map((body, i) => [i + 1, body])),
        );
        const first = await engine.completeUpload(bucket, upload, parts);
        await engine.delete(bucket, ["a"]);
        time.time += 1000;
        const second = await engine.restoreVersion(bucket, "a", first.version);
        const readers = [await found(engine, "a"), await found(engine, "a", { version: first.version })];
        const begun = readers.map(({ bytes }) => bytes.chunks()[Symbol.asyncIterator]());
        const chunks = await Promise.all(
          begun.map(async (reader) => [Buffer.from((await reader.next()).value!)]),
        );
        for (const version of [first.version, second.version]) {
          await engine.deleteVersions(bucket, [{ key: "a", version }]);
          await engine.sweep();
        }
        for (const [index, reader] of begun.entries()) {
          for await (const chunk of { [Symbol.asyncIterator]: () => reader })
            chunks[index]!.push(Buffer.from(chunk));
          assert.ok(Buffer.concat(chunks[index]!).equals(Buffer.concat(bodies)));
        }
        await engine.sweep();
        for await (const blob of blobs.all(bucket)) assert.fail(`blob ${blob} was not removed`);
      },
    );
  }

  await t.test("restoring the current version changes nothing", async () => {
    const { engine } = await versioned(shared);
    const put = await engine.put(bucket, "a", bytes("one"));
    assert.ok(put.outcome === "stored");
    assert.deepEqual(await engine.restoreVersion(bucket, "a", put.record.version), put.record);
    assert.equal((await engine.listVersions(bucket)).versions.length, 1);
  });

  await t.test("a version written before versioning was turned on can be restored", async () => {
    const { engine } = await emptied(shared);
    await engine.put(bucket, "a", bytes("one"));
    await engine.changeSettings(bucket, { versioning: "on" });
    await engine.put(bucket, "a", bytes("two"));
    await engine.restoreVersion(bucket, "a", "null");
    assert.equal((await contentOf(engine, "a")).toString(), "one");
    assert.equal((await contentOf(engine, "a", { version: "null" })).toString(), "one");
  });

  await t.test("a restored version has no retention of its own, but the bucket's default", async () => {
    const { engine, time } = await versioned(shared);
    const until = time.time + day;
    await engine.changeSettings(bucket, { objectLock: {} });
    const lock = { retention: { mode: "governance", until } } as const;
    const first = await engine.put(bucket, "a", bytes("one"), { lock });
    assert.ok(first.outcome === "stored");
    await engine.put(bucket, "a", bytes("two"));
    const { version } = first.record;
    assert.equal((await engine.restoreVersion(bucket, "a", version)).lock, undefined);
    await engine.put(bucket, "a", bytes("three"));
    await engine.changeSettings(bucket, {
      objectLock: { defaultRetention: { mode: "governance", days: 2 } },
    });
    const again = await engine.restoreVersion(bucket, "a", version);
    assert.deepEqual(again.lock?.retention, { mode: "governance", until: time.time + 2 * day });
  });

  await t.test("missing versions, delete markers and unversioned buckets cannot be restored", async () => {
    const { engine } = await versioned(shared);
    await engine.put(bucket, "a", bytes("one"));
    const [marker] = await engine.delete(bucket, ["a"]);
    const restoring = (version: string) => engine.restoreVersion(bucket, "a", version);
    await assert.rejects(restoring(marker!.version), failsWith("MethodNotAllowed"));
    await assert.rejects(restoring("0".repeat(32)), failsWith("NoSuchVersion"));
    await engine.changeSettings(bucket, { versioning: "suspended" });
    await assert.rejects(restoring(marker!.version), failsWith("InvalidBucketState"));
  });
};
