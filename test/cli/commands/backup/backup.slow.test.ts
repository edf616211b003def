// `store backup` and `store restore`: messages, JSON, exit codes and progress.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { openEngine } from "../../../../src/open.ts";
import { sampleBytes } from "../../../support/bytes.ts";
import { assertRefused } from "../../refusals.ts";
import { contentsOf, openShell, outcomeOf, type Shell, shellIn } from "../../store.ts";
import { inTerminal, terminalProgram } from "../../terminal.ts";

async function openFilledShell(t: TestContext, size = 200_000): Promise<Shell> {
  const shell = await openShell(t);
  const { engine } = await openEngine(join(shell.directory, ".store"));
  await engine.createBucket("photos");
  await engine.put("photos", "small", sampleBytes(10));
  await engine.put("photos", "large", sampleBytes(size));
  await engine.close();
  return shell;
}

test("backup and restore print a report, as text and as JSON", async (t) => {
  const shell = await openFilledShell(t);
  await shell.store("key", "create");
  await shell.run(["secret", "put", "TOKEN", "--script", "app"], { input: "a value" });
  assert.equal(
    await shell.store("backup", "--to", "copy"),
    "Backed up 1 bucket, 2 objects, 200010 bytes to copy: 1 file (200000 bytes) copied, 0 already there.\n",
  );
  const again = JSON.parse(await shell.store("backup", "--to", "copy", "--json"));
  assert.equal(typeof again.made, "number");
  const counted = { buckets: 1, objects: 2, bytes: 200_010, files: 1 };
  const key = { companions: ["secret.key"], elsewhere: [] };
  const copy = join(shell.directory, "copy");
  const copied = { copiedFiles: 0, copiedBytes: 0 };
  const authentication = "own key";
  assert.deepEqual(again, { to: copy, made: again.made, ...counted, ...key, ...copied });
  assert.equal((await stat(copy)).mode & 0o777, 0o700);

  assert.match(
    await shell.store("restore", "--from", "copy", "--verify"),
    /2 objects, 200010 bytes\. No damage found\.\n$/,
  );
  const verified = JSON.parse(await shell.store("restore", "--from", "copy", "--verify", "--json"));
  assert.deepEqual(verified, {
    from: copy,
    made: again.made,
    ...counted,
    ...key,
    authentication,
    damages: [],
  });
  const restored = JSON.parse(await shell.store("restore", "--from", "copy", "--data", "a/.store", "--json"));
  const data = join(shell.directory, "a", ".store");
  assert.deepEqual(restored, { from: copy, data, made: again.made, ...counted, ...key, authentication });
  assert.deepEqual(await contentsOf(join(shell.directory, "a")), await contentsOf(shell.directory));
  assert.equal(
    await shellIn(join(shell.directory, "a")).store("secret", "list", "--script", "app"),
    "TOKEN\n",
  );
});

test("backup and restore print a note if the backup does not contain the secret key", async (t) => {
  const shell = await openFilledShell(t);
  await shell.store("key", "create");
  const without = await shell.run(["backup", "--to", "without", "--without-secret-key"]);
  const environment = { STORE_SECRET_KEY: "ab".repeat(32) };
  const kept = await shell.run(["backup", "--to", "kept"], { environment });
  for (const [place, { code, stderr }] of Object.entries({ without, kept })) {
    assert.equal(code, 0);
    assert.match(stderr, /encrypts secrets and access keys is not in the backup/);
    const files = await readdir(join(shell.directory, place), { recursive: true });
    assert.ok(!files.some((name) => name.endsWith("secret.key")));
    const restored = await shell.run(["restore", "--from", place, "--data", `${place}-back`]);
    assert.equal(restored.code, 0);
    assert.match(restored.stderr, /Set STORE_SECRET_KEY, or put secret\.key into the data directory/);
  }
});

test("a backup is authenticated with STORE_SECRET_KEY, and a modified backup is refused", async (t) => {
  const shell = await openFilledShell(t);
  const environment = { STORE_SECRET_KEY: "ab".repeat(32) };
  assert.equal((await shell.run(["backup", "--to", "copy"], { environment })).code, 0);
  const verify = ["restore", "--from", "copy", "--verify", "--json"];
  const verified = await shell.run(verify, { environment });
  assert.equal(JSON.parse(verified.stdout).authentication, "verified");
  const unverified = await shell.run(verify);
  assert.equal(JSON.parse(unverified.stdout).authentication, "unverified");
  const words = await shell.run(["restore", "--from", "copy", "--verify"]);
  assert.match(words.stderr, /not authenticated, because the secret key is missing/);
  const other = { environment: { STORE_SECRET_KEY: "cd".repeat(32) } };
  const refused = await shell.fails(1, ["restore", "--from", "copy", "--data", "back"], other);
  assert.match(refused, /was not made with the secret key that is set/);
  assert.ok(!existsSync(join(shell.directory, "back")));
});

