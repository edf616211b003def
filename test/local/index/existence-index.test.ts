// What the index has lost is told, not taken for absent: nothing is overwritten, removed or given up for it, and
// writing over the damage mends it.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { DatabaseSync } from "@photostructure/sqlite";
import { StoreError } from "../../../src/index.ts";
import { bucketPaths, dataLayout } from "../../../src/local/disk/layout.ts";
import { type OpenEngine, openEngine } from "../../../src/open.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { blobFiles, bucketIds } from "../../support/disk/on-disk.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const bucket = "photos";

interface Scene {
  readonly directory: string;
  /** Changes a database behind the store's back, as damage would. */
  damage(sql: string): void;
  open(): Promise<OpenEngine>;
}

async function scene(t: TestContext): Promise<Scene> {
  const directory = await temporaryDirectory(t);
  const { engine } = await openEngine(directory);
  await engine.createBucket(bucket);
  await engine.put(bucket, "small", sampleBytes(10));
  await engine.put(bucket, "large", sampleBytes(10_000));
  await engine.close();
  return {
    directory,
    damage(sql) {
      const path = sql.includes("buckets")
        ? dataLayout(directory).registry
        : bucketPaths(dataLayout(directory), bucketIds(directory).get(bucket)!).database;
      const database = new DatabaseSync(path);
      database.exec(sql);
      database.close();
    },
    async open() {
      const opened = await openEngine(directory);
      t.after(() => opened.engine.close());
      return opened;
    },
  };
}

const isDamage = (error: unknown) => error instanceof StoreError && error.reason === "Damaged";

test("an object whose record is lost is told of by every read, and by no other key's", async (t) => {
  const { damage, open } = await scene(t);
  damage("DELETE FROM objects WHERE key = CAST('large' AS BLOB)");
  const { engine } = await open();
  const told = { message: /damaged: the record of "large" is missing from the index/ };
  await assert.rejects(engine.head(bucket, "large"), told);
  await assert.rejects(engine.get(bucket, "large"), told);
  await assert.rejects(engine.describe(bucket, "large"), told);
  assert.equal(await engine.head(bucket, "absent"), undefined);
  const { damages } = await engine.verify();
  assert.ok(
    damages.some(({ key }) => key === "large"),
    JSON.stringify(damages),
  );
});

test("a create-only put or a conditional delete does not pass over a lost record; plain ones mend it", async (t) => {
  for (const mend of ["put", "delete"] as const) {
    const { damage, open } = await scene(t);
    damage("DELETE FROM objects WHERE key = CAST('small' AS BLOB)");
    damage("DELETE FROM bodies");
    const { engine } = await open();
    const condition = { etagDoesNotMatch: "*" } as const;
    await assert.rejects(engine.put(bucket, "small", sampleBytes(3), { condition }), isDamage);
    await assert.rejects(engine.delete(bucket, ["small"], { condition }), isDamage);
    if (mend === "put") await engine.put(bucket, "small", sampleBytes(5));
    else await engine.delete(bucket, ["small"]);
    assert.equal((await engine.head(bucket, "small"))?.size, mend === "put" ? 5 : undefined);
    assert.deepEqual((await engine.verify()).damages, []);
    const kept = mend === "put" ? 10_005 : 10_000;
    assert.equal((await engine.totals(bucket)).bytes, kept);
  }
});

test("a record whose own witness is lost is told of by verify, and a put mends it", async (t) => {
  const { damage, open } = await scene(t);
  damage("DELETE FROM witness");
  const { engine } = await open();
  assert.equal((await engine.head(bucket, "small"))?.size, 10);
  const named = (await engine.verify()).damages.map(({ key }) => key);
  assert.ok(named.includes("small") && named.includes("large"));
  await engine.put(bucket, "small", sampleBytes(10));
  await engine.put(bucket, "large", sampleBytes(10));
  const left = (await engine.verify()).damages.filter(({ key }) => key !== undefined);
  assert.deepEqual(left, []);
});

