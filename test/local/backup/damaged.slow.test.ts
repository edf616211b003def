// Damage is never backed up or restored silently: the backup of a damaged store is not completed,
// and a damaged backup is refused with the names of the damaged files.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { cp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DatabaseSync } from "@photostructure/sqlite";
import { openStore } from "../../../src/index.ts";
import { bucketPaths, dataLayout } from "../../../src/local/disk/layout.ts";
import { backUpStore, restoreStore, verifyBackup } from "../../../src/maintenance.ts";
import { BackupError } from "../../../src/model/backup.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { blobFiles, bucketIds } from "../../support/disk/on-disk.ts";
import { everythingIn, fillStore, openPlaces } from "./scene.ts";

async function flip(path: string, at: number): Promise<void> {
  const bytes = await readFile(path);
  bytes[at < 0 ? bytes.length + at : at]! ^= 4;
  await writeFile(path, bytes);
}

/** Returns all files of the folder except the lock. */
function filesOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "lock")
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

test("the backup of a damaged store fails, names the damaged objects, and keeps the previous backup", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  const store = await openStore(data);
  await store.createBucket("photos");
  const photos = store.bucket("photos");
  await photos.put("good", sampleBytes(20_000));
  await backUpStore(data, backup);
  const expected = await everythingIn(data);
  await photos.put("flipped", sampleBytes(30_000));
  await photos.put("missing", sampleBytes(300_000));
  await store.close();
  const sized = (size: number, blocks: number) => {
    const found = blobFiles(data).find(({ length }) => length === size + blocks * 4);
    assert.ok(found !== undefined, `there is a blob of ${size} bytes`);
    return found;
  };
  const flipped = sized(30_000, 1);
  await flip(flipped.path, flipped.start + 12_345);
  await rm(sized(300_000, 5).path);

  await assert.rejects(backUpStore(data, backup), (error) => {
    assert.ok(error instanceof BackupError);
    assert.match(error.message, /The store itself is damaged/);
    assert.match(error.hints.join("\n"), /^"photos\/flipped": .*block 0/m);
    assert.match(error.hints.join("\n"), /^"photos\/missing": .*is missing/m);
    assert.doesNotMatch(error.hints.join("\n"), /good/);
    return true;
  });
  assert.deepEqual((await verifyBackup(backup)).damages, []);
  await restoreStore(backup, restored);
  assert.deepEqual(await everythingIn(restored), expected);

  const again = await openStore(data);
  await again.bucket("photos").delete(["flipped", "missing"]);
  await again.close();
  assert.equal((await backUpStore(data, backup)).objects, 1);
});

test("a backup fails if a record is missing from the index", async (t) => {
  const { data, backup } = await openPlaces(t);
  const store = await openStore(data);
  await store.createBucket("photos");
  for (const key of ["kept", "lost"]) await store.bucket("photos").put(key, sampleBytes(20_000));
  await store.close();
  await backUpStore(data, backup);
  const { database: path } = bucketPaths(dataLayout(data), bucketIds(data).get("photos")!);
  const database = new DatabaseSync(path);
  database.exec("DELETE FROM objects WHERE key = CAST('lost' AS BLOB); UPDATE bucket SET objects = 1");
  database.close();
  await assert.rejects(backUpStore(data, backup), (error) => {
    assert.ok(error instanceof BackupError);
    assert.match(error.hints.join("\n"), /^"photos\/lost": /m);
    return true;
  });
  assert.equal((await verifyBackup(backup)).objects, 2);
});

test("a backup with a changed, truncated or missing file is refused with the name of the file", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  await fillStore(data);
  await backUpStore(data, backup, { companions: ["secret.key"] });
  const files = filesOf(backup);
  assert.ok(files.length >= 11, files.join("\n"));
  const damages: readonly ((path: string) => Promise<void>)[] = [
    (path) => flip(path, 0),
    (path) => flip(path, -1),
    (path) => flip(path, 40),
    (path) => truncate(path, 30),
    (path) => rm(path),
  ];
  for (const [i, file] of files.entries()) {
    for (const [j, damage] of damages.entries()) {
      const copy = `${backup}-damaged`;
      await cp(backup, copy, { recursive: true });
      const path = join(copy, file.slice(backup.length + 1));
      await damage(path);
      const output = await verifyBackup(copy).then(
        ({ damages }) => damages.map(({ what }) => what).join("\n"),
        (error: unknown) => {
          assert.ok(error instanceof BackupError, `${path}: ${String(error)}`);
          return error.message;
        },
      );
      const isManifestGone = file.endsWith("manifest.json") && j === damages.length - 1;
      assert.ok(isManifestGone ? /never finished/.test(output) : output.includes(path), `${path}: ${output}`);
      const target = `${restored}-${i}-${j}`;
      await assert.rejects(restoreStore(copy, target), BackupError, path);
      if (existsSync(target)) await assert.rejects(openStore(target), /was not finished/);
      await rm(copy, { recursive: true });
    }
  }
});

test("after a damaged file of a backup is removed, the next backup copies it again", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  await fillStore(data);
  await backUpStore(data, backup);
  const [blob] = filesOf(join(backup, "blobs"));
  await flip(blob!, 100);
  const { damages } = await verifyBackup(backup);
  assert.equal(damages.length, 1);
  assert.match(damages[0]!.what, /^"photos\/.*block 0/);
  await rm(blob!);
  assert.equal((await backUpStore(data, backup)).copiedFiles, 1);
  await restoreStore(backup, restored);
  assert.deepEqual(await everythingIn(restored), await everythingIn(data));
});
