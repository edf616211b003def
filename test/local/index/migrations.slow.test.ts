// Directories of earlier schemas are migrated when they are opened, in one transaction for each
// database, even if several processes open them at the same time.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { DatabaseSync } from "@photostructure/sqlite";
import { bucketPaths, dataLayout } from "../../../src/local/disk/layout.ts";
import { backUpStore } from "../../../src/maintenance.ts";
import { openEngine } from "../../../src/open.ts";
import { collect, sampleBytes } from "../../support/bytes.ts";
import { assertNothingLeftOver, bucketIds } from "../../support/disk/on-disk.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { withAgents } from "../agents/agents.ts";

const bucket = "photos";
const noHistory = { noncurrentVersions: 0, noncurrentBytes: 0 };
const cors = [{ origins: ["*"], methods: ["GET"] }] as never;

const registryOfFirst = `
  CREATE TABLE buckets (
    name TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, created REAL NOT NULL, storage_class TEXT NOT NULL,
    account TEXT NOT NULL, deleting INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE TABLE documents (
    kind TEXT NOT NULL, name TEXT NOT NULL, revision INTEGER NOT NULL UNIQUE, text TEXT NOT NULL,
    PRIMARY KEY (kind, name)
  ) WITHOUT ROWID;
  CREATE TABLE revisions (last INTEGER NOT NULL);
  INSERT INTO buckets SELECT name, id, created, storage_class, account, deleting <> 0 FROM now.buckets;
  INSERT INTO documents SELECT kind, name, revision, substr(text, 1, length(text) - 8) FROM now.documents;
  INSERT INTO revisions SELECT last FROM now.revisions;
  PRAGMA user_version = 1;
`;

const bucketOfFirst = `
  CREATE TABLE bucket (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1), deleted INTEGER NOT NULL DEFAULT 0,
    objects INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, cors TEXT, lifecycle TEXT
  );
  CREATE TABLE objects (
    key BLOB PRIMARY KEY, version TEXT NOT NULL, size INTEGER NOT NULL, inline INTEGER, blob TEXT, stored INTEGER,
    manifest INTEGER, record TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE bodies (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE manifests (id INTEGER PRIMARY KEY, parts TEXT NOT NULL);
  CREATE TABLE uploads (
    key BLOB NOT NULL, id TEXT NOT NULL UNIQUE, active INTEGER NOT NULL, due REAL NOT NULL,
    revision INTEGER NOT NULL, record TEXT NOT NULL, PRIMARY KEY (key, id)
  ) WITHOUT ROWID;
  CREATE INDEX uploads_due ON uploads (due);
  CREATE TABLE parts (
    upload TEXT NOT NULL, number INTEGER NOT NULL, blob TEXT NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (upload, number)
  ) WITHOUT ROWID;
  CREATE TABLE blobs (id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE buried (entry INTEGER PRIMARY KEY AUTOINCREMENT, blob TEXT, manifest INTEGER);
  INSERT INTO bucket SELECT only_row, deleted <> 0, objects, bytes,
    nullif(substr(cors, 1, length(cors) - 8), ''), nullif(substr(lifecycle, 1, length(lifecycle) - 8), '')
    FROM now.bucket;
  INSERT INTO objects SELECT * FROM now.objects;
  INSERT INTO bodies SELECT * FROM now.bodies;
  INSERT INTO manifests SELECT * FROM now.manifests;
  INSERT INTO uploads SELECT * FROM now.uploads;
  INSERT INTO parts SELECT * FROM now.parts;
  INSERT INTO blobs SELECT id FROM now.blobs;
  INSERT INTO buried SELECT entry, blob, manifest FROM now.buried;
  PRAGMA user_version = 1;
`;

