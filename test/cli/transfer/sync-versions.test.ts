// `store sync` into a bucket with versions or lock rules.
import assert from "node:assert/strict";
import { realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { newSyncCounts, sync, type TransferEvent } from "../../../src/cli/transfer/sync/sync.ts";
import { StoreError } from "../../../src/model/errors.ts";
import type { LockRule } from "../../../src/model/lock.ts";
import { openEngine } from "../../../src/open.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const lockRule: LockRule = {
  id: "month",
  isEnabled: true,
  prefix: "locked/",
  condition: { kind: "age", seconds: 30 * 24 * 60 * 60 },
};

async function openScene(t: TestContext) {
  const folder = await realpath(await temporaryDirectory(t));
  const { engine } = await openEngine("memory:");
  t.after(() => engine.close());
  await engine.createBucket("photos");
  return {
    engine,
    folder,
    put: (key: string, tags?: ReadonlyMap<string, string>) =>
      engine.put("photos", key, Buffer.from("old"), { tags }),
    async run() {
      const events: TransferEvent[] = [];
      const counts = newSyncCounts();
      await sync(
        {
          ...{ engine, bucket: "photos", prefix: "", folder, except: undefined, to: "bucket" },
          ...{ isDryRun: false, deletes: true, sizeOnly: false, signal: new AbortController().signal },
          onBytes() {},
          onEvent: async (event) => void events.push(event),
        },
        counts,
      );
      return { events, counts };
    },
  };
}

test("sync --delete into a versioned bucket keeps the versions of replaced and deleted objects", async (t) => {
  const { engine, folder, put, run } = await openScene(t);
  await engine.changeSettings("photos", { versioning: "on" });
  await put("gone");
  await put("replaced", new Map([["team", "web"]]));
  await writeFile(join(folder, "replaced"), "newer");
  const { counts } = await run();
  assert.deepEqual(counts, { copied: 1, bytes: 5, same: 0, deleted: 1, passed: 0, failed: 0 });
  const { versions } = await engine.listVersions("photos");
  assert.deepEqual(
    versions.map(({ version, isCurrent }) => [
      version.key,
      "size" in version ? version.size : "marker",
      isCurrent,
    ]),
    [
      ["gone", "marker", true],
      ["gone", 3, false],
      ["replaced", 5, true],
      ["replaced", 3, false],
    ],
  );
  const replaced = await engine.head("photos", "replaced");
  assert.deepEqual([...(replaced?.tags ?? [])], [["team", "web"]], "a replaced object keeps its tags");
});

test("sync --delete reports objects that a lock rule keeps as failed, and deletes the others", async (t) => {
  const { engine, folder, put, run } = await openScene(t);
  for (const key of ["a", "locked/a", "locked/b", "z"]) await put(key);
  await engine.changeSettings("photos", { lockRules: [lockRule] });
  await writeFile(join(folder, "new"), "new");
  const { events, counts } = await run();
  assert.deepEqual(counts, { copied: 1, bytes: 3, same: 0, deleted: 2, passed: 0, failed: 2 });
  const failures = events.flatMap((event) => (event.kind === "failed" ? [event] : []));
  assert.deepEqual(
    failures.map(({ key }) => key),
    ["locked/a", "locked/b"],
  );
  for (const { error } of failures) {
    assert.ok(error instanceof StoreError && error.reason === "AccessDenied");
    assert.match(error.detail, /locked by the bucket's lock rule "month"/);
  }
  const { objects } = await engine.list("photos");
  assert.deepEqual(
    objects.map(({ key }) => key),
    ["locked/a", "locked/b", "new"],
  );
});
