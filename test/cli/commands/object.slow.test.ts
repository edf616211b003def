// `store object`: put, get, head and delete, with files, stdin and unusual keys.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, lstat, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openEngine } from "../../../src/open.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { assertNothingLeftOver, blobFiles } from "../../support/disk/on-disk.ts";
import { filesIn, openShellWithBucket, program, type Shell } from "../store.ts";

interface ShownObject {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  readonly httpMetadata: Record<string, string>;
  readonly customMetadata: Record<string, string>;
  readonly storageClass: string;
  readonly checksums: Record<string, string>;
}

async function head(shell: Shell, address: string): Promise<ShownObject> {
  return JSON.parse(await shell.store("object", "head", address, "--json")) as ShownObject;
}

test("object get writes the bytes that object put uploaded, to a file or to stdout", async (t) => {
  const shell = await openShellWithBucket(t);
  const bytes = sampleBytes(3_000_000);
  const md5 = createHash("md5").update(bytes).digest("hex");
  await writeFile(join(shell.directory, "cat.jpg"), bytes);
  assert.equal(
    await shell.store("object", "put", "photos/2026/cat.jpg", "cat.jpg"),
    `Uploaded photos/2026/cat.jpg: 3000000 bytes, etag ${md5}\n`,
  );
  assert.equal(
    await shell.store("object", "get", "photos/2026/cat.jpg", "copy.jpg"),
    "Downloaded photos/2026/cat.jpg to copy.jpg: 3000000 bytes\n",
  );
  assert.ok(bytes.equals(await readFile(join(shell.directory, "copy.jpg"))));

  for (const args of [[], ["-"]]) {
    const child = shell.start(["object", "get", "photos/2026/cat.jpg", ...args]);
    const hash = createHash("md5");
    for await (const chunk of child.stdout) hash.update(chunk);
    assert.equal(hash.digest("hex"), md5);
  }
});

test("object put --json and object head --json print the same metadata", async (t) => {
  const shell = await openShellWithBucket(t);
  await writeFile(join(shell.directory, "page.html"), "<p>Hello</p>");
  const args = ["--metadata", "place=garden", "--metadata", "formula=a=b", "--cache-control", "max-age=60"];
  const put = await shell.store(
    ...[
      "object",
      "put",
      "photos/index.html",
      "page.html",
      ...args,
      "--storage-class",
      "InfrequentAccess",
      "--json",
    ],
  );
  const stored = JSON.parse(put) as ShownObject;
  assert.deepEqual(await head(shell, "photos/index.html"), stored);
  assert.equal(stored.size, 12);
  assert.equal(stored.storageClass, "InfrequentAccess");
  assert.deepEqual(stored.httpMetadata, {
    contentType: "text/html; charset=utf-8",
    cacheControl: "max-age=60",
  });
  assert.deepEqual(stored.customMetadata, { place: "garden", formula: "a=b" });
  assert.deepEqual(stored.checksums, { md5: stored.etag });
  const told = await shell.store("object", "head", "photos/index.html");
  assert.match(told, /^size\t12$/m);
  assert.match(told, /^content type\ttext\/html; charset=utf-8$/m);
  assert.match(told, /^cache control\tmax-age=60$/m);
  assert.match(told, /^metadata place\tgarden$/m);
  assert.match(told, new RegExp(`^etag\\t${stored.etag}$`, "m"));
});

test("object put takes the content type from the option, the key or the file name, in this order", async (t) => {
  const shell = await openShellWithBucket(t);
  await writeFile(join(shell.directory, "notes.txt"), "notes");
  const typeOf = async (key: string, ...args: string[]) => {
    const put = await shell.store("object", "put", `photos/${key}`, "notes.txt", ...args, "--json");
    return (JSON.parse(put) as ShownObject).httpMetadata.contentType;
  };
  assert.equal(await typeOf("a.json", "--content-type", "text/x-mine"), "text/x-mine");
  assert.equal(await typeOf("a.JPG"), "image/jpeg");
  assert.equal(await typeOf("a"), "text/plain; charset=utf-8");
  const put = await shell.store("object", "put", "photos/b", "-", "--json");
  assert.deepEqual((JSON.parse(put) as ShownObject).httpMetadata, {});
});

