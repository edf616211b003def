// Checks docs/s3.md: runs its programs and commands against a server, with the S3 clients that are
// installed, and compares its tables with the code.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import * as sdk from "@aws-sdk/client-s3";
import { errors } from "../../src/s3/errors.ts";
import { operationNames, operationRights } from "../../src/s3/operation-rights.ts";
import { root, shellIn } from "../cli/store.ts";
import { s3Scene } from "../s3/scene.ts";
import { programsOf } from "./page/code.ts";
import { type Block, blocksOf, tableUnder } from "./page/markdown.ts";
import {
  cloneFolder,
  curlFolder,
  programFolder,
  type StartedS3,
  withDev,
  writeFiles,
} from "./page/project.ts";
import { play, stepsOf } from "./page/transcript.ts";

const page = readFileSync(join(root, "docs", "s3.md"), "utf8");

/** The host and the access key in docs/s3.md. */
const shown = {
  host: "127.0.0.1:9000",
  accessKeyId: "STOREABCDEFGHIJKLMNO",
  secretAccessKey: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN",
};

function withKeyOf({ url, accessKeyId, secretAccessKey }: StartedS3): (block: Block) => Block {
  return (block) => ({
    ...block,
    text: block.text
      .replaceAll(shown.host, new URL(url).host)
      .replaceAll(shown.accessKeyId, accessKeyId)
      .replaceAll(shown.secretAccessKey, secretAccessKey),
  });
}

/** Creates a project with the bucket `photos` and a file to upload. */
async function photosFolder(t: TestContext): Promise<string> {
  const folder = await cloneFolder(t, "photos");
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await writeFiles(folder, {
    "store.toml":
      'name = "photos"\nmain = "index.js"\ncompatibility_date = "2026-11-01"\n' +
      'store_buckets = [{ binding = "PHOTOS", bucket_name = "photos" }]\n',
    "index.js": "export default { fetch: () => new Response() };",
    "hello.txt": "Hello, world!",
  });
  return folder;
}

const blocks = blocksOf(page);
const clients = ["aws", "rclone", "s3cmd", "restic"];

test("the programs in docs/s3.md, run one after another, return the values shown", async (t) => {
  const directory = await photosFolder(t);
  await withDev(directory, [], async (_, s3) => {
    const programs = blocks.filter(({ language }) => language === "js").map(withKeyOf(s3));
    await writeFile(join(directory, "main.mjs"), programsOf("docs/s3.md", programs));
    await play([{ command: "node --no-warnings main.mjs 2>&1", prints: "" }], { directory });
  });
});

test("the commands in docs/s3.md print the output shown", async (t) => {
  const directory = await photosFolder(t);
  const curl = await curlFolder(t);
  const programs = [await programFolder(t, "store"), ...(curl === undefined ? [] : [curl])].join(":");
  await withDev(directory, [], async (_, s3) => {
    await shellIn(directory).store("object", "put", "photos/hello.txt", "hello.txt");
    const commands = blocks.filter(
      ({ language, heading }) => language === "sh" && !clients.includes(heading),
    );
    assert.notEqual(commands.length, 0);
    const steps = commands.map(withKeyOf(s3)).flatMap(({ text }) => stepsOf(text));
    await play(steps, { directory, programs });
  });
});

