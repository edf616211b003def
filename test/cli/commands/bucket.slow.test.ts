// `store bucket`: create, list, info and delete, with text and JSON output.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { openEngine } from "../../../src/open.ts";
import { assertNothingLeftOver } from "../../support/disk/on-disk.ts";
import { openShell, type Shell } from "../store.ts";

/** Fills a bucket directly, which is faster than one process for each object. */
async function fill({ directory }: Shell, bucket: string, objects: number): Promise<void> {
  const { engine } = await openEngine(join(directory, ".store"));
  const keys = Array.from({ length: objects }, (_, i) => `key-${String(i).padStart(6, "0")}`);
  const bytes = new TextEncoder().encode("some bytes");
  await Promise.all(keys.map((key) => engine.put(bucket, key, bytes)));
  await engine.close();
}

test("a created bucket is listed with name, creation time and storage class", async (t) => {
  const shell = await openShell(t);
  assert.equal(await shell.store("bucket", "create", "photos"), "Created bucket photos.\n");
  const created = await shell.store(
    "bucket",
    "create",
    "archive",
    "--storage-class",
    "InfrequentAccess",
    "--json",
  );
  const archive = JSON.parse(created) as { created: string };
  assert.deepEqual(archive, { name: "archive", created: archive.created, storageClass: "InfrequentAccess" });

  const lines = (await shell.store("bucket", "list")).trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => line.split("\t")[0]),
    ["archive", "photos"],
  );
  assert.equal(lines[0], `archive\t${archive.created}\tInfrequentAccess\tprivate`);
  const listed = JSON.parse(await shell.store("bucket", "list", "--json")) as { name: string }[];
  assert.deepEqual(listed[0], { ...archive, public: false });
  assert.deepEqual(
    listed.map(({ name }) => name),
    ["archive", "photos"],
  );
});

test("bucket list prints every bucket of a store with 150 buckets", async (t) => {
  const shell = await openShell(t);
  const { engine } = await openEngine(join(shell.directory, ".store"));
  const names = Array.from({ length: 150 }, (_, i) => `bucket-${String(i).padStart(4, "0")}`);
  for (const name of names) await engine.createBucket(name);
  await engine.close();
  const listed = (await shell.store("bucket", "list")).trimEnd().split("\n");
  assert.deepEqual(
    listed.map((line) => line.split("\t")[0]),
    names,
  );
});

test("bucket list without buckets prints only a note to stderr", async (t) => {
  const shell = await openShell(t);
  await shell.store("bucket", "create", "photos");
  await shell.store("bucket", "delete", "photos");
  const { code, stdout, stderr } = await shell.run(["bucket", "list"]);
  assert.deepEqual([code, stdout], [0, ""]);
  assert.match(stderr, /no buckets yet/);
  assert.equal(await shell.store("bucket", "list", "--json"), "[]\n");
});

test("bucket info prints name, creation time, storage class, objects and bytes", async (t) => {
  const shell = await openShell(t);
  await shell.store("bucket", "create", "photos");
  await fill(shell, "photos", 12);
  const info = JSON.parse(await shell.store("bucket", "info", "photos", "--json")) as { created: string };
  assert.deepEqual(info, {
    name: "photos",
    created: info.created,
    storageClass: "Standard",
    objects: 12,
    bytes: 120,
    versioning: "off",
    noncurrentVersions: 0,
    noncurrentBytes: 0,
    public: null,
    policy: null,
    encryption: "off",
    quota: null,
    objectLock: false,
    lockRules: 0,
    corsRules: 0,
    lifecycleRules: 0,
    notificationRules: 0,
    tags: {},
  });
  assert.equal(
    await shell.store("bucket", "info", "photos"),
    `name\tphotos\ncreated\t${info.created}\nstorage class\tStandard\nobjects\t12\nsize\t120\n` +
      "versioning\toff\npublic\tno\npolicy\tnone\nencryption\toff\nquota\tnone\n" +
      "lifecycle\tdefault: incomplete uploads are aborted after 7 days\n",
  );
});

test("an empty bucket is deleted; a bucket with objects is deleted only with --force, with all its data", async (t) => {
  const shell = await openShell(t);
  await shell.store("bucket", "create", "empty");
  assert.equal(await shell.store("bucket", "delete", "empty"), "Deleted bucket empty.\n");

  await shell.store("bucket", "create", "photos");
  await fill(shell, "photos", 2100);
  assert.match(await shell.fails(1, ["bucket", "delete", "photos"]), /is not empty/);
  assert.match(await shell.store("bucket", "info", "photos"), /^objects\t2100$/m);
  assert.equal(
    await shell.store("bucket", "delete", "photos", "--force"),
    "Deleted bucket photos and 2100 objects in it.\n",
  );
  assert.equal(await shell.store("bucket", "list", "--json"), "[]\n");
  assertNothingLeftOver(join(shell.directory, ".store"));
});

test("bucket delete --force --yes --json deletes without confirmation", async (t) => {
  const shell = await openShell(t);
  await shell.store("bucket", "create", "photos");
  await fill(shell, "photos", 1);
  const deleted = JSON.parse(await shell.store("bucket", "delete", "photos", "--force", "--yes", "--json"));
  assert.deepEqual(deleted, { name: "photos", deleted: true, objects: 1, noncurrentVersions: 0 });
});

test("commands work while another process has the data directory open, and both see each other's writes", async (t) => {
  const shell = await openShell(t);
  const { engine } = await openEngine(join(shell.directory, ".store"));
  t.after(() => engine.close());
  await shell.store("bucket", "create", "photos");
  await engine.put("photos", "from-the-server", new TextEncoder().encode("server"));
  assert.equal(await shell.store("object", "get", "photos/from-the-server"), "server");
  const put = await shell.run(["object", "put", "photos/from-the-command", "-"], { input: "command" });
  assert.equal(put.code, 0, put.stderr);
  assert.equal((await engine.head("photos", "from-the-command"))?.size, 7);
  assert.match(await shell.store("verify"), /No damage found/);
  await shell.store("bucket", "delete", "photos", "--force");
  assert.deepEqual(await engine.listBuckets(), []);
});