test("object keys with dots, slashes, percent signs, accents and newlines are not normalized", async (t) => {
  const shell = await openShellWithBucket(t);
  const keys = ["../../etc/passwd", "/leading", "a//./..%2e", "e\u0301\u{1f600}", "a\nb"];
  for (const key of keys) {
    const { code, stderr } = await shell.run(["object", "put", `photos/${key}`, "-"], { input: key });
    assert.equal(code, 0, stderr);
  }
  const listed = JSON.parse(await shell.store("object", "list", "photos", "--json")) as ShownObject[];
  assert.deepEqual(listed.map(({ key }) => key).sort(), [...keys].sort());
  assert.equal(await shell.store("object", "get", "photos/../../etc/passwd"), "../../etc/passwd");
  await shell.store("object", "delete", "photos//leading");
  assert.match(await shell.fails(1, ["object", "head", "photos//leading"]), /There is no object "\/leading"/);
  const lines = (await shell.store("object", "list", "photos/a")).trimEnd().split("\n");
  assert.equal(lines.length, 2, "a newline in a key is escaped");
  assert.match(lines[0]!, /\ta\\nb$/);
});

test("an empty file and empty input become empty objects", async (t) => {
  const shell = await openShellWithBucket(t);
  await writeFile(join(shell.directory, "empty"), "");
  const put = async (file: string) =>
    JSON.parse(await shell.store("object", "put", `photos/${file}`, file, "--json")) as ShownObject;
  const md5 = createHash("md5").digest("hex");
  assert.deepEqual([(await put("empty")).size, (await put("-")).etag], [0, md5]);
  await shell.store("object", "get", "photos/empty", "out");
  assert.equal((await stat(join(shell.directory, "out"))).size, 0);
});

test("object put reads pipes and files of unknown size, such as in /proc, to their end", async (t) => {
  const shell = await openShellWithBucket(t);
  const fifo = join(shell.directory, "pipe");
  execFileSync("mkfifo", [fifo]);
  const put = shell.run(["object", "put", "photos/piped", "pipe"]);
  await writeFile(fifo, "through a pipe");
  assert.equal((await put).code, 0);
  assert.equal(await shell.store("object", "get", "photos/piped"), "through a pipe");
  if (process.platform === "linux") {
    await shell.store("object", "put", "photos/version", "/proc/version");
    assert.equal(
      await shell.store("object", "get", "photos/version"),
      await readFile("/proc/version", "utf8"),
    );
  }
});

test("object get keeps the mode of a replaced file, follows a symbolic link, and writes to a pipe", async (t) => {
  const shell = await openShellWithBucket(t);
  const at = (name: string) => join(shell.directory, name);
  await shell.run(["object", "put", "photos/new", "-"], { input: "new" });
  await writeFile(at("old"), "old");
  await chmod(at("old"), 0o640);
  await symlink("old", at("link"));
  await shell.store("object", "get", "photos/new", "link");
  assert.ok((await lstat(at("link"))).isSymbolicLink());
  assert.equal(await readFile(at("old"), "utf8"), "new");
  assert.equal((await stat(at("old"))).mode & 0o777, 0o640);

  execFileSync("mkfifo", [at("pipe")]);
  const got = shell.run(["object", "get", "photos/new", "pipe"]);
  assert.equal(await readFile(at("pipe"), "utf8"), "new");
  assert.equal((await got).code, 0);
  assert.ok((await lstat(at("pipe"))).isFIFO());
  await shell.store("object", "get", "photos/new", "/dev/null");
});

