// cp, mv, rm, ls and du on the files of a store, and sync between stores.
import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openDesk } from "./desk.ts";

test("cp, mv, rm, ls and du work on the files of a store", async (t) => {
  const desk = await openDesk(t, "files");
  for (const name of ["in/a.txt", "in/b.jpg", "in/sub/c.jpg"]) await desk.write(name, name);
  await desk.store("cp", "./in", "photos/x", "--recursive");
  await desk.store("cp", "photos/x/*.jpg", "photos/y/");
  await desk.store("mv", "photos/x/a.txt", "photos/z.txt");
  assert.deepEqual(await desk.keys("photos"), ["x/b.jpg", "x/sub/c.jpg", "y/b.jpg", "z.txt"]);
  await desk.store("mv", "photos/z.txt", "./out/");
  assert.equal(await readFile(join(desk.directory, "out/z.txt"), "utf8"), "in/a.txt");
  await desk.store("rm", "photos/x", "--recursive", "--yes");
  assert.equal(await desk.store("du", "photos"), "8\t1\tphotos/\n");
  assert.match(await desk.store("ls", "photos"), /^-\t-\ty\/\n$/);
});

test("sync works between two buckets and between stores, and copies only what differs", async (t) => {
  const desk = await openDesk(t, "files");
  for (const name of ["in/a.txt", "in/b.txt"]) await desk.write(name, name);
  await desk.store("sync", "./in", "photos/x");
  const counts = async (...args: string[]) => {
    const lines = (await desk.store("sync", ...args, "--json")).trim().split("\n");
    const { copied, same, deleted } = JSON.parse(lines.at(-1)!) as Record<string, number>;
    return { copied, same, deleted };
  };
  assert.deepEqual(await counts("photos/x", "work:shelf/y"), { copied: 2, same: 0, deleted: 0 });
  assert.deepEqual(await counts("photos/x", "work:shelf/y"), { copied: 0, same: 2, deleted: 0 });
  await desk.store("rm", "photos/x/a.txt");
  await desk.write("in/b.txt", "changed");
  await desk.store("cp", "in/b.txt", "photos/x/");
  assert.deepEqual(await counts("photos/x", "work:shelf/y", "--delete"), { copied: 1, same: 0, deleted: 1 });
  assert.deepEqual(await counts("work:shelf/y", "./out"), { copied: 1, same: 0, deleted: 0 });
  assert.equal(await readFile(join(desk.directory, "out/b.txt"), "utf8"), "changed");
  assert.match(await desk.fails("sync", "photos", "photos/x"), /2: error: One side contains the other/);
  assert.match(
    await desk.fails("sync", "photos/typo", "work:shelf", "--delete"),
    /1: error: "photos\/typo\/" contains no objects/,
  );
  const { objects } = await desk.engine.list("shelf");
  assert.deepEqual(
    objects.map(({ key }) => key),
    ["y/b.txt"],
  );
});

test("a word is the folder or the bucket that exists; a word that may be both is refused", async (t) => {
  const desk = await openDesk(t, "files");
  await desk.write("site/index.html", "<p>");
  const { code, stderr } = await desk.run("sync", "site", "photos");
  assert.equal(code, 0);
  assert.match(stderr, /Using the path \.\/site, because there is no bucket "site"/);
  assert.deepEqual(await desk.keys("photos"), ["index.html"]);
  await mkdir(join(desk.directory, "photos"));
  const refusal = await desk.fails("sync", "site", "photos");
  assert.match(refusal, /^2: [\s\S]*error: "photos" is a path here[\s\S]*\.\/photos[\s\S]*s3:\/\/photos/);
  await desk.store("sync", "site", "s3://photos");
  assert.match(
    await desk.fails("cp", "nothing", "s3://photos/x"),
    /1: error: "nothing" is neither a path nor in a bucket/,
  );
  assert.match(await desk.fails("sync", "./site", "./site2"), /2: error: Both sides are folders/);
});
