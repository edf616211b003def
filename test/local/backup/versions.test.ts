// A backup contains the bodies of noncurrent versions, and a restore returns the whole history.
import assert from "node:assert/strict";
import { test } from "node:test";
import { backUpStore, restoreStore, verifyBackup } from "../../../src/maintenance.ts";
import { openEngine } from "../../../src/open.ts";
import { collect, sampleBytes } from "../../support/bytes.ts";
import { assertNothingLeftOver } from "../../support/disk/on-disk.ts";
import { openPlaces } from "./scene.ts";

const bucket = "photos";
const sizes = [10, 20_000, 300_000];

test("a restored store has every version with its body, delete markers and shared bodies", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  const { engine } = await openEngine(data);
  await engine.createBucket(bucket);
  await engine.changeSettings(bucket, { versioning: "on" });
  for (const size of sizes) await engine.put(bucket, `key ${size}`, sampleBytes(size));
  const { id } = await engine.createUpload(bucket, "parts");
  const part = await engine.uploadPart(bucket, { key: "parts", id }, 1, sampleBytes(9000));
  await engine.completeUpload(bucket, { key: "parts", id }, [part]);
  const time = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 5));
  for (const size of sizes) await engine.put(bucket, `key ${size}`, sampleBytes(size + 1));
  await engine.delete(bucket, ["parts"]);
  await engine.restorePage(bucket, { time });
  const before = await engine.listVersions(bucket);
  assert.equal(before.versions.length, 12);
  await engine.close();

  const report = await backUpStore(data, backup);
  assert.deepEqual([report.objects, report.files], [4, 5], "a shared body is copied once");
  assert.deepEqual((await verifyBackup(backup)).damages, []);
  await restoreStore(backup, restored);
  const { engine: again } = await openEngine(restored);
  assert.deepEqual(await again.listVersions(bucket), before);
  assert.deepEqual((await again.verify()).damages, []);
  for (const { version } of before.versions) {
    if ("isDeleteMarker" in version) continue;
    const found = await again.get(bucket, version.key, { version: version.version });
    assert.ok(found.outcome === "found");
    assert.deepEqual(await collect(found.bytes.chunks()), sampleBytes(version.size));
  }
  await again.sweep();
  await again.close();
  assertNothingLeftOver(restored);
});
