// Refused commands: a message with a hint, exit code 1 or 2, and nothing is changed.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { assertRefused, type Refusal } from "../refusals.ts";
import { contentsOf, filesIn, openShell } from "../store.ts";

test("commands that need an existing store, and usage errors, create no data directory", async (t) => {
  const shell = await openShell(t);
  await assertRefused(
    shell,
    1,
    [
      ["bucket", "list"],
      ["bucket", "info", "photos"],
      ["bucket", "delete", "photos"],
      ["object", "list", "photos"],
      ["object", "head", "photos/a"],
      ["object", "get", "photos/a"],
      ["object", "delete", "photos/a"],
      ["object", "put", "photos/a", "-"],
      ["secret", "list", "--script", "app"],
      ["key", "list"],
      ["verify"],
    ].map((args): Refusal => [args, 'There is no data directory at ".store"', "store bucket create <name>"]),
  );
  await assertRefused(shell, 2, [
    [["bucket", "create", "No"], '"No" is not a valid bucket name'],
    [["bucket", "create", "photos", "--storage-class", "Cold"], "Use Standard or InfrequentAccess"],
    [["secret", "put", "NOT-A-NAME", "--script", "app"], "is not a JavaScript identifier"],
    [["key", "create", "--expires", "soon"], '"soon" is not a duration'],
  ]);
  assert.deepEqual(await filesIn(shell.directory), {});
});

test("a file, or a folder with other files, is refused as data directory", async (t) => {
  const shell = await openShell(t);
  await mkdir(join(shell.directory, "letters"));
  await writeFile(join(shell.directory, "letters", "dear.txt"), "Dear");
  await writeFile(join(shell.directory, "file"), "");
  const before = await filesIn(shell.directory);
  await assertRefused(shell, 1, [
    [
      ["bucket", "create", "photos", "--data", "letters"],
      'is not a data directory: it contains other files, such as "dear.txt"',
    ],
    [["bucket", "create", "photos", "--data", "file"], "it is not a folder"],
    [["bucket", "create", "photos", "--data", "file/below"], "it is not a folder"],
  ]);
  assert.deepEqual(await filesIn(shell.directory), before);
});

test("an unreadable data directory is reported without a stack trace, unless STORE_DEBUG=1 is set", async (t) => {
  const shell = await openShell(t);
  await mkdir(join(shell.directory, ".store"));
  await writeFile(join(shell.directory, ".store", "registry.db"), "This is no database. ".repeat(500));
  const told = await shell.fails(1, ["bucket", "list"]);
  assert.match(told, /^error: Cannot open the data directory "\.store": /);
  const { stderr } = await shell.run(["bucket", "list"], { environment: { STORE_DEBUG: "1" } });
  assert.match(stderr, /^\s+at /m, "STORE_DEBUG=1 shows the stack");
});

test("a failed command leaves buckets, objects, secrets and keys unchanged", async (t) => {
  const shell = await openShell(t);
  await shell.store("bucket", "create", "photos");
  await shell.run(["object", "put", "photos/cat.txt", "-"], { input: "cat" });
  await shell.run(["secret", "put", "TOKEN", "--script", "app"], { input: "t" });
  await shell.store("key", "create");
  await mkdir(join(shell.directory, "folder"));
  const before = await contentsOf(shell.directory);
  const noBucket = ['There is no bucket "nowhere"', "store bucket create nowhere", "store bucket list"];
  const noObject = ['There is no object "dog.txt" in bucket "photos"', "store object list photos"];
  await assertRefused(shell, 1, [
    [["bucket", "create", "photos"], 'The bucket "photos" already exists'],
    [["bucket", "info", "nowhere"], ...noBucket],
    [["bucket", "delete", "nowhere"], ...noBucket],
    [["bucket", "delete", "nowhere", "--force"], ...noBucket],
    [
      ["bucket", "delete", "photos"],
      'The bucket "photos" is not empty',
      "store bucket delete photos --force",
    ],
    [["object", "list", "nowhere"], ...noBucket],
    [["object", "get", "nowhere/a"], ...noBucket],
    [["object", "head", "nowhere/a"], ...noBucket],
    [["object", "delete", "nowhere/a"], ...noBucket],
    [["object", "put", "nowhere/a", "-"], ...noBucket],
    [["object", "head", "photos/dog.txt"], ...noObject],
    [["object", "get", "photos/dog.txt"], ...noObject],
    [["object", "get", "photos/dog.txt", "dog.txt"], ...noObject],
    [["object", "delete", "photos/dog.txt"], ...noObject],
    [["object", "put", "photos/a", "nowhere.jpg"], 'Cannot read "nowhere.jpg": there is no such file'],
    [["object", "put", "photos/a", "folder"], '"folder" is a folder; name a file', "tar c folder"],
    [["object", "get", "photos/cat.txt", "folder"], '"folder" is a folder', "folder/cat.jpg"],
    [["object", "get", "photos/cat.txt", "no/where"], 'there is no folder "no"', "mkdir -p no"],
    [["secret", "delete", "NONE", "--script", "app"], 'has no secret "NONE"', "store secret list"],
    [["secret", "list"], "There is no store.toml"],
    [["key", "delete", "STORENONE"], 'There is no access key "STORENONE"', "store key list"],
    [["key", "create", "--grant", "nowhere:read"], ...noBucket],
  ]);
  await assertRefused(shell, 2, [
    [["bucket", "create", "No"], '"No" is not a valid bucket name', "3 to 63 lowercase letters"],
    [["object", "put", "photos/a", "-", "--storage-class", "Cold"], "Use Standard or InfrequentAccess"],
    [["object", "put", `photos/${"k".repeat(1025)}`, "-"], "The key is too long", "1,024"],
    [["object", "put", "photos/a", "-", "--metadata", `a=${"v".repeat(9000)}`], "metadata is too large"],
    [["secret", "put", "NOT-A-NAME", "--script", "app"], "is not a JavaScript identifier"],
    [["secret", "put", "TOKEN", "--script", "No Script"], "is not a valid script name"],
    [["key", "create", "--grant", "photos"], "has no rights"],
    [["key", "create", "--grant", "photos:fly"], 'Unknown right "fly"'],
  ]);
  assert.deepEqual(await contentsOf(shell.directory), before);
});
