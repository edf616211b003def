// cp, mv, rm, ls and du on a service that a profile names.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openDesk } from "./desk.ts";

test("cp copies files, folders and patterns to a bucket and back", async (t) => {
  const desk = await openDesk(t, "service");
  for (const name of ["in/a.txt", "in/b.jpg", "in/sub/c.jpg"]) await desk.write(name, name);
  await desk.store("cp", "./in", "photos/x", "--recursive");
  await desk.store("cp", "in/a.txt", "s3://photos/");
  await desk.store("cp", "./in/a.txt", "photos/other name.txt");
  assert.deepEqual(await desk.keys("photos"), [
    "a.txt",
    "other name.txt",
    "x/a.txt",
    "x/b.jpg",
    "x/sub/c.jpg",
  ]);
  assert.match(await desk.store("object", "head", "photos/x/b.jpg"), /content type\timage\/jpeg/);

  await desk.store("cp", "photos/x/*.jpg", "./flat/");
  assert.deepEqual(await readdir(join(desk.directory, "flat")), ["b.jpg"]);
  await desk.store("cp", "photos/x", "./deep", "--recursive", "--include", "*.jpg", "--exclude", "b.*");
  assert.deepEqual(await readdir(join(desk.directory, "deep"), { recursive: true }), ["sub", "sub/c.jpg"]);
  assert.equal(await desk.store("cp", "photos/x/a.txt", "-"), "in/a.txt");
  const dry = await desk.store("cp", "photos/x", "./none", "--recursive", "--dry-run");
  assert.match(dry, /copy\t8\tx\/a\.txt\n/);
  assert.ok(!(await readdir(desk.directory)).includes("none"), "a dry run creates nothing");
});

test("cp and mv between buckets keep metadata and tags; mv deletes only what it copied", async (t) => {
  const desk = await openDesk(t, "service");
  await desk.store("bucket", "create", "archive");
  const file = await desk.write("a.txt", "one");
  await desk.store("object", "put", "photos/a.txt", file, "--metadata", "who=me", "--tag", "x=y");
  await desk.store("cp", "photos/a.txt", "archive/copy.txt");
  assert.match(await desk.store("object", "head", "archive/copy.txt"), /metadata who\tme\ntag x\ty/);
  await desk.store("mv", "photos/a.txt", "archive/");
  assert.deepEqual(await desk.keys("photos"), []);
  assert.deepEqual(await desk.keys("archive"), ["a.txt", "copy.txt"]);
  await desk.store("mv", "archive/", "./back", "--recursive");
  assert.deepEqual(await desk.keys("archive"), []);
  assert.equal(await readFile(join(desk.directory, "back/a.txt"), "utf8"), "one");
  await desk.store("mv", "./back/a.txt", "photos/again.txt");
  assert.deepEqual(await readdir(join(desk.directory, "back")), ["copy.txt"]);
  assert.match(await desk.fails("mv", "photos/again.txt", "photos/again.txt"), /1: .*the same object/);
  assert.deepEqual(await desk.keys("photos"), ["again.txt"]);
});

test("copies between a store and a service keep the name of the storage class and the redirect", async (t) => {
  const desk = await openDesk(t, "files");
  const { engine } = desk;
  const passthrough = new Map([
    ["class", "GLACIER_IR"],
    ["redirect", "/there"],
  ]);
  await engine.put("shelf", "in/a", Buffer.from("a"), { storageClass: "InfrequentAccess", passthrough });
  await desk.store("sync", "work:shelf/in", "photos");
  await desk.store("cp", "photos/a", "work:shelf/back");
  const record = (await engine.head("shelf", "back"))!;
  assert.equal(record.storageClass, "InfrequentAccess");
  assert.deepEqual(record.passthrough, passthrough);
});

test("rm needs a confirmation for several objects, keeps locked ones and reports them", async (t) => {
  const desk = await openDesk(t, "service");
  const file = await desk.write("a.txt", "one");
  for (const key of ["p/a", "p/b", "p-other", "q"]) await desk.store("object", "put", `photos/${key}`, file);
  assert.match(await desk.fails("rm", "photos/p", "--recursive"), /2: .*needs a confirmation[\s\S]*--yes/);
  assert.match(
    await desk.store("rm", "photos/p", "--recursive", "--dry-run"),
    /delete\tp\/a\ndelete\tp\/b\n/,
  );
  assert.equal((await desk.keys("photos")).length, 4);
  await desk.store("rm", "photos/p", "--recursive", "--yes");
  assert.deepEqual(await desk.keys("photos"), ["p-other", "q"]);
  await desk.store("rm", "photos/q");
  assert.match(await desk.fails("rm", "photos/q"), /1: error: There is no object "q" in bucket "photos"/);

  await desk.store("bucket", "object-lock", "photos", "enable");
  for (const key of ["l/kept", "l/free"]) await desk.store("object", "put", `photos/${key}`, file);
  await desk.store("object", "legal-hold", "photos/l/kept", "on");
  const { code, stderr, stdout } = await desk.run("rm", "photos/l", "--recursive", "--versions", "--yes");
  assert.equal(code, 1);
  assert.match(stderr, /failed: l\/kept \(version [0-9a-f]{32}\): /);
  assert.match(stdout, /Deleted 1 version from photos\/l, 1 failed\./);
  assert.deepEqual(await desk.keys("photos"), ["l/kept", "p-other"]);
});

test("ls shows one level or everything, du adds up", async (t) => {
  const desk = await openDesk(t, "service");
  const file = await desk.write("a.txt", "12345");
  for (const key of ["f/a.txt", "f/g/b.txt", "top.txt"])
    await desk.store("object", "put", `photos/${key}`, file);
  const names = async (...args: string[]) =>
    (await desk.store("ls", ...args))
      .trim()
      .split("\n")
      .map((line) => line.split("\t").at(-1));
  assert.ok((await names()).includes("photos"));
  assert.deepEqual(await names("photos"), ["f/", "top.txt"]);
  assert.deepEqual(await names("s3://photos/f/"), ["a.txt", "g/"]);
  assert.deepEqual(await names("photos", "--recursive"), ["f/a.txt", "f/g/b.txt", "top.txt"]);
  assert.deepEqual(await names("photos/f/**.txt"), ["a.txt", "g/b.txt"]);
  assert.deepEqual(JSON.parse(await desk.store("du", "photos", "--depth", "1", "--json")), [
    { name: "photos/f/", bytes: 10, objects: 2 },
    { name: "photos/", bytes: 15, objects: 3 },
  ]);
  assert.match(await desk.fails("ls", "nob"), /1: error: There is no bucket "nob"/);
});
