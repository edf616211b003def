// Damage in the columns and indexes of the history that records do not cover.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { DatabaseSync } from "@photostructure/sqlite";
import { createEngine } from "../../../src/engine/create.ts";
import type { Damage } from "../../../src/engine/maintenance/reports.ts";
import { wireChange } from "../../../src/local/commit/change.ts";
import { bucketPaths, dataLayout } from "../../../src/local/disk/layout.ts";
import { openLocal } from "../../../src/local/open.ts";
import { bucketIds } from "../../support/disk/on-disk.ts";

test("a damaged time at which a version was replaced is reported, and lifecycle rules keep the version", async () => {
  const directory = await mkdtemp(join(tmpdir(), "store-history-"));
  const { records, blobs } = await openLocal(directory);
  const engine = createEngine({ records, blobs });
  try {
    await engine.createBucket("bucket");
    const lifecycle = [{ id: "r", isEnabled: true, prefix: "", expireNoncurrent: { days: 1 } }];
    await engine.changeSettings("bucket", { versioning: "on", lifecycle });
    await engine.put("bucket", "key", Buffer.from("old"));
    await engine.put("bucket", "key", Buffer.from("new"));
    const { database } = bucketPaths(dataLayout(directory), bucketIds(directory).get("bucket")!);
    const opened = new DatabaseSync(database, { timeout: 5000 });
    opened.exec("UPDATE history SET until = 0");
    await assert.rejects(engine.listVersions("bucket"), /damaged/);
    await assert.rejects(engine.sweep(), /damaged/);
    assert.equal(opened.prepare("SELECT count(*) AS n FROM history").get()?.n, 1);
    opened.close();
    const { damages } = await engine.verify();
    assert.deepEqual([...new Set(damages.map(({ key }) => key))], ["key"]);
  } finally {
    await engine.close();
    await rm(directory, { recursive: true, force: true });
  }
});

test("a delete marker that damage hides in the index of keys is reported, and not read as absent", async () => {
  const directory = await mkdtemp(join(tmpdir(), "store-history-"));
  const first = createEngine(await openLocal(directory));
  await first.createBucket("bucket");
  await first.changeSettings("bucket", { versioning: "on" });
  await first.put("bucket", "key", Buffer.from("old"));
  await first.delete("bucket", ["key"]);
  await first.close();
  const { database } = bucketPaths(dataLayout(directory), bucketIds(directory).get("bucket")!);
  const opened = new DatabaseSync(database, { defensive: false });
  // The index now has the pages of an empty one, as after a flipped bit in the type of its root page.
  opened.exec("CREATE TABLE other (x); CREATE INDEX other_x ON other (x); PRAGMA writable_schema = ON");
  opened.exec(
    "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'other_x') " +
      "WHERE name = 'history_key'",
  );
  opened.close();
  const engine = createEngine(await openLocal(directory));
  try {
    await assert.rejects(engine.get("bucket", "key"), /damaged: the index of the versions of "key"/);
    assert.deepEqual(await engine.get("bucket", "another"), { outcome: "missing" });
    const found: Damage[] = [];
    await engine.scrub({ onDamage: (damage) => found.push(damage), bytesPerSecond: 1e12 });
    assert.deepEqual([...new Set(found.map(({ key }) => key))], ["key"]);
  } finally {
    await engine.close();
    await rm(directory, { recursive: true, force: true });
  }
});

test("verify and the scrub report a bucket whose schema is damaged, also if no key can be named", async () => {
  const directory = await mkdtemp(join(tmpdir(), "store-history-"));
  const first = createEngine(await openLocal(directory));
  await first.createBucket("bucket");
  await first.close();
  const { database } = bucketPaths(dataLayout(directory), bucketIds(directory).get("bucket")!);
  const opened = new DatabaseSync(database);
  opened.exec("ALTER TABLE objects RENAME COLUMN record TO rexord");
  opened.close();
  const engine = createEngine(await openLocal(directory));
  try {
    await assert.rejects(engine.get("bucket", "key"), /damaged: the records of bucket "bucket"/);
    const found: Damage[] = [];
    await engine.scrub({ onDamage: (damage) => found.push(damage), bytesPerSecond: 1e12 });
    for (const damages of [found, (await engine.verify()).damages]) {
      assert.ok(damages.some(({ bucket, key }) => bucket === "bucket" && key === undefined));
    }
  } finally {
    await engine.close();
    await rm(directory, { recursive: true, force: true });
  }
});

test("the removal of a version and its event may use the space reserve of a full disk", () => {
  const removal = { kind: "delete version", key: "key", version: "v" } as const;
  const event = { kind: "append event", rules: ["r"], event: "removed" } as const;
  assert.equal(wireChange({ mutations: [removal, event] }).onlyFreesSpace, true);
  const marker = { isDeleteMarker: true, key: "key", version: "w", uploaded: 1 } as const;
  assert.equal(wireChange({ mutations: [{ kind: "put marker", marker }, event] }).onlyFreesSpace, false);
});
