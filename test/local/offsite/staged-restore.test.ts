// A backup on its way to a cluster: what is resumed, restarted and refused.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { backUpStore, restoreStore, stageBackup } from "../../../src/maintenance.ts";
import type { StagedSource } from "../../../src/model/backup.ts";
import { openEngine } from "../../../src/open.ts";
import { temporaryDirectory } from "../../support/stores.ts";

test("a staged backup is resumed, restarted or refused, and removed at the end", async (t) => {
  const root = await temporaryDirectory(t);
  const { engine } = await openEngine(join(root, "store"));
  await engine.createBucket("photos");
  await engine.close();
  const from = join(root, "backup");
  await backUpStore(join(root, "store"), from);
  const folder = join(root, "staging");
  const record = join(folder, "restore.json");
  let restores = 0;
  const stage = (source: StagedSource = { from }) =>
    stageBackup(folder, source, {
      check: async () => {},
      restore(directory) {
        restores++;
        return restoreStore(from, directory);
      },
    });
  const refused = stageBackup(
    folder,
    { from },
    { check: () => Promise.reject(new Error("full")), restore: (directory) => restoreStore(from, directory) },
  );
  await assert.rejects(refused, /full/);
  assert.ok(!existsSync(folder), "a refused target leaves no trace");

  const first = await stage();
  assert.equal(first.report?.buckets, 1);
  const again = await stage();
  assert.deepEqual([again.report, again.made, restores], [undefined, first.made, 1]);
  await assert.rejects(stage({ from: "elsewhere" }), /beginning of a restore from .*backup/);
  await assert.rejects(stage({ from, at: first.made - 1 }), /another backup/);

  // Killed after the restore and before its record was completed.
  await writeFile(record, JSON.stringify({ from }));
  assert.equal((await stage()).report?.buckets, 1);
  assert.equal(restores, 2);

  const valid = await readFile(record, "utf8");
  for (const text of ["", "{", "[]", '{"from":1}', JSON.stringify({ from, made: -1 })]) {
    await writeFile(record, text);
    await assert.rejects(stage(), /is not empty: it holds "data"/, text);
  }
  await writeFile(record, valid);
  await writeFile(join(first.data, "secret.key"), "key");
  const { remove } = await stage();
  assert.deepEqual(await remove("secret.key"), { keptFile: join(folder, "secret.key") });
  assert.deepEqual(await readdir(folder), ["secret.key"]);
  await assert.rejects(stage(), /is not empty: it holds "secret.key"/);
});
