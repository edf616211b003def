// A backup while several processes write contains a consistent snapshot of each bucket.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openStore } from "../../../src/index.ts";
import { backUpStore, restoreStore, verifyBackup } from "../../../src/maintenance.ts";
import { program } from "../../cli/store.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { assertNothingLeftOver, blobFiles } from "../../support/disk/on-disk.ts";
import { assertCopy, whileWriting } from "./churn.ts";
import { openPlaces } from "./scene.ts";

test("a backup while several processes write contains a consistent snapshot of each bucket", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  await whileWriting(data, 3, async (churn) => {
    for (const round of [1, 2, 3]) {
      const before = await churn.progress();
      await backUpStore(data, backup);
      const after = await churn.progress();
      const target = `${restored}-${round}`;
      await restoreStore(backup, target);
      assert.notEqual(await assertCopy(target, before, after), 0);
    }
  });
});

test("deleted bodies of a bucket being backed up are removed only after the backup", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  const store = await openStore(data);
  await store.createBucket("bucket");
  const bucket = store.bucket("bucket");
  const keys = Array.from({ length: 40 }, (_, i) => `key ${i}`);
  for (const key of keys) await bucket.put(key, sampleBytes(20_000));
  const upload = await bucket.createMultipartUpload("parts");
  await upload.complete([await upload.uploadPart(1, sampleBytes(9000)), await upload.uploadPart(2, "end")]);
  let swept: Promise<unknown> | undefined;
  const progress = {
    expect() {},
    // Deletes all objects when the first body is copied.
    advance(bytes: number) {
      if (bytes > 0) swept ??= bucket.delete([...keys, "parts"]).then(() => store.sweep());
    },
  };
  const { files, copiedFiles } = await backUpStore(data, backup, { progress });
  assert.deepEqual([files, copiedFiles], [42, 42]);
  await swept;
  // Depending on when the delete ended, this sweep or an earlier one removes the bodies.
  await store.sweep();
  assert.deepEqual(blobFiles(data), [], "the bodies are removed after the backup");
  await store.close();
  await restoreStore(backup, restored);
  const copy = await openStore(restored);
  assert.equal((await copy.bucket("bucket").list()).objects.length, 41);
  await copy.close();
});

test("a bucket that is created and deleted during a backup is not in it", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  const store = await openStore(data);
  await store.createBucket("first");
  await store.bucket("first").put("body", sampleBytes(10_000));
  await store.close();
  const body = `${data}-body`;
  writeFileSync(body, sampleBytes(20_000));
  const run = (...args: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, [program, ...args, "--data", data]);
    assert.equal(status, 0, String(stderr));
  };
  // While "first" is copied, create two buckets. While "late-a" is copied, delete "late-b".
  const moments = new Map<number, () => void>([
    [
      10_000,
      () => {
        for (const name of ["late-a", "late-b"]) run("bucket", "create", name);
        run("object", "put", "late-a/body", body);
      },
    ],
    [20_000, () => run("bucket", "delete", "late-b")],
  ]);
  const advance = (bytes: number) => {
    moments.get(bytes)?.();
    moments.delete(bytes);
  };
  const { buckets } = await backUpStore(data, backup, { progress: { expect() {}, advance } });
  assert.deepEqual([moments.size, buckets], [0, 2]);
  assert.deepEqual((await verifyBackup(backup)).damages, []);
  await restoreStore(backup, restored);
  const copy = await openStore(restored);
  const names = (await copy.listBuckets()).map(({ name }) => name);
  assert.deepEqual(names, ["first", "late-a"]);
  await copy.close();
  assertNothingLeftOver(restored);
});

test("a bucket that is deleted while it is copied is not in the backup and leaves no files", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  const store = await openStore(data);
  for (const name of ["first", "second"]) {
    await store.createBucket(name);
    await store.bucket(name).put("large", sampleBytes(20_000));
  }
  let deleted: Promise<void> | undefined;
  const deleteAll = async () => {
    for (const name of ["first", "second"]) {
      await store.bucket(name).delete("large");
      await store.deleteBucket(name);
    }
    await store.createBucket("third");
    await store.bucket("third").put("new", "bucket");
  };
  const progress = {
    expect() {},
    advance(bytes: number) {
      if (bytes > 0) deleted ??= deleteAll();
    },
  };
  await backUpStore(data, backup, { progress });
  await deleted;
  await store.sweep();
  await store.close();
  assert.deepEqual(readdirSync(join(data, "trash")), []);
  await restoreStore(backup, restored);
  const copy = await openStore(restored);
  for (const { name } of await copy.listBuckets()) await copy.bucket(name).list();
  await copy.sweep();
  await copy.close();
  assertNothingLeftOver(restored);
});
