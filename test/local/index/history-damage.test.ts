// Damage to the history is reported by reads and by verify, and never removes a body that another
// version needs.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DatabaseSync } from "@photostructure/sqlite";
import type { Engine } from "../../../src/engine/engine.ts";
import { StoreError } from "../../../src/index.ts";
import { bucketPaths, dataLayout } from "../../../src/local/disk/layout.ts";
import { openEngine } from "../../../src/open.ts";
import { collect, sampleBytes } from "../../support/bytes.ts";
import { bucketIds } from "../../support/disk/on-disk.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const bucket = "photos";
const isDamage = (error: unknown) => error instanceof StoreError && error.reason === "Damaged";

interface Scene {
  /** Ids of the versions of "small" and "large", oldest first. */
  readonly small: readonly string[];
  readonly large: readonly string[];
  /** Runs SQL on the bucket's database directly, to simulate damage. */
  damage(sql: string): void;
  open(): Promise<Engine>;
}

/** Each key has two versions and, on "large", a third one that shares the body of the first. */
async function scene(t: TestContext): Promise<Scene> {
  const directory = await temporaryDirectory(t);
  const { engine } = await openEngine(directory);
  await engine.createBucket(bucket);
  await engine.changeSettings(bucket, { versioning: "on" });
  const put = async (key: string, size: number) => {
    const outcome = await engine.put(bucket, key, sampleBytes(size));
    assert.ok(outcome.outcome === "stored");
    return outcome.record;
  };
  const small = [(await put("small", 10)).version, (await put("small", 11)).version];
  const { version, uploaded } = await put("large", 10_000);
  await new Promise((resolve) => setTimeout(resolve, 2));
  const second = (await put("large", 11_000)).version;
  await engine.restorePage(bucket, { time: uploaded, prefix: "large" });
  const large = [version, second, (await engine.head(bucket, "large"))!.version];
  await engine.close();
  return {
    small,
    large,
    damage(sql) {
      const database = new DatabaseSync(
        bucketPaths(dataLayout(directory), bucketIds(directory).get(bucket)!).database,
      );
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

async function findings(engine: Engine): Promise<string[]> {
  return (await engine.verify()).damages.map(({ what }) => what);
}

async function assertReported(engine: Engine, what: RegExp): Promise<void> {
  const found = await findings(engine);
  assert.ok(
    found.some((finding) => what.test(finding)),
    JSON.stringify(found),
  );
}

test("verify finds no damage in a store with versions and shared bodies", async (t) => {
  const { open } = await scene(t);
  assert.deepEqual(await findings(await open()), []);
});

test("a missing row of the history is reported by a read of its version and by verify", async (t) => {
  const { small, damage, open } = await scene(t);
  damage(`DELETE FROM history WHERE version = '${small[0]}'`);
  const engine = await open();
  await assert.rejects(engine.get(bucket, "small", { version: small[0]! }), isDamage);
  assert.equal((await engine.get(bucket, "small", { version: "0".repeat(32) })).outcome, "missing");
  await assertReported(engine, /version "[0-9a-f]+" of "small" is missing from the index/);
  await assertReported(engine, /totals/);
});

test("a row of the history that is missing from the existence index is reported by verify", async (t) => {
  const { damage, open } = await scene(t);
  damage("DELETE FROM witness");
  await assertReported(await open(), /version "[0-9a-f]+" of "small" is missing from the existence index/);
});

for (const [column, value] of [
  ["record", "record || 'x'"],
  ["since", "since + 1"],
  ["size", "size + 1"],
  ["versioned", "0"],
  ["blob", "'x' || blob"],
  ["key", "CAST('other' AS BLOB)"],
] as const) {
  test(`a changed ${column} in the history is reported by a read and by verify`, async (t) => {
    const { large, damage, open } = await scene(t);
    damage(`UPDATE history SET ${column} = ${value} WHERE version = '${large[1]}'`);
    const engine = await open();
    await assert.rejects(engine.get(bucket, "large", { version: large[1]! }), isDamage);
    assert.notDeepEqual(await findings(engine), []);
  });
}

test("an inline body that belongs to another version is refused", async (t) => {
  const { small, damage, open } = await scene(t);
  damage(`UPDATE history SET inline = (SELECT inline FROM objects WHERE key = CAST('small' AS BLOB))
    WHERE version = '${small[0]}'`);
  const engine = await open();
  await assert.rejects(engine.get(bucket, "small", { version: small[0]! }), isDamage);
  await assertReported(engine, /body \d+ belongs to no object/);
});

test("a version that is current and noncurrent at the same time is reported by verify", async (t) => {
  const { small, damage, open } = await scene(t);
  damage(`UPDATE history SET until = 9e999 WHERE version = '${small[0]}'`);
  await assertReported(await open(), /"small" has not exactly one current version/);
});

for (const [what, sql] of [
  ["lost", "DELETE FROM shared"],
  ["damaged", "UPDATE shared SET count = '7' || count"],
] as const) {
  test(`a ${what} number of references is reported, and the bytes of the other version stay`, async (t) => {
    const { large, damage, open } = await scene(t);
    damage(sql);
    const engine = await open();
    await assertReported(engine, /references/);
    const [outcome] = await engine.deleteVersions(bucket, [{ key: "large", version: large[0]! }]);
    assert.equal(outcome?.outcome, "deleted");
    await engine.sweep();
    const found = await engine.get(bucket, "large");
    assert.ok(found.outcome === "found");
    assert.deepEqual(await collect(found.bytes.chunks()), sampleBytes(10_000));
  });
}

test("a bucket whose history was lost is not deleted", async (t) => {
  const { damage, open } = await scene(t);
  damage(
    "DELETE FROM history; DELETE FROM objects; DELETE FROM witness WHERE hex(substr(place, 5, 1)) = '6F'",
  );
  const engine = await open();
  await assert.rejects(engine.deleteBucket(bucket), isDamage);
});
