// `store sync` in both directions: unchanged entries stay, nothing is written outside the folder.
import assert from "node:assert/strict";
import { chmod, mkdir, readdir, readFile, realpath, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { nameProblem } from "../../../src/cli/transfer/sync/folder-names.ts";
import { walkFolder } from "../../../src/cli/transfer/sync/folder-walk.ts";
import { createFolderWriter } from "../../../src/cli/transfer/sync/folder-writer.ts";
import { type SyncCounts, type SyncOptions, sync } from "../../../src/cli/transfer/sync/sync.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { compareKeys } from "../../../src/model/key.ts";
import { limits } from "../../../src/model/limits.ts";
import { openEngine } from "../../../src/open.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { filesIn, openShellWithBucket } from "../store.ts";

const signal = new AbortController().signal;

interface Workshop {
  readonly engine: Engine;
  readonly folder: string;
  /** Runs a sync; returns its events as lines, and its counts. */
  run(
    to: "bucket" | "folder",
    options?: Partial<SyncOptions>,
  ): Promise<{ told: string[]; counts: SyncCounts }>;
  put(key: string, text: string): Promise<void>;
  keys(): Promise<string[]>;
  write(name: string, text: string): Promise<void>;
  files(): Promise<string[]>;
}

async function openWorkshop(t: TestContext): Promise<Workshop> {
  // In a folder of its own, so that a test sees what is written beside it.
  const folder = join(await realpath(await temporaryDirectory(t)), "folder");
  await mkdir(folder);
  const { engine } = await openEngine("memory:");
  t.after(() => engine.close());
  await engine.createBucket("photos");
  return {
    engine,
    folder,
    async run(to, options = {}) {
      const told: string[] = [];
      const counts = { copied: 0, bytes: 0, same: 0, deleted: 0, passed: 0, failed: 0 };
      await sync(
        {
          ...{ engine, bucket: "photos", prefix: "", folder, except: undefined, to, signal },
          ...{ isDryRun: false, deletes: false, sizeOnly: false, onBytes() {} },
          onEvent: async (one) => {
            const why =
              one.kind === "failed" ? (one.error as Error).message : one.kind === "passed" ? one.why : "";
            told.push(`${one.kind} ${one.key}${why === "" ? "" : `: ${why}`}`);
          },
          ...options,
        },
        counts,
      );
      return { told: told.sort(), counts };
    },
    async put(key, text) {
      await engine.put("photos", key, Buffer.from(text), { httpMetadata: { contentType: "a/b" } });
    },
    async keys() {
      return (await engine.list("photos")).objects.map(({ key }) => key);
    },
    async write(name, text) {
      await mkdir(join(folder, name, ".."), { recursive: true });
      await writeFile(join(folder, name), text);
    },
    async files() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => !entry.isDirectory());
      return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).sort();
    },
  };
}

test("sync to a bucket uploads only different files with their content type, and replaced objects keep their metadata", async (t) => {
  const { engine, run, put, keys, write } = await openWorkshop(t);
  await put("pics/same.txt", "same");
  await put("pics/other.txt", "1234");
  await put("pics/longer", "1");
  await put("elsewhere", "stays");
  for (const [name, text] of Object.entries({ "same.txt": "same", "other.txt": "abcd", longer: "12" }))
    await write(name, text);
  await write("deep/er/ä.html", "<p>");
  await write("empty", "");
  const { told, counts } = await run("bucket", { prefix: "pics/" });
  assert.deepEqual(told, [
    "copy pics/deep/er/ä.html",
    "copy pics/empty",
    "copy pics/longer",
    "copy pics/other.txt",
  ]);
  assert.deepEqual(counts, { copied: 4, bytes: 9, same: 1, deleted: 0, passed: 0, failed: 0 });
  assert.equal((await keys()).length, 6);
  const type = async (key: string) => (await engine.head("photos", key))?.httpMetadata.contentType;
  assert.equal(await type("pics/deep/er/ä.html"), "text/html; charset=utf-8");
  assert.equal(await type("pics/other.txt"), "a/b");
  assert.deepEqual((await run("bucket", { prefix: "pics/" })).counts, { ...zero, same: 5 });
});

const zero: SyncCounts = { copied: 0, bytes: 0, same: 0, deleted: 0, passed: 0, failed: 0 };