test("backup and restore refuse invalid sources and targets with a message", async (t) => {
  const shell = await openFilledShell(t);
  await mkdir(join(shell.directory, "letters"));
  await writeFile(join(shell.directory, "letters", "dear.txt"), "Dear");
  await writeFile(join(shell.directory, "file"), "");
  await shell.store("backup", "--to", "copy");
  await assertRefused(shell, 2, [
    [["backup"], "needs a folder or an S3 service: --to DIR"],
    [["restore"], "needs a folder or an S3 service: --from DIR"],
    [["backup", "copy"], 'does not expect "copy"'],
  ]);
  await assertRefused(shell, 1, [
    [["backup", "--to", "x", "--data", "nowhere"], 'There is no data directory at "nowhere"'],
    [["backup", "--to", "x", "--data", "memory:"], "in memory cannot be"],
    [["restore", "--from", "copy", "--data", "memory:"], "to memory"],
    [["backup", "--to", "letters"], 'contains other files, such as "dear.txt"'],
    [["backup", "--to", "file"], /file" is not a folder/],
    [["restore", "--from", "copy", "--data", "file"], /file" is not a folder/],
    [["restore", "--from", "file"], "There is no backup at"],
    [["backup", "--to", ".store/in"], "contains the data directory or is inside it"],
    [["restore", "--from", "letters"], "There is no backup at"],
    [["restore", "--from", "copy"], "is not empty", "Specify a new or empty folder"],
    [["restore", "--from", "copy", "--data", "letters"], "is not empty"],
  ]);
  assert.ok(!existsSync(join(shell.directory, "x")));
});

test("restore --verify names the damaged files of a backup and exits with code 1", async (t) => {
  const shell = await openFilledShell(t);
  await shell.store("backup", "--to", "copy");
  const names = await readdir(join(shell.directory, "copy", "blobs"), { recursive: true });
  const path = join(shell.directory, "copy", "blobs", names.find((name) => name.split("/").length === 3)!);
  const bytes = await readFile(path);
  bytes[70_000]! ^= 1;
  await writeFile(path, bytes);
  const { code, stdout } = await shell.run(["restore", "--from", "copy", "--verify"]);
  assert.equal(code, 1);
  assert.match(stdout, /^"photos\/large": .*block 1 of blob/m);
  assert.ok(stdout.includes(path));
  assert.match(stdout, /Found 1 damaged item\.\n$/);
  const told = await shell.fails(1, ["restore", "--from", "copy", "--data", "back"]);
  assert.match(told, /error: The backup is damaged, so it was not restored: "photos\/large"/);
  assert.match(await shell.fails(1, ["bucket", "list", "--data", "back"]), /is not complete/);
  assert.match(await shell.fails(1, ["bucket", "create", "new", "--data", "back"]), /is not complete/);
  await rm(path);
  await shell.store("backup", "--to", "copy");
  await shell.store("restore", "--from", "copy", "--data", "back-again");
});

test("SIGINT ends a backup after cleanup, and the next run resumes the backup", async (t) => {
  const shell = await openFilledShell(t, 60_000_000);
  const child = shell.start(["backup", "--to", "copy"]);
  child.stdin.end();
  const ended = outcomeOf(child);
  const snapshots = join(shell.directory, "copy", "snapshots");
  // The backup is running once its first folder exists.
  while (!existsSync(snapshots)) await setImmediate();
  child.kill("SIGINT");
  const { code } = await ended;
  const isFinished = existsSync(join(shell.directory, "copy", "manifest.json"));
  assert.ok(code === "SIGINT" || (code === 0 && isFinished), `it ended with ${code}`);
  assert.equal((await readdir(snapshots)).length, isFinished ? 1 : 0);
  const pins = await readdir(join(shell.directory, ".store"), { recursive: true });
  assert.ok(!pins.some((name) => name.includes("all@")), "the lease is released");
  await shell.store("backup", "--to", "copy");
});

if (terminalProgram !== undefined) {
  test("backup, verify and restore show progress on a terminal", async (t) => {
    const shell = await openFilledShell(t, 3_000_000);
    for (const args of [
      ["backup", "--to", "copy"],
      ["restore", "--from", "copy", "--verify"],
      ["restore", "--from", "copy", "--data", "back"],
    ]) {
      const { code, screen } = await inTerminal(shell, args);
      assert.equal(code, 0, screen);
      // The total size includes bodies and databases.
      assert.match(screen, /(backup|verify|restore) .* of [23]\.\d MiB/);
    }
  });
}

test("a backup on a read-only disk can be verified and restored", async (t) => {
  const shell = await openFilledShell(t);
  await shell.store("backup", "--to", "copy");
  await rm(join(shell.directory, "copy", "lock"));
  for (const mode of [0o500, 0o700]) {
    await chmod(join(shell.directory, "copy"), mode);
    await shell.store("restore", "--from", "copy", "--verify");
  }
});