test("a bucket that only reads as empty is not deleted", async (t) => {
  const { damage, open } = await scene(t);
  damage("DELETE FROM objects");
  const { engine } = await open();
  await assert.rejects(engine.deleteBucket(bucket), isDamage);
  assert.ok((await engine.bucket(bucket)) !== undefined);
  // Nor by whoever opens the directory next.
  const again = await open();
  await assert.rejects(again.engine.head(bucket, "small"), isDamage);
});

test("a bucket that the registry has lost is told of and kept, with all that is in it", async (t) => {
  const { directory, damage, open } = await scene(t);
  const { directory: folder } = bucketPaths(dataLayout(directory), bucketIds(directory).get(bucket)!);
  damage("DELETE FROM buckets");
  const { engine } = await openEngine(directory);
  await assert.rejects(engine.head(bucket, "small"), isDamage);
  await assert.rejects(engine.createBucket(bucket), isDamage);
  assert.ok((await engine.verify()).damages.some((damage) => damage.bucket === bucket));
  await engine.close();
  // Even with both witnesses gone: what holds something is not garbage.
  damage("DELETE FROM witness WHERE (SELECT count(*) FROM buckets) = 0");
  const { engine: again } = await open();
  await again.sweep();
  assert.ok(existsSync(folder));
  assert.match(JSON.stringify((await again.verify()).damages), /a bucket that the registry does not name/);
});

test("a damaged row of the registry neither ends its bucket nor hides the others", async (t) => {
  const { directory, damage, open } = await scene(t);
  const first = await openEngine(directory);
  await first.engine.createBucket("empty");
  await first.engine.close();
  damage("UPDATE buckets SET deleting = 1 WHERE name = 'empty'");
  const { engine } = await open();
  await assert.rejects(engine.bucket("empty"), isDamage);
  assert.equal((await engine.head(bucket, "small"))?.size, 10);
  assert.ok((await engine.verify()).damages.some((damage) => damage.bucket === "empty"));
});

test("a body is not removed because damage makes another object name it, or nobody", async (t) => {
  const { directory, damage, open } = await scene(t);
  const { engine: first } = await openEngine(directory);
  await first.put(bucket, "other", sampleBytes(20_000));
  await first.close();
  const files = blobFiles(directory);
  assert.equal(files.length, 2);
  // Both rows name one file now, and recovery has reason to ask about both.
  damage(
    "UPDATE objects SET blob = (SELECT blob FROM objects WHERE key = CAST('large' AS BLOB)), stored = 10000 WHERE key = CAST('other' AS BLOB)",
  );
  damage("DELETE FROM blobs");
  const { open: markers } = bucketPaths(dataLayout(directory), bucketIds(directory).get(bucket)!);
  for (const { id } of files) writeFileSync(`${markers}/${id.split(".")[1]}.0123456789abcdef`, "");
  const { engine } = await open();
  await assert.rejects(engine.head(bucket, "other"), isDamage);
  await engine.put(bucket, "other", sampleBytes(5));
  await engine.sweep();
  for (const { path } of files) assert.ok(existsSync(path), path);
  const found = await engine.get(bucket, "large");
  assert.equal(found.outcome, "found");
  if (found.outcome === "found") await found.bytes.cancel();
});

test("a version in the index that is not the record's ends a conditional put instead of repeating it", async (t) => {
  const { damage, open } = await scene(t);
  damage("UPDATE objects SET version = 'ffff' WHERE key = CAST('small' AS BLOB)");
  const { engine } = await open();
  const etag = (await engine.head(bucket, "small"))!.etag;
  const condition = { etagMatches: [{ value: etag, weak: false }] };
  await assert.rejects(engine.put(bucket, "small", sampleBytes(3), { condition }), isDamage);
});

test("a page that SQLite cannot read is told as damage by lists too", async (t) => {
  const { directory, damage, open } = await scene(t);
  damage("PRAGMA wal_checkpoint(TRUNCATE)");
  const path = bucketPaths(dataLayout(directory), bucketIds(directory).get(bucket)!).database;
  const file = readFileSync(path);
  const at = file.indexOf('[1,"small"');
  // The kind of the page that holds the record.
  file[Math.floor(at / 4096) * 4096] = 7;
  writeFileSync(path, file);
  const { engine } = await open();
  await assert.rejects(engine.list(bucket), isDamage);
  await assert.rejects(engine.head(bucket, "small"), isDamage);
});
