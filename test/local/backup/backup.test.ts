// A backup contains all data of a store, a second backup copies only new files, and a restore
// returns every byte.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openStore } from "../../../src/index.ts";
import { backUpStore, restoreStore, verifyBackup } from "../../../src/maintenance.ts";
import { BackupError } from "../../../src/model/backup.ts";
import { filesIn } from "../../cli/store.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { assertNothingLeftOver, blobFiles } from "../../support/disk/on-disk.ts";
import { everythingIn, fillStore, openPlaces } from "./scene.ts";

const companions = ["secret.key"];

test("a restore brings back objects, metadata, uploads, settings, documents and the secret key", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  const { upload } = await fillStore(data);
  const expected = await everythingIn(data);
  const report = await backUpStore(data, backup, { companions });
  const { buckets, objects, files, copiedFiles } = report;
  assert.deepEqual(
    { buckets, objects, files, copiedFiles, companions: report.companions },
    { buckets: 2, objects: 5, files: 6, copiedFiles: 6, companions },
  );
  assert.deepEqual((await verifyBackup(backup)).damages, []);
  assert.deepEqual((await restoreStore(backup, restored)).objects, 5);
  assert.deepEqual(await everythingIn(restored), expected);
  for (const { id, path } of blobFiles(data)) {
    const copy = blobFiles(restored).find((blob) => blob.id === id);
    assert.deepEqual(await readFile(copy!.path), await readFile(path), id);
  }
  const key = join(restored, "secret.key");
  assert.deepEqual(await readFile(key), await readFile(join(data, "secret.key")));
  assert.equal(statSync(key).mode & 0o777, 0o600);

  const store = await openStore(restored);
  const resumed = store.bucket("photos").resumeMultipartUpload(upload.key, upload.id);
  const last = await resumed.uploadPart(2, "the end");
  const object = await resumed.complete([{ partNumber: 1, etag: upload.etag }, last]);
  assert.deepEqual([object.size, object.customMetadata], [100_007, { still: "coming" }]);
  await store.close();
});

test("a restored store accepts writes and sweeps, and leaves no orphans", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  const store = await openStore(data);
  await store.createBucket("bucket");
  const bucket = store.bucket("bucket");
  for (let i = 0; i < 20; i++) await bucket.put(`key ${i % 5}`, sampleBytes(10_000 + i));
  await backUpStore(data, backup);
  await store.close();
  await restoreStore(backup, restored);
  const again = await openStore(restored);
  await again.bucket("bucket").put("key 0", sampleBytes(50_000));
  await again.bucket("bucket").delete(["key 1", "key 2"]);
  await again.sweep();
  assert.equal((await again.bucket("bucket").list()).objects.length, 3);
  await again.close();
  assertNothingLeftOver(restored);
});

test("a second backup into the same folder copies new objects and removes deleted ones", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  const store = await openStore(data);
  for (const name of ["kept", "dropped"]) {
    await store.createBucket(name);
    for (const key of ["a", "b", "c"]) await store.bucket(name).put(key, sampleBytes(20_000));
  }
  assert.equal((await backUpStore(data, backup)).copiedFiles, 6);
  const before = await filesIn(join(backup, "blobs"));
  const nothing = await backUpStore(data, backup);
  assert.deepEqual([nothing.files, nothing.copiedFiles, nothing.copiedBytes], [6, 0, 0]);
  assert.deepEqual(await filesIn(join(backup, "blobs")), before);

  await store.bucket("kept").put("b", sampleBytes(30_000));
  await store.bucket("kept").delete("c");
  await store.bucket("dropped").delete(["a", "b", "c"]);
  await store.deleteBucket("dropped");
  await store.sweep();
  const { files, copiedFiles, copiedBytes } = await backUpStore(data, backup);
  assert.deepEqual([files, copiedFiles, copiedBytes], [2, 1, 30_000]);
  await store.close();
  assert.equal(readdirSync(join(backup, "snapshots")).length, 1);
  const left = Object.values(await filesIn(join(backup, "blobs"))).filter((hash) => hash !== "folder");
  assert.equal(left.length, 2, "files of deleted bodies are removed");
  await restoreStore(backup, restored);
  assert.deepEqual(await everythingIn(restored), await everythingIn(data));
});

test("a backup into the data directory, a folder with other files or another store's backup is refused", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  await fillStore(data);
  const refused = async (to: string, why: RegExp) =>
    assert.rejects(backUpStore(data, to), (error) => error instanceof BackupError && why.test(error.message));
  await refused(join(data, "backup"), /contains the data directory or is inside it/);
  await refused(join(data, ".."), /contains the data directory or is inside it/);
  const link = `${backup}-link`;
  await symlink(data, link);
  await refused(join(link, "deeper", "still"), /contains the data directory or is inside it/);
  assert.ok(!existsSync(join(data, "backup")) && !existsSync(join(data, "deeper")), "nothing is created");
  mkdirSync(backup);
  writeFileSync(join(backup, "letter.txt"), "mine");
  await refused(backup, /contains other files, such as "letter\.txt"/);

  await fillStore(restored);
  await backUpStore(restored, `${backup}-other`);
  const before = await filesIn(`${backup}-other`);
  await refused(`${backup}-other`, /the backup of another store/);
  assert.deepEqual(await filesIn(`${backup}-other`), before);
});

test("a restore into a directory that is not empty, or from a folder without a backup, is refused", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  await fillStore(data);
  const refused = (from: string, to: string, why: RegExp) =>
    assert.rejects(
      restoreStore(from, to),
      (error) => error instanceof BackupError && why.test(error.message),
    );
  await refused(backup, restored, /There is no backup at/);
  mkdirSync(backup);
  await refused(backup, restored, /There is no backup at/);
  assert.deepEqual(readdirSync(backup), [], "the refused restore leaves no file");
  await backUpStore(data, backup);
  await refused(backup, data, /is not empty/);
  assert.ok(!existsSync(join(data, "restore.unfinished")));
  mkdirSync(restored);
  await restoreStore(backup, restored);
  await refused(backup, restored, /is not empty/);
});

test("a backup in use refuses a second backup and a restore", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  await fillStore(data);
  await backUpStore(data, backup);
  let seen: unknown;
  const progress = { expect() {}, advance: () => {} };
  const tried = (work: Promise<unknown>) => work.catch((error: unknown) => error);
  await backUpStore(data, backup, {
    progress: {
      ...progress,
      expect: () => {
        seen = Promise.all([tried(backUpStore(data, backup)), tried(restoreStore(backup, restored))]);
      },
    },
  });
  for (const error of (await seen) as unknown[]) {
    assert.ok(error instanceof BackupError);
    assert.match(error.message, /Another process is using the backup/);
  }
  await restoreStore(backup, restored);
});
