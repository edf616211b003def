// A row that is missing because of damage is reported and not treated as absent: no data is
// overwritten or removed, and a put to the key repairs it.
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
  /** Runs SQL on a database directly, to simulate damage. */
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

test("every read of an object whose record is missing reports damage, and reads of other keys do not", async (t) => {
  const { damage, open } = await scene(t);
  damage("DELETE FROM objects WHERE key = CAST('large' AS BLOB)");
  const { engine } = await open();
  const lost = { message: /damaged: the record of "large" is missing from the index/ };
  await assert.rejects(engine.head(bucket, "large"), lost);
  await assert.rejects(engine.get(bucket, "large"), lost);
  await assert.rejects(engine.describe(bucket, "large"), lost);
  assert.equal(await engine.head(bucket, "absent"), undefined);
  const { damages } = await engine.verify();
  assert.ok(
    damages.some(({ key }) => key === "large"),
    JSON.stringify(damages),
  );
});

test("conditional puts and deletes of a key with a missing record fail; unconditional ones repair it", async (t) => {
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

test("verify reports a record that is missing from the existence index, and a put repairs it", async (t) => {
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

test("deleting a bucket that is empty only because of damage fails and keeps the bucket", async (t) => {
  const { damage, open } = await scene(t);
  damage("DELETE FROM objects");
  const { engine } = await open();
  await assert.rejects(engine.deleteBucket(bucket), isDamage);
  assert.ok((await engine.bucket(bucket)) !== undefined);
  // Opening the directory again does not delete the bucket either.
  const again = await open();
  await assert.rejects(again.engine.head(bucket, "small"), isDamage);
});

test("a bucket that is missing from the registry is reported and kept with its contents", async (t) => {
  const { directory, damage, open } = await scene(t);
  const { directory: folder } = bucketPaths(dataLayout(directory), bucketIds(directory).get(bucket)!);
  damage("DELETE FROM buckets");
  const { engine } = await openEngine(directory);
  await assert.rejects(engine.head(bucket, "small"), isDamage);
  await assert.rejects(engine.createBucket(bucket), isDamage);
  assert.ok((await engine.verify()).damages.some((damage) => damage.bucket === bucket));
  await engine.close();
  // A folder with data is not removed even if the existence index lost the bucket as well.
  damage("DELETE FROM witness WHERE (SELECT count(*) FROM buckets) = 0");
  const { engine: again } = await open();
  await again.sweep();
  assert.ok(existsSync(folder));
  assert.match(JSON.stringify((await again.verify()).damages), /a bucket that the registry does not name/);
});

test("a damaged row of the registry does not delete its bucket and does not hide other buckets", async (t) => {
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

test("a body is not removed if damage in the index hides its object's reference to it", async (t) => {
  const { directory, damage, open } = await scene(t);
  const { engine: first } = await openEngine(directory);
  await first.put(bucket, "other", sampleBytes(20_000));
  await first.close();
  const files = blobFiles(directory);
  assert.equal(files.length, 2);
  // Make both rows reference the file of "large", then make recovery check both files.
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

test("a conditional put fails, and does not retry forever, if the version column and the record differ", async (t) => {
  const { damage, open } = await scene(t);
  damage("UPDATE objects SET version = 'ffff' WHERE key = CAST('small' AS BLOB)");
  const { engine } = await open();
  const etag = (await engine.head(bucket, "small"))!.etag;
  const condition = { etagMatches: [{ value: etag, weak: false }] };
  await assert.rejects(engine.put(bucket, "small", sampleBytes(3), { condition }), isDamage);
});

test("a listing reports a database page that SQLite cannot read as damage", async (t) => {
  const { directory, damage, open } = await scene(t);
  damage("PRAGMA wal_checkpoint(TRUNCATE)");
  const path = bucketPaths(dataLayout(directory), bucketIds(directory).get(bucket)!).database;
  const file = readFileSync(path);
  const at = file.indexOf('[1,"small"');
  // Overwrites the type byte of the database page that contains the record.
  file[Math.floor(at / 4096) * 4096] = 7;
  writeFileSync(path, file);
  const { engine } = await open();
  await assert.rejects(engine.list(bucket), isDamage);
  await assert.rejects(engine.head(bucket, "small"), isDamage);
});
