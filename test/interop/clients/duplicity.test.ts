// duplicity: a full backup and an increment of it, in volumes, verified and restored.
import assert from "node:assert/strict";
import { ListObjectsV2Command } from "@aws-sdk/client-s3";
import { assertSameFolders, changeFiles, writeBigFile, writeOddFiles } from "../files.ts";
import { everydayJobs } from "../scene.ts";

everydayJobs(
  "duplicity",
  async ({ url, key }, directory) => ({
    environment: {
      AWS_ACCESS_KEY_ID: key.accessKeyId,
      AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
      AWS_EC2_METADATA_DISABLED: "true",
    },
    // Encryption is off, because it would start an agent that outlives the call.
    args: [
      ...["--no-encryption", "--s3-endpoint-url", url, "--archive-dir", `${directory}/archive`],
      ...["--volsize", "10", "--num-retries", "1"],
    ],
  }),
  async (t, { run, call, path, s3 }) => {
    const target = "boto3+s3://bucket/backups/of this machine";

    await t.test("duplicity backs up files with unusual names, and a large file in volumes", async () => {
      await writeOddFiles(path("files"));
      await writeBigFile(path("files", "big.bin"));
      assert.match(await run("full", path("files"), target), /^Errors 0$/m);
      const listed = await s3.client().send(new ListObjectsV2Command({ Bucket: "bucket" }));
      assert.match(
        listed.Contents!.map(({ Key }) => Key).join("\n"),
        /^backups\/of this machine\/.*\.vol4\./m,
      );
    });

    await t.test("duplicity stores only changes in an incremental backup", async () => {
      await changeFiles(path("files"));
      const output = await run("incremental", path("files"), target);
      assert.match(output, /^NewFiles 3$/m);
      assert.match(output, /^DeletedFiles 1$/m);
    });

    await t.test("duplicity verify succeeds for equal files and fails for different files", async () => {
      await run("verify", "--compare-data", target, path("files"));
      await writeOddFiles(path("others"));
      assert.notEqual((await call(["verify", "--compare-data", target, path("others")])).code, 0);
    });

    await t.test("duplicity restores a backup, and lists it without its local archive", async () => {
      await run("restore", target, path("restored"));
      await assertSameFolders(path("restored"), path("files"));
      const listed = await run("list-current-files", "--archive-dir", path("other archive"), target);
      assert.match(listed, / deep\/er\/and\/deeper\/still\/file\.bin$/m);
    });

    await t.test("duplicity removes all backups except the newest", async () => {
      await run("full", path("files"), target);
      await run("remove-all-but-n-full", "1", "--force", target);
      const status = await run("collection-status", target);
      assert.match(status, /Number of contained backup sets: 1$/m);
      await run("verify", "--compare-data", target, path("files"));
    });
  },
);
