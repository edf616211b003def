// Versions on the command line: versioning of a bucket, reads of earlier versions, deletes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { assertRefused } from "../refusals.ts";
import { openShellWithBucket, type Shell } from "../store.ts";

interface ListedVersion {
  readonly key: string;
  readonly version: string;
  readonly uploaded: string;
  readonly isDeleteMarker: boolean;
  readonly isCurrent: boolean;
  readonly until: string | null;
  readonly size?: number;
}

async function put(shell: Shell, address: string, input: string, ...options: string[]): Promise<void> {
  const { code, stderr } = await shell.run(["object", "put", address, "-", ...options], { input });
  assert.equal(code, 0, stderr);
}

async function versionsOf(shell: Shell, address: string): Promise<ListedVersion[]> {
  return JSON.parse(await shell.store("object", "versions", address, "--json")) as ListedVersion[];
}

/** Returns a time after all earlier writes and before all later ones. */
async function timeBetween(): Promise<string> {
  await pause(5);
  const time = new Date().toISOString();
  await pause(5);
  return time;
}

/** A versioned bucket with an object that was put twice, and the time between both puts. */
async function openVersioned(t: Parameters<typeof openShellWithBucket>[0]) {
  const shell = await openShellWithBucket(t);
  await shell.store("bucket", "versioning", "photos", "on");
  await put(shell, "photos/cat", "first");
  const between = await timeBetween();
  await put(shell, "photos/cat", "second!");
  return { shell, between };
}

test("bucket versioning shows, turns on and suspends versioning, which cannot be turned off", async (t) => {
  const shell = await openShellWithBucket(t);
  const versioning = (...words: string[]) => shell.store("bucket", "versioning", "photos", ...words);
  assert.equal(await versioning(), "Versioning of bucket photos is off.\n");
  assert.equal(await versioning("on"), "Versioning of bucket photos is on.\n");
  assert.equal(await versioning("suspend"), "Versioning of bucket photos is suspended.\n");
  assert.deepEqual(JSON.parse(await versioning("--json")), { name: "photos", versioning: "suspended" });
  await assertRefused(shell, 2, [
    [["bucket", "versioning", "photos", "off"], "cannot be turned off"],
    [["bucket", "versioning", "photos", "maybe"], "Write on or suspend"],
    [["bucket", "versioning"], "needs <bucket>"],
  ]);
  await assertRefused(shell, 1, [[["bucket", "versioning", "other"], 'There is no bucket "other"']]);
  const audit = (await shell.store("audit", "--act", "change versioning")).trim().split("\n");
  assert.equal(audit.length, 2);
});

test("object versions lists versions and delete markers, the newest of each key first", async (t) => {
  const { shell } = await openVersioned(t);
  await shell.store("object", "delete", "photos/cat");
  await put(shell, "photos/dog", "third");
  const listed = await versionsOf(shell, "photos");
  assert.deepEqual(
    listed.map(({ key, size, isCurrent, isDeleteMarker }) => [key, size, isCurrent, isDeleteMarker]),
    [
      ["cat", undefined, true, true],
      ["cat", 7, false, false],
      ["cat", 5, false, false],
      ["dog", 5, true, false],
    ],
  );
  const [marker, second, first, dog] = listed as [ListedVersion, ListedVersion, ListedVersion, ListedVersion];
  assert.deepEqual([first.until, second.until, marker.until], [second.uploaded, marker.uploaded, null]);
  assert.equal(
    await shell.store("object", "versions", "photos"),
    [
      `-\t${marker.uploaded}\t${marker.version}\tdeleted\tcat`,
      `7\t${second.uploaded}\t${second.version}\t-\tcat`,
      `5\t${first.uploaded}\t${first.version}\t-\tcat`,
      `5\t${dog.uploaded}\t${dog.version}\tcurrent\tdog\n`,
    ].join("\n"),
  );
  assert.equal((await versionsOf(shell, "photos/d")).length, 1);
  const two = await shell.store("object", "versions", "photos", "--limit", "2");
  assert.equal(two.trim().split("\n").length, 2);
  const none = await shell.run(["object", "versions", "photos/none"]);
  assert.deepEqual([none.code, none.stdout, none.stderr], [0, "", "There are no versions.\n"]);
});

test("object get and head read a version by its id, and the version that was current at a time", async (t) => {
  const { shell, between } = await openVersioned(t);
  const [second, first] = await versionsOf(shell, "photos/cat");
  const get = (...options: string[]) => shell.store("object", "get", "photos/cat", ...options);
  assert.equal(await get(), "second!");
  assert.equal(await get("--version", first!.version), "first");
  assert.equal(await get("--at", between), "first");
  assert.equal(await get("--at", second!.uploaded), "second!");
  const head = JSON.parse(await shell.store("object", "head", "photos/cat", "--at", between, "--json"));
  assert.equal((head as ListedVersion).version, first!.version);
  await assertRefused(shell, 1, [
    [["object", "get", "photos/cat", "--at", "1d"], "did not exist", "store object versions photos/cat"],
    [["object", "get", "photos/cat", "--version", "none"], 'no version "none" of "cat"'],
    [["object", "head", "photos/dog", "--version", "none"], 'no version "none" of "dog"'],
  ]);
  await assertRefused(shell, 2, [
    [["object", "get", "photos/cat", "--at", "soon"], "--at needs a time", "2h for 2 hours ago"],
    [["object", "head", "photos/cat", "--at", "2126-01-01"], "must be in the past"],
    [["object", "get", "photos/cat", "--at", "1h", "--version", "x"], "cannot be combined"],
  ]);
});