test("sync to a folder downloads objects, and --delete removes entries that only the target has, in both directions", async (t) => {
  const { folder, run, put, keys, write, files } = await openWorkshop(t);
  await put("a", "1");
  await put("b/c", "22");
  await put("b/d", "same");
  await write("b/d", "same");
  await write("gone/too/late", "x");
  await chmod(join(folder, "b/d"), 0o640);
  assert.deepEqual((await run("folder")).told, ["copy a", "copy b/c"]);
  assert.deepEqual(await files(), ["a", "b/c", "b/d", "gone/too/late"]);
  assert.equal(await readFile(join(folder, "b/c"), "utf8"), "22");
  const dry = await run("folder", { deletes: true, isDryRun: true });
  assert.deepEqual(dry.told, ["delete gone/too/late"]);
  assert.deepEqual((await files()).length, 4, "a dry run changes nothing");
  assert.deepEqual((await run("folder", { deletes: true })).counts, { ...zero, same: 3, deleted: 1 });
  assert.deepEqual((await readdir(folder)).sort(), ["a", "b"], "emptied folders are removed");
  await put("extra", "x");
  await put("b/extra", "x");
  assert.deepEqual((await run("bucket", { deletes: true, isDryRun: true })).told, [
    "delete b/extra",
    "delete extra",
  ]);
  assert.equal((await keys()).length, 5);
  await run("bucket", { deletes: true });
  assert.deepEqual(await keys(), ["a", "b/c", "b/d"]);
});

test("sync replaces a file by a folder and a folder by a file", async (t) => {
  const { run, put, write, files } = await openWorkshop(t);
  await put("a/x", "1");
  await put("b", "2");
  await write("a", "was a file");
  await write("b/x", "was a folder");
  const kept = await run("folder");
  assert.deepEqual(
    kept.told.map((line) => line.slice(0, 10)),
    ["failed a/x", "failed b: "],
  );
  assert.deepEqual((await run("folder", { deletes: true })).counts, {
    ...zero,
    copied: 2,
    bytes: 2,
    deleted: 2,
  });
  assert.deepEqual(await files(), ["a/x", "b"]);
});

test("sync reports a key that is not a valid file path, and writes no file for it", async (t) => {
  const { folder, run, put, files } = await openWorkshop(t);
  const long = "x".repeat(256);
  const bad = ["../up", "a/../../up", "/etc/passwd", "a//b", "./a", "ends/", long, "zero\0byte", ".."];
  for (const key of bad) await put(key, "bytes");
  await put("marker/", "");
  await put("good/…", "bytes");
  await put(`${"y".repeat(255)}/a`, "bytes");
  const { told, counts } = await run("folder");
  assert.equal(counts.failed, bad.length);
  for (const key of bad)
    assert.ok(
      told.some((line) => line.startsWith(`failed ${key}: The key is not a valid file path: `)),
      key,
    );
  assert.deepEqual(await files(), ["good/…", `${"y".repeat(255)}/a`]);
  assert.deepEqual(
    (await readdir(join(folder, ".."))).filter((name) => name === "up"),
    [],
  );
  assert.equal(
    nameProblem(".store-0123456789abcdef.part")?.startsWith("it has the name of a temporary file"),
    true,
  );
});

test("sync does not follow or replace symbolic links, and does not delete keys below them", async (t) => {
  const { folder, run, put, keys, write, files } = await openWorkshop(t);
  const outside = await temporaryDirectory(t);
  await writeFile(join(outside, "secret"), "secret");
  await symlink(outside, join(folder, "out"));
  await symlink(join(outside, "secret"), join(folder, "secret"));
  await write("file", "1");
  await put("out/kept", "x");
  await put("out-gone", "x");
  const up = await run("bucket", { deletes: true });
  assert.deepEqual(up.told, [
    "copy file",
    "delete out-gone",
    "passed out: it is a symbolic link",
    "passed secret: it is a symbolic link",
  ]);
  assert.deepEqual(await keys(), ["file", "out/kept"]);
  await put("secret", "x");
  const down = await run("folder", { deletes: true });
  assert.equal(down.counts.failed, 2);
  assert.match(down.told.join("\n"), /failed out\/kept: The folder ".*" is a link/);
  assert.match(
    down.told.join("\n"),
    /failed secret: It was not replaced in the folder: it is a symbolic link\./,
  );
  assert.deepEqual(await filesIn(outside), { secret: (await filesIn(outside)).secret });
  assert.equal(await readFile(join(outside, "secret"), "utf8"), "secret");
  assert.deepEqual(await files(), ["file", "out", "secret"]);
});

test("on a case-insensitive file system, the second of two keys that differ only in case is reported", async (t) => {
  const folder = await realpath(await temporaryDirectory(t));
  const writer = createFolderWriter({ folder, except: undefined, signal });
  async function* bytes(text: string) {
    // Simulates a case-insensitive file system: the name exists when the file is linked.
    if (text === "second") await writeFile(join(folder, "a"), "first");
    yield Buffer.from(text);
  }
  await assert.rejects(writer.write("a", bytes("second")), /A file of this name already exists/);
  assert.equal(await readFile(join(folder, "a"), "utf8"), "first");
  assert.deepEqual(await readdir(folder), ["a"], "no other file is left");
});