/** Rewrites a database with the same rows in the tables of schema 1. */
function rewriteAsFirst(path: string, sql: string): void {
  const old = `${path}.first`;
  const database = new DatabaseSync(old);
  database.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL");
  database.exec(`ATTACH '${path}' AS now`);
  database.exec(sql);
  database.exec("DETACH now; PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  const copy = new DatabaseSync(old);
  copy.exec(`VACUUM INTO '${path}'`);
  copy.close();
  for (const suffix of ["", "-wal", "-shm"]) rmSync(old + suffix, { force: true });
  const made = new DatabaseSync(path);
  made.exec("PRAGMA journal_mode = WAL");
  made.close();
}

async function firstStore(t: TestContext): Promise<string> {
  const directory = await temporaryDirectory(t);
  const { engine, documents } = await openEngine(directory);
  await engine.createBucket(bucket);
  await engine.createBucket("plain");
  await engine.changeSettings(bucket, { cors });
  await documents.put("kind", "name", "a text", undefined);
  for (let i = 0; i < 300; i++) await engine.put(bucket, `small ${i}`, sampleBytes(i));
  await engine.put(bucket, "large", sampleBytes(100_000));
  const { id } = await engine.createUpload(bucket, "parts");
  const part = await engine.uploadPart(bucket, { key: "parts", id }, 1, sampleBytes(9000));
  await engine.completeUpload(bucket, { key: "parts", id }, [part]);
  const { id: open } = await engine.createUpload(bucket, "in flight");
  await engine.uploadPart(bucket, { key: "in flight", id: open }, 3, sampleBytes(5000));
  await engine.close();
  const layout = dataLayout(directory);
  for (const id of bucketIds(directory).values())
    rewriteAsFirst(bucketPaths(layout, id).database, bucketOfFirst);
  // Moves the bodies of two objects to the garbage queue.
  const database = new DatabaseSync(bucketPaths(layout, bucketIds(directory).get(bucket)!).database);
  database.exec(`
    INSERT INTO buried (blob) SELECT blob FROM objects WHERE key = CAST('large' AS BLOB);
    DELETE FROM objects WHERE key = CAST('large' AS BLOB);
    INSERT INTO buried (manifest) SELECT manifest FROM objects WHERE key = CAST('parts' AS BLOB);
    DELETE FROM objects WHERE key = CAST('parts' AS BLOB);
    UPDATE bucket SET objects = objects - 2, bytes = bytes - 109000;
  `);
  database.close();
  rewriteAsFirst(layout.registry, registryOfFirst);
  return directory;
}

async function assertWhole(directory: string): Promise<void> {
  const { engine, documents } = await openEngine(directory);
  assert.deepEqual((await engine.verify()).damages, []);
  assert.equal((await documents.get("kind", "name"))?.text, "a text");
  assert.deepEqual((await engine.bucket(bucket))?.settings, { cors });
  assert.deepEqual((await engine.bucket("plain"))?.settings, {});
  const found = await engine.get(bucket, "small 299");
  assert.ok(found.outcome === "found");
  assert.deepEqual(await collect(found.bytes.chunks()), sampleBytes(299));
  const { uploads } = await engine.listUploads(bucket);
  assert.equal((await engine.listParts(bucket, uploads[0]!)).parts[0]?.number, 3);
  assert.equal(await engine.head(bucket, "absent"), undefined);
  await engine.put(bucket, "new", sampleBytes(10));
  await engine.abortUpload(bucket, uploads[0]!);
  await engine.sweep();
  await engine.close();
  assertNothingLeftOver(directory);
}

test("a directory of schema 1 opens with all its contents and gets an existence index", async (t) => {
  await assertWhole(await firstStore(t));
});

/** SQL that takes a bucket back from each schema to the one before it. */
const undoBlobKeys = "ALTER TABLE blobs DROP COLUMN key";
const undoOutbox = `
  DROP TABLE outbox; DELETE FROM sqlite_sequence WHERE name = 'outbox';
  ALTER TABLE bucket DROP COLUMN notifications; ALTER TABLE bucket DROP COLUMN publication`;
const undoHistory = `
  DROP TABLE history; DELETE FROM sqlite_sequence WHERE name = 'history'; DROP TABLE shared;
  ${["noncurrent", "noncurrent_bytes", "versioning", "objectLock", "lockRules", "tags"]
    .map((name) => `ALTER TABLE bucket DROP COLUMN ${name}`)
    .join("; ")}`;

const undoSettings = ["quota", "policy", "publicAccessBlock", "encryption", "ownership", "region"]
  .map((name) => `ALTER TABLE bucket DROP COLUMN ${name}`)
  .join("; ");

/** Creates a store as in schema 2: without an outbox, and with two settings of a bucket. */
const secondStore = (t: TestContext) =>
  earlierStore(t, 2, [undoSettings, undoHistory, undoBlobKeys, undoOutbox]);
/** Creates a store as in schema 3: blobs have no keys. */
const thirdStore = (t: TestContext) => earlierStore(t, 3, [undoSettings, undoHistory, undoBlobKeys]);
/** Creates a store as in schema 4: without versions. */
const fourthStore = (t: TestContext) => earlierStore(t, 4, [undoSettings, undoHistory]);
/** Creates a store as in schema 5: without quotas and policies. */
const fifthStore = (t: TestContext) => earlierStore(t, 5, [undoSettings]);

async function earlierStore(t: TestContext, schema: number, undo: readonly string[]): Promise<string> {
  const directory = await temporaryDirectory(t);
  const { engine, documents } = await openEngine(directory);
  await engine.createBucket(bucket);
  await engine.createBucket("plain");
  await engine.changeSettings(bucket, { cors });
  await documents.put("kind", "name", "a text", undefined);
  for (let i = 0; i < 300; i++) await engine.put(bucket, `small ${i}`, sampleBytes(i));
  const { id } = await engine.createUpload(bucket, "in flight");
  await engine.uploadPart(bucket, { key: "in flight", id }, 3, sampleBytes(5000));
  await engine.close();
  const layout = dataLayout(directory);
  for (const one of bucketIds(directory).values()) {
    const database = new DatabaseSync(bucketPaths(layout, one).database);
    database.exec(`${undo.join("; ")}; PRAGMA user_version = ${schema}`);
    database.close();
  }
  const registry = new DatabaseSync(layout.registry);
  registry.exec(`PRAGMA user_version = ${schema}`);
  registry.close();
  return directory;
}

const earlierStores = [
  [1, firstStore],
  [2, secondStore],
  [3, thirdStore],
  [4, fourthStore],
  [5, fifthStore],
] as const;

for (const [schema, make] of earlierStores) {
  test(`a migrated directory of schema ${schema} has its objects as null versions once versioning is on`, async (t) => {
    const directory = await make(t);
    const { engine } = await openEngine(directory);
    assert.deepEqual(await engine.totals(bucket), { objects: 300, bytes: 44850, ...noHistory });
    await engine.changeSettings(bucket, { versioning: "on" });
    await engine.put(bucket, "small 299", sampleBytes(7));
    assert.deepEqual((await engine.bucket(bucket))?.settings, { cors, versioning: "on" });
    const earlier = await engine.get(bucket, "small 299", { version: "null" });
    assert.ok(earlier.outcome === "found");
    assert.deepEqual(await collect(earlier.bytes.chunks()), sampleBytes(299));
    const { versions } = await engine.listVersions(bucket, { prefix: "small 299" });
    assert.deepEqual(
      versions.map(({ version }) => version.isVersioned),
      [true, undefined],
    );
    assert.deepEqual((await engine.verify()).damages, []);
    await engine.sweep();
    await engine.close();
    assertNothingLeftOver(directory);
  });

  test(`a migrated directory of schema ${schema} counts its objects for a quota`, async (t) => {
    const { engine } = await openEngine(await make(t));
    await engine.changeSettings(bucket, { quota: { objects: 300 } });
    await assert.rejects(engine.put(bucket, "one more", sampleBytes(1)), { reason: "QuotaExceeded" });
    await engine.delete(bucket, ["small 0"]);
    await engine.put(bucket, "one more", sampleBytes(1));
    await engine.close();
  });

  test(`a migrated directory of schema ${schema} accepts notification rules and stores their events`, async (t) => {
    const directory = await make(t);
    const { engine } = await openEngine(directory);
    const target = { kind: "script", name: "script" } as const;
    const rule = { id: "r", events: ["s3:ObjectCreated:*"], prefix: "", suffix: "", target };
    await engine.changeSettings("plain", { notifications: [rule] });
    await engine.put("plain", "a", sampleBytes(10));
    assert.deepEqual(await engine.countEvents("plain"), [{ rule: "r", count: 1 }]);
    assert.deepEqual(await engine.countEvents(bucket), []);
    await engine.delete("plain", ["a"]);
    await engine.changeSettings("plain", { notifications: undefined });
    await engine.close();
    await assertWhole(directory);
  });
}

test("a migrated directory of schema 5 keeps a policy and a public access block of a bucket", async (t) => {
  const directory = await fifthStore(t);
  const { engine } = await openEngine(directory);
  const publicAccessBlock = {
    blockPublicAcls: true,
    ignorePublicAcls: false,
    blockPublicPolicy: true,
    restrictPublicBuckets: false,
  };
  await engine.changeSettings("plain", { policy: "{}", publicAccessBlock });
  await engine.close();
  const { engine: reopened } = await openEngine(directory);
  assert.deepEqual((await reopened.bucket("plain"))?.settings, { policy: "{}", publicAccessBlock });
  await reopened.changeSettings("plain", { policy: undefined, publicAccessBlock: undefined });
  await reopened.close();
  await assertWhole(directory);
});

test("several processes that open a directory of schema 1 at the same time find all its contents", async (t) => {
  const directory = await firstStore(t);
  await withAgents(directory, 4, async (...agents) => {
    await Promise.all(
      agents.map((agent, i) =>
        Promise.all([
          agent.ask({ do: "head", bucket, key: "small 1" }),
          agent.ask({ do: "put", bucket, key: `of ${i}`, value: { name: "x", size: 10 } }),
        ]),
      ),
    );
  });
  await assertWhole(directory);
});

test("a bucket with a newer schema version is refused with a message that says to use a newer Store", async (t) => {
  const directory = await firstStore(t);
  const path = bucketPaths(dataLayout(directory), bucketIds(directory).get("plain")!).database;
  const database = new DatabaseSync(path);
  database.exec("PRAGMA user_version = 77");
  database.close();
  const { engine } = await openEngine(directory);
  const refused = { message: /has schema version 77, this Store knows 6\. Use a newer Store\./ };
  await assert.rejects(engine.head("plain", "any"), refused);
  assert.equal((await engine.head(bucket, "small 1"))?.size, 1, "other buckets are not affected");
  await engine.close();
});

test("a directory of schema 1 can be backed up before any of its buckets is used", async (t) => {
  const directory = await firstStore(t);
  const { engine } = await openEngine(directory);
  await engine.close();
  const to = await temporaryDirectory(t);
  assert.equal((await backUpStore(directory, to)).objects, 300);
});