test("object list --at lists the objects that existed at the time, with their earlier sizes", async (t) => {
  const { shell, between } = await openVersioned(t);
  await put(shell, "photos/dog", "third");
  await shell.store("object", "delete", "photos/cat");
  const list = async (...options: string[]) => {
    const listed = JSON.parse(await shell.store("object", "list", "photos", "--json", ...options));
    return (listed as ListedVersion[]).map(({ key, size }) => [key, size]);
  };
  assert.deepEqual(await list(), [["dog", 5]]);
  assert.deepEqual(await list("--at", between), [["cat", 5]]);
  assert.deepEqual(await list("--at", "1d"), []);
});

test("object list --at notes that a bucket without versioning has no earlier versions", async (t) => {
  const shell = await openShellWithBucket(t);
  await put(shell, "photos/cat", "first");
  const { stdout, stderr } = await shell.run(["object", "list", "photos", "--at", "1d"]);
  assert.equal(stdout, "");
  assert.match(stderr, /has no versions: objects that were replaced or deleted since are not listed/);
});

test("object delete in a versioned bucket leaves a delete marker, whose removal brings the object back", async (t) => {
  const { shell } = await openVersioned(t);
  const deleted = await shell.run(["object", "delete", "photos/cat"]);
  assert.equal(deleted.stdout, "Deleted photos/cat.\n");
  assert.match(deleted.stderr, /A delete marker hides it; .*store object versions photos\/cat/);
  const [marker] = await versionsOf(shell, "photos/cat");
  const id = marker!.version;
  await assertRefused(shell, 1, [
    [["object", "get", "photos/cat"], 'The object "cat" in bucket "photos" was deleted at'],
    [["object", "head", "photos/cat"], "was deleted at", "store object versions photos/cat"],
    [["object", "delete", "photos/cat"], "was deleted at"],
    [["object", "get", "photos/cat", "--version", id], "is a delete marker"],
    [["object", "tags", "photos/cat", "--version", id], "is a delete marker"],
  ]);
  const removal = await shell.store("object", "delete", "photos/cat", "--version", id);
  assert.equal(removal, `Deleted delete marker ${id} of photos/cat.\n`);
  assert.equal(await shell.store("object", "get", "photos/cat"), "second!");
});

test("object delete --json reports the delete marker, and delete --version removes a version for good", async (t) => {
  const { shell } = await openVersioned(t);
  const [second, first] = await versionsOf(shell, "photos/cat");
  const removed = JSON.parse(
    await shell.store("object", "delete", "photos/cat", "--version", second!.version, "--json"),
  );
  assert.deepEqual(removed, {
    bucket: "photos",
    key: "cat",
    version: second!.version,
    isDeleteMarker: false,
    deleted: true,
  });
  assert.equal(await shell.store("object", "get", "photos/cat"), "first");
  const hidden = JSON.parse(await shell.store("object", "delete", "photos/cat", "--json"));
  const [marker] = await versionsOf(shell, "photos/cat");
  assert.deepEqual(hidden, { bucket: "photos", key: "cat", deleted: true, deleteMarker: marker!.version });
  assert.equal((await versionsOf(shell, "photos/cat")).at(-1)!.version, first!.version);
  const again = ["object", "delete", "photos/cat", "--version", second!.version];
  assert.match(await shell.fails(1, again), /There is no version/);
  const alone = ["object", "delete", "photos/cat", "--bypass-governance"];
  assert.match(await shell.fails(2, alone), /needs a version/);
});

test("a version written before versioning was turned on is read as version null", async (t) => {
  const shell = await openShellWithBucket(t);
  await put(shell, "photos/cat", "early");
  await shell.store("bucket", "versioning", "photos", "on");
  await put(shell, "photos/cat", "later");
  assert.equal(await shell.store("object", "get", "photos/cat", "--version", "null"), "early");
});

test("bucket info shows versioning and the number and size of noncurrent versions", async (t) => {
  const { shell } = await openVersioned(t);
  assert.match(
    await shell.store("bucket", "info", "photos"),
    /^versioning\ton\nnoncurrent versions\t1\nnoncurrent size\t5$/m,
  );
  const info = JSON.parse(await shell.store("bucket", "info", "photos", "--json"));
  assert.deepEqual(
    [info.objects, info.bytes, info.versioning, info.noncurrentVersions, info.noncurrentBytes],
    [1, 7, "on", 1, 5],
  );
});

test("bucket delete --force removes all versions and delete markers, and frees their space", async (t) => {
  const { shell } = await openVersioned(t);
  await put(shell, "photos/dog", "third");
  await shell.store("object", "delete", "photos/cat");
  assert.match(await shell.fails(1, ["bucket", "delete", "photos"]), /is not empty/);
  assert.equal(
    await shell.store("bucket", "delete", "photos", "--force"),
    "Deleted bucket photos and 1 object and 3 noncurrent versions in it.\n",
  );
  assert.equal(await shell.store("bucket", "list", "--json"), "[]\n");
  assert.match(await shell.store("verify"), /No damage found/);
});
