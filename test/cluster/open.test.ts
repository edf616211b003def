// Opening a cluster: the schema version, matching database and blob backend, and invalid URLs.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { migrateCluster, openCluster } from "../../src/cluster/open.ts";
import { parsePostgresUrl } from "../../src/cluster/postgres/url.ts";
import { useCluster } from "./scene.ts";

const cluster = useCluster();

test("concurrent migrations create the schema once", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "store-test-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const location = { records: await cluster.postgres().newDatabase(), blobs: `file://${directory}` };
  await assert.rejects(openCluster(location), /no schema of Store yet.*Run: store migrate/s);
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => migrateCluster(location)));
  assert.deepEqual(outcomes.map(({ from, to }) => `${from}-${to}`).sort(), ["0-6", "6-6", "6-6", "6-6"]);
});

test("open and migrate refuse a schema of a newer Store version", async (t) => {
  const scene = await cluster.scene(t);
  await scene.ask("UPDATE store.version SET number = 999");
  await assert.rejects(openCluster(scene.location), /schema version 999.*Use a newer Store/);
  await assert.rejects(migrateCluster(scene.location), /schema version 999.*Use a newer Store/);
});

test("a database is never used with the blob backend of another store", async (t) => {
  const [one, other] = [await cluster.scene(t), await cluster.scene(t)];
  const mixed = { records: one.location.records, blobs: other.location.blobs };
  await assert.rejects(openCluster(mixed), /belong to different stores/);
  await assert.rejects(migrateCluster(mixed), /belong to different stores/);
});

test("a refused database login is reported immediately, with the reason and without the password", async (t) => {
  const scene = await cluster.scene(t);
  const records = scene.location.records.replace(/\/store_\d+$/, "/nowhere");
  const refused = (error: Error) => {
    assert.match(error.message, /database "nowhere" does not exist/);
    assert.doesNotMatch(String(error.stack), /unused/);
    return true;
  };
  await assert.rejects(openCluster({ ...scene.location, records }), refused);
});

test("the database host that accepts writes is found among several hosts, even if some are unreachable", async (t) => {
  const scene = await cluster.scene(t);
  const records = scene.location.records.replace(
    /@[^/]+\//,
    `@127.0.0.1:1,127.0.0.1:${cluster.postgres().port},localhost:2/`,
  );
  const { records: opened } = await scene.open({}, { records });
  assert.deepEqual(await opened.buckets(), []);
});

test("a database URL is parsed completely, and the error for an invalid URL omits its password", () => {
  const all = "postgres://us%40er:p%3Aw@db1,db2:6000,[::1]:7000/my%2Fdb?sslmode=verify-full";
  assert.deepEqual(parsePostgresUrl(all), {
    hosts: [
      { host: "db1", port: 5432 },
      { host: "db2", port: 6000 },
      { host: "::1", port: 7000 },
    ],
    user: "us@er",
    password: "p:w",
    database: "my/db",
    tls: { rejectUnauthorized: true, checksName: true },
  });
  assert.equal(parsePostgresUrl("postgresql://me@db").database, "me");
  for (const wrong of [
    "",
    "http://me:secret@db/x",
    "postgres://me:secret@/x",
    "postgres://:secret@db/x",
    "postgres://me:secret@db:99999/x",
    "postgres://me:secret@d b:x/x",
    "postgres://me:%zz-secret@db/x",
    "postgres://me:secret@db/x?sslmode=maybe",
    "postgres://me:secret@db/x?application_name=x",
  ]) {
    assert.throws(
      () => parsePostgresUrl(wrong),
      (error: Error) => error instanceof TypeError && !error.message.includes("secret"),
      wrong,
    );
  }
});