test("sync compares multipart objects with files by the hashes of their parts", async (t) => {
  const { engine, folder, run } = await openWorkshop(t);
  const part = sampleBytes(limits.s3PartBytes);
  const { id } = await engine.createUpload("photos", "big");
  const parts = [];
  for (const number of [1, 2]) {
    const { etag } = await engine.uploadPart("photos", { key: "big", id }, number, part);
    parts.push({ number, etag });
  }
  await engine.completeUpload("photos", { key: "big", id }, parts);
  assert.equal((await run("folder")).counts.copied, 1);
  assert.equal((await run("folder")).counts.same, 1);
  const file = join(folder, "big");
  await writeFile(file, "x", { flag: "r+" });
  assert.equal((await run("folder", { isDryRun: true })).counts.copied, 1, "contents differ by one byte");
  assert.equal((await run("folder", { sizeOnly: true })).counts.same, 1, "sizes are equal");
  await truncate(file, 10);
  assert.equal((await run("bucket", { sizeOnly: true })).counts.copied, 1);
});

test("sync reports unreadable folders and encrypted objects, and does not delete keys below such folders", async (t) => {
  const { engine, folder, run, put, keys, write } = await openWorkshop(t);
  await engine.put("photos", "sealed", Buffer.from("x"), { customerKey: sampleBytes(limits.ssecKeyBytes) });
  await write("sealed", "y");
  await writeFile(Buffer.concat([Buffer.from(`${folder}/bad`), Buffer.from([0xff])]), "x");
  await write("shut/file", "x");
  await put("shut/kept", "x");
  await put("shut-gone", "x");
  await chmod(join(folder, "shut"), 0);
  const { told, counts } = await run("bucket", { deletes: true });
  await chmod(join(folder, "shut"), 0o755);
  assert.match(told.join("\n"), /failed sealed: The object is encrypted with a customer-provided key/);
  assert.match(told.join("\n"), /failed bad\ufffd: The name of ".*" is not UTF-8/);
  // For root, the folder is readable regardless of its file mode.
  const reads = process.getuid?.() === 0;
  assert.equal(counts.failed, reads ? 2 : 3);
  assert.equal((await keys()).includes("shut/kept"), !reads);
  assert.equal((await keys()).includes("shut-gone"), false);
  assert.equal((await engine.head("photos", "sealed"))?.size, 1);
});

test("sync walks a folder in the order of object keys", async (t) => {
  const { folder, write } = await openWorkshop(t);
  const names = [
    "a",
    "a.b",
    "a-b/c",
    "a/b" /* a is a file */,
    "b/1",
    "b/1/x",
    "b.",
    "b0",
    "\u{1f600}",
    "\uffee",
    "B/1",
  ];
  for (const name of names.filter((one) => !["a", "b/1"].includes(one))) await write(name, "x");
  const keys: string[] = [];
  for await (const { key } of walkFolder({ folder, prefix: "p/", except: undefined })) keys.push(key);
  assert.equal(keys.length, 9);
  assert.deepEqual(keys, [...keys].sort(compareKeys));
});

test("sync prints each transfer and refuses a folder inside the data directory", async (t) => {
  const shell = await openShellWithBucket(t);
  await writeFile(join(shell.directory, "cat.txt"), "meow");
  assert.match(await shell.fails(1, ["sync", "./.store/buckets", "photos"]), /is inside the data directory/);
  assert.match(
    await shell.fails(1, ["sync", "photos/typo", ".", "--delete"]),
    /"photos\/typo\/" contains no objects/,
  );
  const outcome = await shell.run(["sync", ".", "photos/in", "--json"]);
  assert.equal(outcome.code, 0, outcome.stderr);
  const lines = outcome.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(lines, [
    { kind: "passed", key: "in/.store", why: "it is the data directory" },
    { kind: "put", key: "in/cat.txt", size: 4 },
    { kind: "report", from: ".", to: "photos/in/", isDryRun: false, ...zero, copied: 1, bytes: 4, passed: 1 },
  ]);
});

test("an interrupted sync leaves no partial file and resumes when run again", async (t) => {
  const { engine, folder, run } = await openWorkshop(t);
  await engine.put("photos", "big", sampleBytes(3 * 1024 * 1024));
  const interruption = new AbortController();
  const onBytes = () => interruption.abort(new Error("interrupted"));
  await assert.rejects(run("folder", { signal: interruption.signal, onBytes }), /interrupted/);
  assert.deepEqual(await readdir(folder), []);
  assert.equal((await run("folder")).counts.copied, 1);
  const again = new AbortController();
  await writeFile(join(folder, "big"), sampleBytes(5 * 1024 * 1024));
  const stop = () => again.abort(new Error("interrupted"));
  await assert.rejects(run("bucket", { signal: again.signal, onBytes: stop }), /interrupted/);
  assert.equal((await engine.head("photos", "big"))?.size, 3 * 1024 * 1024);
});
