// A read of one version costs the same however many versions its key has, and still detects damage.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DatabaseSync } from "@photostructure/sqlite";
import type { Engine } from "../../../src/engine/engine.ts";
import { StoreError } from "../../../src/index.ts";
import { bucketPaths, dataLayout } from "../../../src/local/disk/layout.ts";
import { openEngine } from "../../../src/open.ts";
import { bucketIds } from "../../support/disk/on-disk.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const bucket = "photos";
const isDamage = (error: unknown) => error instanceof StoreError && error.reason === "Damaged";

interface Scene {
  /** A time before the first version of any key. */
  readonly before: number;
  /** Runs SQL on the bucket's database directly, to simulate damage. */
  damage(sql: string): void;
  open(): Promise<Engine>;
}

async function scene(t: TestContext, fill: (engine: Engine) => Promise<void>): Promise<Scene> {
  const directory = await temporaryDirectory(t);
  const { engine } = await openEngine(directory);
  await engine.createBucket(bucket);
  const before = Date.now() - 1;
  await fill(engine);
  await engine.close();
  return {
    before,
    damage(sql) {
      const path = bucketPaths(dataLayout(directory), bucketIds(directory).get(bucket)!).database;
      const database = new DatabaseSync(path, { defensive: false });
      database.exec(sql);
      database.close();
    },
    async open() {
      const opened = await openEngine(directory);
      t.after(() => opened.engine.close());
      return opened.engine;
    },
  };
}

const put = (engine: Engine, key: string) => engine.put(bucket, key, Buffer.from("x"));
const versioning = (engine: Engine) => engine.changeSettings(bucket, { versioning: "on" });

/** Afterwards an index has the pages of an empty one, as after a flipped bit in the type of its root. */
function emptied(index: string): string {
  return `
    CREATE TABLE other (x); CREATE INDEX other_x ON other (x); PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'other_x')
      WHERE name = '${index}'`;
}

test("reads of the null version and of a time read no other versions of the key", async (t) => {
  const { before, damage, open } = await scene(t, async (engine) => {
    await versioning(engine);
    await Promise.all(Array.from({ length: 300 }, () => put(engine, "key")));
    await new Promise((resolve) => setTimeout(resolve, 2));
    await put(engine, "key");
  });
  // Any read of a version but the oldest and the current one reports damage.
  damage("UPDATE history SET record = record || 'x' WHERE is_oldest = 0");
  damage("DELETE FROM history WHERE entry = (SELECT entry FROM history WHERE is_oldest = 0 LIMIT 1)");
  const engine = await open();
  assert.equal(await engine.head(bucket, "key", { version: "null" }), undefined);
  assert.equal(await engine.head(bucket, "key", { time: before }), undefined);
  assert.deepEqual((await engine.list(bucket, { time: before })).objects, []);
  const current = await engine.head(bucket, "key");
  assert.equal((await engine.head(bucket, "key", { time: Date.now() }))?.version, current?.version);
  await assert.rejects(engine.head(bucket, "key", { time: current!.uploaded - 1 }), isDamage);
});

test("many deletions of one version of a key evaluate it once, and other work runs between batches", async (t) => {
  const { open } = await scene(t, async (engine) => {
    await versioning(engine);
    for (let i = 0; i < 4000; i += 500)
      await Promise.all(Array.from({ length: 500 }, () => put(engine, "key")));
  });
  const engine = await open();
  const started = performance.now();
  const same = Array.from({ length: 1000 }, () => ({ key: "key", version: "null" }));
  const outcomes = await engine.deleteVersions(bucket, same);
  assert.deepEqual([...new Set(outcomes.map(({ outcome }) => outcome))], ["missing"]);
  assert.equal(outcomes.length, 1000);
  // With a read of all versions for each target, this took two minutes.
  assert.ok(performance.now() - started < 10_000);
  let turns = 0;
  const counting = setInterval(() => turns++, 0);
  const others = same.map((_, i) => ({ key: "key", version: i.toString(16).padStart(32, "0") }));
  await engine.deleteVersions(bucket, [...others.slice(1), { key: "key", version: "null" }]);
  clearInterval(counting);
  assert.ok(turns > 3, `${turns} turns of the event loop`);
});

test("versions of a key that contains NUL are not those of its beginning", async (t) => {
  const { before, open } = await scene(t, async (engine) => {
    await versioning(engine);
    for (let i = 0; i < 3; i++) await put(engine, "a\0b");
    await put(engine, "a");
  });
  const engine = await open();
  assert.equal(await engine.head(bucket, "a", { time: before }), undefined);
  assert.equal(await engine.head(bucket, "a", { version: "null" }), undefined);
  assert.deepEqual((await engine.verify()).damages, []);
});

for (const [column, value] of [
  ["until", "until + 1"],
  ["shown_until", "shown_until + 1000000"],
  ["is_oldest", "1 - is_oldest"],
] as const) {
  test(`a changed ${column} is reported by a read of a time, by listings and by verify`, async (t) => {
    const { before, damage, open } = await scene(t, async (engine) => {
      await versioning(engine);
      for (let i = 0; i < 3; i++) await put(engine, "key");
    });
    damage(`UPDATE history SET ${column} = ${value}`);
    const engine = await open();
    await assert.rejects(engine.head(bucket, "key", { time: before }), isDamage);
    await assert.rejects(engine.list(bucket, { time: before }), isDamage);
    await assert.rejects(engine.listVersions(bucket), isDamage);
    assert.deepEqual([...new Set((await engine.verify()).damages.map(({ key }) => key))], ["key"]);
  });
}

test("a null version that its index does not find is reported, and not read as absent", async (t) => {
  const { damage, open } = await scene(t, async (engine) => {
    await put(engine, "key");
    await versioning(engine);
    await put(engine, "key");
    await put(engine, "other");
  });
  damage(emptied("history_null"));
  const engine = await open();
  await assert.rejects(engine.head(bucket, "key", { version: "null" }), isDamage);
  assert.equal(await engine.head(bucket, "other", { version: "null" }), undefined);
});

test("versions that the index of keys does not find are reported by a read of a time", async (t) => {
  const { before, damage, open } = await scene(t, async (engine) => {
    await versioning(engine);
    for (let i = 0; i < 3; i++) await put(engine, "key");
    await put(engine, "other");
  });
  damage(emptied("history_key"));
  const engine = await open();
  await assert.rejects(engine.head(bucket, "key", { time: before }), isDamage);
  assert.equal(await engine.head(bucket, "other", { time: before }), undefined);
});

test("a null version that is missing from the existence index is reported by verify", async (t) => {
  const { damage, open } = await scene(t, async (engine) => {
    await put(engine, "key");
    await versioning(engine);
    await put(engine, "key");
  });
  damage("DELETE FROM witness WHERE hex(substr(place, 5, 1)) = '6E'");
  const { damages } = await (await open()).verify();
  assert.ok(damages.some(({ key, what }) => key === "key" && /existence index/.test(what)));
});
