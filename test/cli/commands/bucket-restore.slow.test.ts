// `store bucket restore`: back to a time, dry runs, several pages, interruption.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Engine } from "../../../src/engine/engine.ts";
import { openEngine } from "../../../src/open.ts";
import { assertRefused } from "../refusals.ts";
import { openShellWithBucket, outcomeOf, type Shell } from "../store.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

async function withEngine<T>({ directory }: Shell, work: (engine: Engine) => Promise<T>): Promise<T> {
  const { engine } = await openEngine(join(directory, ".store"));
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

async function putAll(engine: Engine, count: number, text: string): Promise<void> {
  const keys = Array.from({ length: count }, (_, i) => `key-${String(i).padStart(5, "0")}`);
  await Promise.all(keys.map((key) => engine.put("photos", key, bytes(text))));
}

/** A versioned bucket with `count` objects that were all replaced after the returned time. */
async function openReplaced(t: Parameters<typeof openShellWithBucket>[0], count: number) {
  const shell = await openShellWithBucket(t);
  const time = await withEngine(shell, async (engine) => {
    await engine.changeSettings("photos", { versioning: "on" });
    await putAll(engine, count, "before");
    await pause(5);
    const now = new Date().toISOString();
    await pause(5);
    await putAll(engine, count, "after!!");
    await engine.put("photos", "later", bytes("later"));
    return now;
  });
  return { shell, time };
}

/** Returns how many objects have each size. */
async function countSizes(engine: Engine): Promise<Map<number, number>> {
  const sizes = new Map<number, number>();
  let cursor: string | undefined;
  do {
    const page = await engine.list("photos", { cursor });
    for (const { size } of page.objects) sizes.set(size, (sizes.get(size) ?? 0) + 1);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return sizes;
}

function sizesOf(shell: Shell): Promise<Map<number, number>> {
  return withEngine(shell, countSizes);
}

test("bucket restore --dry-run lists the first keys and changes nothing; the restore reports counts", async (t) => {
  const { shell, time } = await openReplaced(t, 30);
  const dry = await shell.run(["bucket", "restore", "photos", "--at", time, "--dry-run"]);
  assert.equal(dry.code, 0, dry.stderr);
  const lines = dry.stdout.trim().split("\n");
  assert.equal(lines.length, 21);
  assert.equal(lines[0], "restore\tkey-00000");
  assert.equal(
    lines.at(-1),
    `Would restore 30 objects and delete 1 in bucket photos, as of ${time}; 0 unchanged.`,
  );
  assert.match(dry.stderr, /and 11 more/);
  assert.ok(dry.stderr.includes(`store bucket restore photos --at ${time}`), dry.stderr);
  assert.deepEqual(
    [...(await sizesOf(shell))],
    [
      [7, 30],
      [5, 1],
    ],
  );

  assert.equal(
    await shell.store("bucket", "restore", "photos", "--at", time),
    `Restored 30 objects and deleted 1 in bucket photos, as of ${time}; 0 unchanged.\n`,
  );
  assert.deepEqual([...(await sizesOf(shell))], [[6, 30]]);
  const again = JSON.parse(await shell.store("bucket", "restore", "photos", "--at", time, "--json"));
  const counts = { restored: 0, deleted: 0, unchanged: 30 };
  assert.deepEqual(again, { bucket: "photos", at: time, prefix: "", isDryRun: false, ...counts });
  const audit = (await shell.store("audit", "--act", "restore bucket")).trim().split("\n");
  assert.equal(audit.length, 1, "only the restore that changed objects is recorded");
});

test("bucket restore --prefix restores only keys with the prefix", async (t) => {
  const { shell, time } = await openReplaced(t, 12);
  const args = ["bucket", "restore", "photos", "--at", time, "--prefix", "key-0001", "--json"];
  const report = JSON.parse(await shell.store(...args));
  assert.deepEqual([report.restored, report.deleted, report.unchanged], [2, 0, 0]);
  assert.deepEqual([...(await sizesOf(shell))].sort(), [
    [5, 1],
    [6, 2],
    [7, 10],
  ]);
});

test("bucket restore --dry-run --json has the counts and the first changes", async (t) => {
  const { shell, time } = await openReplaced(t, 1);
  const args = ["bucket", "restore", "photos", "--at", time, "--dry-run", "--json"];
  assert.deepEqual(JSON.parse(await shell.store(...args)), {
    bucket: "photos",
    at: time,
    prefix: "",
    isDryRun: true,
    restored: 1,
    deleted: 1,
    unchanged: 0,
    changes: [
      { action: "restore", key: "key-00000" },
      { action: "delete", key: "later" },
    ],
  });
});

test("an interrupted bucket restore prints the command that resumes it, and that command completes it", async (t) => {
  const { shell, time } = await openReplaced(t, 6000);
  const child = shell.start(["bucket", "restore", "photos", "--at", time]);
  child.stdin.end();
  const outcome = outcomeOf(child);
  await withEngine(shell, async (engine) => {
    while (child.exitCode === null && (await engine.head("photos", "key-00000"))?.size !== 6) await pause(1);
  });
  child.kill("SIGINT");
  const { code, stderr } = await outcome;
  if (code === "SIGINT") {
    assert.ok(stderr.includes(`Resume it: store bucket restore photos --at ${time}`), stderr);
  } else {
    t.diagnostic("The restore ended before the signal.");
  }
  await shell.store("bucket", "restore", "photos", "--at", time);
  assert.deepEqual([...(await sizesOf(shell))], [[6, 6000]]);
});

test("bucket restore needs a past time and a bucket whose versioning is on", async (t) => {
  const shell = await openShellWithBucket(t);
  await assertRefused(shell, 2, [
    [["bucket", "restore", "photos"], "needs a time: --at TIME"],
    [["bucket", "restore", "photos", "--at", "2126-01-01"], "must be in the past"],
    [["bucket", "restore", "photos", "--at", "noon"], "--at needs a time"],
  ]);
  await assertRefused(shell, 1, [
    [["bucket", "restore", "photos", "--at", "1h"], "versioning is on", "store bucket info photos"],
    [["bucket", "restore", "other", "--at", "1h"], 'There is no bucket "other"'],
  ]);
});
