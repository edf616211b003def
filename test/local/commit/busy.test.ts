// A put that fails because another process keeps the database locked leaves no file.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { DatabaseSync } from "@photostructure/sqlite";
import { createEngine } from "../../../src/engine/create.ts";
import { defaultSizes } from "../../../src/local/blobs.ts";
import { bucketPaths, dataLayout } from "../../../src/local/disk/layout.ts";
import { openLocal } from "../../../src/local/open.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { bucketIds } from "../../support/disk/on-disk.ts";
import { temporaryDirectory } from "../../support/stores.ts";

async function openBusy(t: TestContext) {
  const directory = await temporaryDirectory(t);
  const engine = createEngine(await openLocal(directory, defaultSizes, undefined, 50));
  t.after(() => engine.close());
  await engine.createBucket("photos");
  const paths = bucketPaths(dataLayout(directory), bucketIds(directory).get("photos")!);
  const other = new DatabaseSync(paths.database);
  t.after(() => other.close());
  return { engine, paths, other };
}

async function eventually(holds: () => boolean, what: string): Promise<void> {
  const end = Date.now() + 30_000;
  while (!holds()) {
    assert.ok(Date.now() < end, what);
    await pause(10);
  }
}

const busy = { reason: "ServiceUnavailable", isNotDone: true, message: /locked for too long/ };

test("a put that fails because the database is locked removes its file immediately", async (t) => {
  const { engine, paths, other } = await openBusy(t);
  const files = () =>
    readdirSync(paths.blobs, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  await engine.put("photos", "kept", sampleBytes(300_000));
  other.exec("BEGIN IMMEDIATE");
  await assert.rejects(engine.put("photos", "refused", sampleBytes(300_000)), busy);
  await eventually(() => files().length === 1, "only the file of the put that was committed is there");
  other.exec("ROLLBACK");
  assert.equal((await engine.head("photos", "refused")) === undefined, true);
  assert.equal((await engine.head("photos", "kept"))?.size, 300_000);
});

test("a segment whose puts all failed because the database was locked is removed", async (t) => {
  const { engine, paths, other } = await openBusy(t);
  other.exec("BEGIN IMMEDIATE");
  const puts = [1, 2, 3].map((number) => engine.put("photos", `refused ${number}`, sampleBytes(16_000)));
  for (const put of puts) await assert.rejects(put, busy);
  other.exec("ROLLBACK");
  await engine.sweep();
  await eventually(() => readdirSync(paths.segments).length === 0, "no segment is left");
  await eventually(() => readdirSync(paths.open).length === 0, "no marker is left for recovery");
});
