// A backup on an S3 service and its restore. The slow tests next to this file have the other cases.
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import {
  backUpStoreOffsite,
  readLastBackup,
  restoreStoreOffsite,
  verifyBackupOffsite,
} from "../../../src/maintenance.ts";
import { everythingIn } from "../backup/scene.ts";
import { openOffsiteScene } from "./scene.ts";

test("a backup on an S3 service is restored with everything, and verified", async (t) => {
  const { data, restored, to } = await openOffsiteScene(t);
  const report = await backUpStoreOffsite(data, to, { companions: ["secret.key"] });
  assert.equal(report.files, report.copiedFiles);
  assert.equal(report.keptBackups, 1);
  const { damages } = await verifyBackupOffsite(to);
  assert.deepEqual(damages, []);
  await restoreStoreOffsite(to, restored, { keyCompanion: "secret.key" });
  assert.deepEqual(await everythingIn(restored), await everythingIn(data));
  assert.deepEqual(
    (await readdir(restored)).filter((name) => name.startsWith("restore.")),
    [],
  );
  const last = await readLastBackup(data);
  assert.equal(last?.time, report.made);
  assert.match(last.to, /^s3:\/\/127\.0\.0\.1:\d+\/shelf\/store$/);
});