for (const client of clients) {
  const isInstalled =
    spawnSync(client, [client === "aws" || client === "s3cmd" ? "--version" : "version"]).status === 0;
  const skip = isInstalled ? false : `${client} is not installed`;
  test(`the commands for ${client} in docs/s3.md print the output shown`, { skip }, async (t) => {
    const directory = await photosFolder(t);
    const mine = blocks.filter(({ heading }) => heading === client);
    await withDev(directory, [], async (_, s3) => {
      const ours = mine.map(withKeyOf(s3));
      for (const { text } of ours.filter(({ language }) => language === "ini")) {
        await writeFiles(directory, { [/^# ~\/(.*)/.exec(text)![1]!]: text });
      }
      const steps = ours.flatMap(({ language, text }) => (language === "sh" ? stepsOf(text) : []));
      assert.notEqual(steps.length, 0);
      await play([{ command: exports(s3), prints: "" }, ...steps], { directory });
    });
  });
}

/** Returns the environment variables that `store dev` prints for S3 clients, as a shell command. */
function exports({ url, accessKeyId, secretAccessKey }: StartedS3): string {
  return (
    `export AWS_ENDPOINT_URL=${url} AWS_REGION=auto ` +
    `AWS_ACCESS_KEY_ID=${accessKeyId} AWS_SECRET_ACCESS_KEY=${secretAccessKey}`
  );
}

/** Operations with different names in S3 and in Store. */
const ownNames = new Map([
  ["GetBucketLifecycleConfiguration", "GetBucketLifecycle"],
  ["PutBucketLifecycleConfiguration", "PutBucketLifecycle"],
  ["GetBucketNotificationConfiguration", "GetBucketNotification"],
  ["PutBucketNotificationConfiguration", "PutBucketNotification"],
  ["GetBucketAccelerateConfiguration", "GetBucketAccelerate"],
]);
const doneRows = tableUnder(page, "Operations that are done");
const refusedNames = tableUnder(page, "Operations that are refused").flatMap(([names]) => names!.split(", "));

test("docs/s3.md lists every supported operation with the permission it requires", () => {
  const told = doneRows.map(([name, right]) => [ownNames.get(name!) ?? name, right]);
  const expected = operationNames.map((name) => {
    const { on, right } = operationRights[name];
    return [name, on === "account" ? "account" : right];
  });
  assert.deepEqual(Object.fromEntries(told), Object.fromEntries(expected));
});

test("docs/s3.md lists every operation of S3 as supported or as refused", () => {
  const all = Object.keys(sdk).flatMap((name) => /^(\w+)Command$/.exec(name)?.[1] ?? []);
  const elsewhere = ["ListDirectoryBuckets", "WriteGetObjectResponse"];
  for (const name of elsewhere) assert.ok(page.includes(`\`${name}\``), name);
  const told = [...doneRows.map(([name]) => name!), ...refusedNames, ...elsewhere];
  assert.deepEqual(told.sort(), [...all, "PostObject"].sort());
});

test("docs/s3.md lists every error with its status", () => {
  const told = tableUnder(page, "Errors").map(([code, status]) => [code, Number(status)]);
  const known = Object.entries(errors).map(([code, [status]]) => [code, status]);
  const rows = known.map(([code, status]) => `| ${code} | ${status} |`).join("\n");
  assert.deepEqual(Object.fromEntries(told), Object.fromEntries(known), `the table should be\n${rows}`);
});

/** The required input of every operation, so that the SDK sends the request. */
const input = {
  Bucket: "bucket",
  Key: "kept",
  Id: "id",
  AnnotationName: "name",
  AnnotationPayload: "x",
  RenameSource: "/bucket/kept",
  Expression: "select 1",
  ExpressionType: "SQL",
  InputSerialization: { CSV: {} },
  OutputSerialization: { CSV: {} },
};

test("every operation that docs/s3.md lists as refused gets 501 and changes nothing", async (t) => {
  const s3 = await s3Scene(t);
  const client = s3.client();
  await client.send(new sdk.PutObjectCommand({ Bucket: "bucket", Key: "kept", Body: "kept" }));
  for (const name of refusedNames) {
    const Command = (sdk as unknown as Record<string, new (input: unknown) => sdk.HeadObjectCommand>)[
      `${name}Command`
    ]!;
    await assert.rejects(
      client.send(new Command(input)),
      (error: sdk.S3ServiceException) => error.$metadata?.httpStatusCode === 501,
      name,
    );
  }
  const found = await client.send(new sdk.GetObjectCommand({ Bucket: "bucket", Key: "kept" }));
  assert.equal(await found.Body?.transformToString(), "kept");
});
