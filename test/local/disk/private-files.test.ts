// Only the owner can read the files that Store writes, including databases, whatever the umask is.
import assert from "node:assert/strict";
import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openStore } from "../../../src/index.ts";
import { bucketPaths, dataLayout } from "../../../src/local/disk/layout.ts";
import { backUpStore, restoreStore } from "../../../src/maintenance.ts";
import { openEngine } from "../../../src/open.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { bucketIds } from "../../support/disk/on-disk.ts";
import { fillStore, openPlaces } from "../backup/scene.ts";

function withoutUmask(t: TestContext): void {
  const before = process.umask(0);
  t.after(() => process.umask(before));
}

interface Entry {
  readonly path: string;
  readonly isFolder: boolean;
  readonly mode: string;
}

/** Returns the folder and all entries below it. */
function everything(root: string): Entry[] {
  const below = readdirSync(root, { recursive: true, encoding: "utf8" }).map((name) => join(root, name));
  return [root, ...below].map((path) => {
    const found = lstatSync(path);
    return { path, isFolder: found.isDirectory(), mode: (found.mode & 0o777).toString(8) };
  });
}

function assertPrivate(root: string): void {
  const wrong = everything(root).filter(({ isFolder, mode }) => mode !== (isFolder ? "700" : "600"));
  assert.deepEqual(wrong, [], "all files are 0600 and all folders 0700");
}

test("only the owner can read the files of a data directory in use", async (t) => {
  withoutUmask(t);
  const { data } = await openPlaces(t);
  await fillStore(data);
  const { engine, commitForOthers, auditLog: acts } = await openEngine(data);
  await commitForOthers();
  await acts.record({
    time: new Date(0).toISOString(),
    act: "create bucket",
    subject: "b",
    by: { face: "command line", name: "n" },
  });
  for (const size of [10, 16_000, 300_000]) await engine.put("photos", `of ${size}`, sampleBytes(size));
  assertPrivate(data);
  const names = everything(data).map(({ path }) => path);
  for (const expected of [
    /records\.db-wal$/,
    /registry\.db-shm$/,
    /segments\/\w+$/,
    /\.lock$/,
    /writer-4$/,
    /reserve$/,
  ])
    assert.ok(
      names.some((name) => expected.test(name)),
      `${expected} is among what was looked at`,
    );
  await engine.close();
  assertPrivate(data);
});

test("only the owner can read a backup and the directory restored from it", async (t) => {
  withoutUmask(t);
  const { data, backup, restored } = await openPlaces(t);
  await fillStore(data);
  await backUpStore(data, backup, { companions: ["secret.key"] });
  assertPrivate(backup);
  await restoreStore(backup, restored);
  assertPrivate(restored);
  for (const { path, isFolder } of everything(backup)) chmodSync(path, isFolder ? 0o755 : 0o644);
  await backUpStore(data, backup);
  assert.equal(lstatSync(backup).mode & 0o777, 0o700);
});

test("opening a data directory of an earlier Store version removes the permissions of other users", async (t) => {
  withoutUmask(t);
  const { data } = await openPlaces(t);
  await fillStore(data);
  for (const { path, isFolder } of everything(data)) chmodSync(path, isFolder ? 0o755 : 0o644);
  chmodSync(join(data, "secret.key"), 0o600);
  const store = await openStore(data);
  await store.bucket("photos").head("small");
  await store.bucket("photos").put("new", "a few bytes");
  const layout = dataLayout(data);
  const { directory, database, blobs, segments, open, pins } = bucketPaths(
    layout,
    bucketIds(data).get("photos")!,
  );
  const { root, registry, processes, buckets, trash, reserve } = layout;
  const folders = [root, processes, buckets, trash, directory, blobs, segments, open, pins];
  const files = [
    registry,
    `${registry}-wal`,
    `${registry}-shm`,
    reserve,
    database,
    `${database}-wal`,
    `${database}-shm`,
  ];
  for (const path of folders) assert.equal(lstatSync(path).mode & 0o777, 0o700, path);
  for (const path of files) assert.equal(lstatSync(path).mode & 0o777, 0o600, path);
  await store.close();
});
