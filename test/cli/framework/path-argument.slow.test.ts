// A command that expects a folder, file or bucket refuses a URL and names the expected argument.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { assertRefused, type Refusal } from "../refusals.ts";
import { openShell, openShellWithBucket } from "../store.ts";

const secret = "hunter2";

test("a URL is refused where a folder, a file or a bucket is expected, and nothing is created", async (t) => {
  const shell = await openShellWithBucket(t);
  assert.equal((await shell.run(["object", "put", "photos/cat", "-"], { input: "meow" })).code, 0);
  await shell.store("init", "project");
  const config = ["--config", "project/store.toml"];
  const before = await readdir(shell.directory);
  const folder = (args: string[], called: string, scheme: string): Refusal => [
    args,
    `${called} takes a folder`,
    `not a URL that starts with "${scheme}"`,
  ];
  await assertRefused(shell, 2, [
    [["backup", "--to", "s3://bucket/x"], "but no S3 service", "AWS_ENDPOINT_URL="],
    folder(["backup", "--to", "s3:bucket"], "--to", "s3:"),
    folder(["backup", "--to", `sftp://user:${secret}@host/x`], "--to", "sftp:"),
    [["backup", "--to", "file:///backups"], "Write the path without file://"],
    [["restore", "--from", "s3://bucket/x"], "but no S3 service", "AWS_ENDPOINT_URL="],
    folder(["restore", "--from", "sftp://host/x", "--verify"], "--from", "sftp:"),
    folder(["bucket", "list", "--data", "s3://bucket/x"], "--data", "s3:"),
    [["bucket", "create", "new", "--data", "gs://bucket/x"], "--data takes a folder or memory:", "--records"],
    [["dev", ...config, "--data", "s3://bucket/x"], "--data takes a folder"],
    [["serve", ...config, "--data", "memory:x"], "--data takes a folder"],
    folder(["copy", "--to", "s3://bucket/x"], "--to", "s3:"),
    folder(["copy", "--from", "mysql:x", "--to", "./y"], "--from", "mysql:"),
    folder(["init", "https://host/x"], "store init", "https:"),
    [["import", "gs://bucket/x", "photos"], '"gs:" is not a folder, an S3 service'],
    [["import", "miniflare:s3://x", "photos"], "miniflare: takes a folder"],
    [["import", ".", "gs://photos/x"], 'not as a URL with "gs:"', "For example: photos/2026"],
    [["sync", ".", "gs://photos/x"], 'A URL that starts with "gs:"', "s3://photos/cat.jpg"],
    [["sync", `https://k:${secret}@host/b`, "./x"], 'A URL that starts with "https:"', "store profile add"],
    [["object", "put", "gs://photos/x", "-"], 'not as a URL with "gs:"', "For example: photos/2026"],
    [["object", "list", `s3://k:${secret}@photos`], 'not as a URL with "s3:"', "For example: photos/2026"],
    [["object", "get", "photos/cat", "s3://other/cat"], "store object get takes a file or -"],
  ]);
  const byVariable = await shell.run(["bucket", "list"], {
    environment: { STORE_DATA: `s3://k:${secret}@host/x` },
  });
  assert.equal(byVariable.code, 2);
  assert.match(byVariable.stderr, /STORE_DATA takes a folder or memory:.*"s3:"/);
  const withPassword = await shell.run(["backup", "--to", `sftp://user:${secret}@host/x`]);
  for (const { stdout, stderr } of [byVariable, withPassword]) {
    assert.doesNotMatch(stdout + stderr, new RegExp(secret));
  }
  assert.deepEqual(await readdir(shell.directory), before, "nothing was created");
});

test("a folder whose name looks like a URL is accepted with ./ before it", async (t) => {
  const shell = await openShell(t);
  const data = ["--data", "./s3:/data"];
  await shell.store("bucket", "create", "photos", ...data);
  await shell.store("backup", "--to", "./s3:/backup", ...data);
  await shell.store("restore", "--from", "./s3:/backup", "--data", "./gs:");
  assert.ok(existsSync(join(shell.directory, "s3:/backup")));
  assert.match(await shell.store("bucket", "list", "--data", "./gs:"), /photos/);
});
