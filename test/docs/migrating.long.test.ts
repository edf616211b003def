// Runs every command in docs/migrating.md, with Store's own S3 API in place of the other services.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CreateBucketCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { program, root } from "../cli/store.ts";
import { s3Scene } from "../s3/scene.ts";
import { temporaryDirectory } from "../support/stores.ts";

const page = readFileSync(join(root, "docs", "migrating.md"), "utf8");

test("every command in docs/migrating.md prints the output shown", async (t) => {
  const { url, key, client } = await s3Scene(t);
  const s3 = client();
  await s3.send(new CreateBucketCommand({ Bucket: "old-photos" }));
  for (const [Key, Body] of [
    ["2025/a.jpg", "a picture.."],
    ["b.jpg", "another one."],
  ] as const) {
    await s3.send(new PutObjectCommand({ Bucket: "old-photos", Key, Body }));
  }
  const directory = await temporaryDirectory(t);
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!);
  assert.equal(blocks.length, 4);
  for (const block of blocks) {
    const lines = block
      .replaceAll(/https:\/\/ACCOUNT\.r2\.cloudflarestorage\.com|http:\/\/minio\.example\.com:9000/g, url)
      .replaceAll("STOREABCDEFGHIJKLMNO", key.accessKeyId)
      .replaceAll("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN", key.secretAccessKey);
    const script = `set -e\nstore() { "${process.execPath}" "${program}" "$@"; }\n${lines}`;
    const environment = { PATH: process.env.PATH, NO_COLOR: "1", TMPDIR: directory };
    const { status, stdout, stderr } = spawnSync("bash", ["-c", script], {
      ...{ cwd: directory, env: environment, encoding: "utf8" },
    });
    assert.equal(status, 0, stderr);
    // Without a terminal, sizes are printed in bytes.
    const printed = stdout.replaceAll(/ bytes?\b/g, " B");
    for (const [, shown] of block.matchAll(/^# (.*)$/gm))
      assert.ok(printed.includes(shown!), `"${shown}" in ${printed}`);
  }
});
