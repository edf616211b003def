// `store copy` between data directories: messages, JSON, exit codes, and resuming after a kill.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { openEngine } from "../../../src/open.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { blobFiles } from "../../support/disk/on-disk.ts";
import { assertRefused } from "../refusals.ts";
import { contentsOf, openShell, outcomeOf, type Shell } from "../store.ts";
import { inTerminal, terminalProgram } from "../terminal.ts";

async function filledShell(t: TestContext, count: number): Promise<Shell> {
  const shell = await openShell(t);
  const { engine } = await openEngine(join(shell.directory, ".store"));
  await engine.createBucket("photos");
  await engine.put("photos", "small", sampleBytes(10));
  for (let i = 0; i < count; i++) await engine.put("photos", `large ${i}`, sampleBytes(200_000));
  await engine.close();
  return shell;
}

/** Removes the revision counters of documents, which differ between stores. */
function withoutRevisions(contents: unknown): unknown {
  return JSON.parse(JSON.stringify(contents, (name, value) => (name === "revision" ? undefined : value)));
}

test("the target of a killed copy cannot be opened, and the same command resumes the copy", async (t) => {
  const shell = await filledShell(t, 60);
  await shell.run(["secret", "put", "TOKEN", "--script", "app"], { input: "a value" });
  const child = shell.start(["copy", "--from", ".store", "--to", "moved/.store"]);
  child.stdin.end();
  const ended = outcomeOf(child);
  const target = join(shell.directory, "moved", ".store");
  // Wait for more blobs than are copied concurrently, so that some are committed before the kill.
  while (!existsSync(join(target, "buckets")) || blobFiles(target).length < 24) await setImmediate();
  child.kill("SIGKILL");
  const { code } = await ended;
  assert.equal(code, "SIGKILL", "the copy was killed before its end");
  const closed = await shell.fails(1, ["bucket", "list", "--data", "moved/.store"]);
  assert.match(closed, /This store is a copy of .*\.store that was not finished/);
  assert.match(closed, /Run the same store copy again/);

  const lines = (await shell.store("copy", "--from", ".store", "--to", "moved/.store", "--json")).trim();
  const report = JSON.parse(lines) as Record<string, unknown>;
  const { copiedObjects, ...rest } = report;
  assert.deepEqual(rest, {
    ...{ kind: "report", from: join(shell.directory, ".store"), to: target },
    ...{ buckets: 1, objects: 61, bytes: 12_000_010, uploads: 0, documents: 1, damages: 0, differences: 0 },
  });
  assert.ok(Number(copiedObjects) < 61, "some objects were copied by the first run");
  const [there, here] = [join(shell.directory, "moved"), shell.directory];
  assert.deepEqual(withoutRevisions(await contentsOf(there)), withoutRevisions(await contentsOf(here)));
  assert.match(await shell.store("verify", "--data", "moved/.store"), /No damage found/);
  assert.equal((await stat(join(target, "secret.key"))).mode & 0o777, 0o600);
  assert.equal(await shell.store("secret", "list", "--script", "app", "--data", "moved/.store"), "TOKEN\n");
});

test("copy prints damaged and different objects with their keys and exits with code 1", async (t) => {
  const shell = await filledShell(t, 1);
  const [blob] = blobFiles(join(shell.directory, ".store"));
  const bytes = await readFile(blob!.path);
  bytes[100_000]! ^= 1;
  await writeFile(blob!.path, bytes);
  const damaged = await shell.run(["copy", "--from", ".store", "--to", "moved"]);
  assert.equal(damaged.code, 1);
  assert.match(
    damaged.stdout,
    /^damaged\tphotos\/large 0\t.*\nCopied 1 bucket, 1 object, 10 bytes.*1 damaged item, 0 diff/,
  );

  const { engine } = await openEngine(join(shell.directory, ".store"));
  await engine.put("photos", "small", sampleBytes(11));
  await engine.close();
  const different = await shell.run(["copy", "--from", ".store", "--to", "moved", "--verify", "--json"]);
  assert.equal(different.code, 1);
  const lines = different.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    lines.map(({ kind, key }) => [kind, key]),
    [
      ["different", "large 0"],
      ["different", "small"],
      ["report", undefined],
    ],
  );
});

test("copy refuses invalid sources and targets with a message", async (t) => {
  const shell = await filledShell(t, 0);
  await writeFile(join(shell.directory, "file"), "");
  const postgres = "postgres://store:hunter2@db/store";
  await assertRefused(shell, 2, [
    [["copy"], "needs at least one of --from LOCATION", "For example: store copy"],
    [["copy", "--from", ".store"], "Source and target are the same store"],
    [["copy", "--from", ".store", "--to", "x", "--data", "y"], "--data has no effect here"],
    [["copy", "--from", ".store", "--to", postgres], "not the location of its bytes", "--to-blobs s3://"],
    [["copy", "--from", ".store", "--to", "x", "--to-blobs", "file:///x"], "--to names a folder"],
    [["copy", "--to-blobs", "file:///x"], "--to-blobs also needs --to postgres://"],
    [
      ["copy", "--from", "mysql://a:hunter2@b/c", "--to", "x"],
      "--from takes a folder or the records of a cluster, postgres://…",
    ],
    [["copy", "--from", postgres, "--from-blobs", "x", "--to", "x"], "--from-blobs must begin with s3://"],
  ]);
  await assertRefused(shell, 1, [
    [["copy", "--from", "nowhere", "--to", "x"], 'There is no data directory at "nowhere"'],
    [["copy", "--from", ".store", "--to", "file"], "it is not a folder"],
    [["copy", "--from", "memory:", "--to", "x"], "in memory cannot be"],
    [["copy", "--from", ".store", "--to", "x", "--verify"], 'There is no data directory at "x"'],
  ]);
  await shell.store("bucket", "create", "mine", "--data", "used");
  const told = await shell.fails(1, ["copy", "--from", ".store", "--to", "used"]);
  assert.match(
    told,
    /The target is not empty: it holds the bucket "mine"\.\n {2}Name a new and empty target/,
  );
});

if (terminalProgram !== undefined) {
  test("copy shows the progress of copying and comparing on a terminal", async (t) => {
    const shell = await filledShell(t, 15);
    const { code, screen } = await inTerminal(shell, ["copy", "--from", ".store", "--to", "moved"]);
    assert.equal(code, 0, screen);
    assert.match(screen, /copy .* of 2\.9 MiB/);
    assert.match(screen, /verify .* of 2\.9 MiB/);
  });
}