test("a failed download keeps the existing file and leaves no partial file", async (t) => {
  const shell = await openShellWithBucket(t);
  await writeFile(join(shell.directory, "big"), sampleBytes(4_000_000));
  await shell.store("object", "put", "photos/big", "big");
  await mkdir(join(shell.directory, "out"));
  await writeFile(join(shell.directory, "out", "copy"), "what was there");
  const blob = execFileSync("find", [".store", "-path", "*/blobs/*/*", "-type", "f"], {
    cwd: shell.directory,
  });
  const file = join(shell.directory, blob.toString().trim());
  const stored = await readFile(file);
  stored[3_000_000]! ^= 1;
  await writeFile(file, stored);
  const before = await filesIn(join(shell.directory, "out"));
  assert.match(
    await shell.fails(1, ["object", "get", "photos/big", "out/copy"]),
    /damaged.*\n.*store verify/,
  );
  assert.match(await shell.fails(1, ["object", "get", "photos/big", "out/other"]), /damaged/);
  assert.deepEqual(await filesIn(join(shell.directory, "out")), before);
});

test("object get ends silently with code 141 when the reader closes the pipe", async (t) => {
  const shell = await openShellWithBucket(t);
  await writeFile(join(shell.directory, "big"), sampleBytes(4_000_000));
  await shell.store("object", "put", "photos/big", "big");
  const command = `{ "${process.execPath}" "${program}" object get photos/big; echo $? > code; } 2> told | head -c 3`;
  const read = execFileSync("sh", ["-c", command], { cwd: shell.directory });
  assert.deepEqual(read, sampleBytes(3));
  assert.equal(await readFile(join(shell.directory, "code"), "utf8"), "141\n");
  assert.equal(await readFile(join(shell.directory, "told"), "utf8"), "");
  assertNothingLeftOver(join(shell.directory, ".store"));
});

test("object put refuses a folder as stdin with a message", async (t) => {
  const shell = await openShellWithBucket(t);
  const command = `exec "${process.execPath}" "${program}" object put photos/a - < .`;
  const { status, stderr } = spawnSync("sh", ["-c", command], { cwd: shell.directory, encoding: "utf8" });
  assert.deepEqual([status, stderr], [1, "error: Standard input is a folder; use a file or a pipe.\n"]);
});

test("object head describes an object with a customer-provided key, and object get refuses to read it", async (t) => {
  const shell = await openShellWithBucket(t);
  const { engine } = await openEngine(join(shell.directory, ".store"));
  await engine.put("photos", "sealed", sampleBytes(100), {
    customerKey: sampleBytes(32),
    httpMetadata: { cacheExpiry: Date.UTC(2026, 10, 15) },
  });
  await engine.close();
  const told = await shell.store("object", "head", "photos/sealed");
  assert.match(told, /^encryption key MD5\t[0-9a-f]{32}$/m);
  assert.match(told, /^expires\t2026-11-15T00:00:00\.000Z$/m);
  assert.match(await shell.fails(1, ["object", "get", "photos/sealed"]), /encrypted with a customer key/);
});

test("a command whose output cannot be written fails with a message", async (t) => {
  const shell = await openShellWithBucket(t);
  const command = `exec "${process.execPath}" "${program}" bucket list > /dev/full`;
  const { status, stderr } = spawnSync("sh", ["-c", command], { cwd: shell.directory, encoding: "utf8" });
  assert.deepEqual([status, stderr], [1, "error: Cannot write: the disk is full.\n"]);
});

test("deleting or replacing an object frees its disk space", async (t) => {
  const shell = await openShellWithBucket(t);
  const location = join(shell.directory, ".store");
  await writeFile(join(shell.directory, "big"), sampleBytes(1_000_000));
  await shell.store("object", "put", "photos/a/b", "big");
  await shell.store("object", "put", "photos/a/b", "big");
  assert.equal(blobFiles(location).length, 1, "a replacing put frees the previous blob");
  assert.equal(await shell.store("object", "delete", "photos/a/b"), "Deleted photos/a/b.\n");
  assert.equal(await shell.store("object", "list", "photos", "--json"), "[]\n");
  assert.deepEqual(blobFiles(location), [], "a delete frees the blob");
  assertNothingLeftOver(join(shell.directory, ".store"));
  await shell.run(["object", "put", "photos/c", "-"], { input: "c" });
  const deleted = JSON.parse(await shell.store("object", "delete", "photos/c", "--json"));
  assert.deepEqual(deleted, { bucket: "photos", key: "c", deleted: true });
});
