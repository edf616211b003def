// A killed backup or restore is never treated as complete: it is refused, or resumed where it
// stopped.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openStore } from "../../../src/index.ts";
import { backUpStore, restoreStore, verifyBackup } from "../../../src/maintenance.ts";
import { BackupError } from "../../../src/model/backup.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { seeded } from "../../support/random.ts";
import { runStore } from "./command.ts";
import { everythingIn, fillStore, openPlaces } from "./scene.ts";

/** Stores enough files that the kill happens while files are copied. */
async function fillMany(data: string): Promise<void> {
  await fillStore(data);
  const store = await openStore(data);
  const keys = Array.from({ length: 300 }, (_, i) => `many/${i}`);
  await Promise.all(keys.map((key, i) => store.bucket("photos").put(key, sampleBytes(20_000 + i))));
  await store.close();
}

test("after kill -9 of a backup the previous backup can be restored, and the next run completes", async (t) => {
  await seeded(async (random) => {
    const { data, backup, restored } = await openPlaces(t);
    await fillMany(data);
    const whole = await runStore(["backup", "--data", data, "--to", `${backup}-whole`]);
    assert.equal(whole.code, 0, whole.stderr);
    const outcomes = new Set<string>();
    let made: number | undefined;
    for (let kill = 0; kill < 5; kill++) {
      const after = random.between(1, whole.milliseconds);
      const { code } = await runStore(["backup", "--data", data, "--to", backup], after);
      const found = await verifyBackup(backup).catch((error: unknown) => error);
      if (found instanceof BackupError) {
        assert.equal(made, undefined, "a complete backup stays complete");
        assert.notEqual(code, 0, found.message);
        assert.match(found.message, /never finished|There is no backup at/);
        outcomes.add("refused");
      } else {
        const report = found as Awaited<ReturnType<typeof verifyBackup>>;
        assert.deepEqual(report.damages, []);
        assert.ok(made === undefined || report.made >= made);
        made = report.made;
        outcomes.add("whole");
      }
    }
    t.diagnostic(`after the kills: ${[...outcomes].join(", ")}`);
    const { files, copiedFiles } = await backUpStore(data, backup);
    assert.equal(files, 306);
    if (outcomes.has("whole")) assert.equal(copiedFiles, 0, "existing files are not copied again");
    assert.equal(readdirSync(join(backup, "snapshots")).length, 1, "files of the killed runs are removed");
    await restoreStore(backup, restored);
    assert.deepEqual(await everythingIn(restored), await everythingIn(data));
  });
});

test("after kill -9 of a restore its directory cannot be opened until the same command completes it", async (t) => {
  await seeded(async (random) => {
    const { data, backup, restored } = await openPlaces(t);
    await fillMany(data);
    await backUpStore(data, backup);
    const args = ["restore", "--from", backup, "--data", restored];
    const { milliseconds } = await runStore([...args.slice(0, 3), "--data", `${restored}-whole`]);
    let killed = 0;
    for (let kill = 0; kill < 5; kill++) {
      const { code } = await runStore(args, random.between(milliseconds >> 2, milliseconds));
      if (code === 0) break;
      // The process was killed before the restore started or after it completed.
      if (!existsSync(join(restored, "restore.unfinished"))) continue;
      killed++;
      await assert.rejects(openStore(restored), /was not finished/);
      const { code: refused, stderr } = await runStore(["bucket", "create", "other", "--data", restored]);
      assert.equal(refused, 1);
      assert.match(stderr, /is not complete/);
    }
    t.diagnostic(`killed in the middle ${killed} times`);
    if (existsSync(join(restored, "restore.unfinished")) || !existsSync(restored))
      await restoreStore(backup, restored);
    assert.deepEqual(await everythingIn(restored), await everythingIn(data));
  });
});

test("an interrupted restore can be resumed only from the same backup", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  await fillMany(data);
  await backUpStore(data, backup);
  const stop = new AbortController();
  let bytes = 0;
  const progress = {
    expect() {},
    advance(count: number) {
      bytes += count;
      if (bytes > 2_000_000) stop.abort(new Error("stopped"));
    },
  };
  await assert.rejects(restoreStore(backup, restored, { progress, signal: stop.signal }), /stopped/);
  assert.ok(existsSync(join(restored, "restore.unfinished")));
  await backUpStore(data, backup);
  await assert.rejects(
    restoreStore(backup, restored),
    (error) => error instanceof BackupError && /a restore of another backup/.test(error.message),
  );
});
