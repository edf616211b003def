// Changes to access keys take effect with the next request to a running server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import { toOwner } from "../../../src/access/keys/credentials.ts";
import { type Key, refused, type S3Scene, s3Scene } from "../scene.ts";

const Bucket = "bucket";
const list = (s3: S3Scene, key: Key) => s3.client(key).send(new ListObjectsV2Command({ Bucket }));
const command = async (s3: S3Scene, ...args: string[]) => {
  const { code, stdout, stderr } = await s3.scene.shell.run(["key", ...args, "--data", s3.data, "--json"]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Key;
};

for (const mode of ["dev", "serve"] as const) {
  test(`with store ${mode}, disabling, enabling, rotating or deleting an access key affects the next request`, async (t) => {
    const s3 = await s3Scene(t, mode);
    const key = await s3.newKey("--grant", "bucket:list");
    await list(s3, key);
    await command(s3, "disable", key.accessKeyId);
    await refused(list(s3, key), "InvalidAccessKeyId", 403);
    await command(s3, "enable", key.accessKeyId);
    await list(s3, key);

    const { secretAccessKey } = await command(s3, "rotate", key.accessKeyId, "--keep", "1h");
    const rotated = { ...key, secretAccessKey };
    await list(s3, rotated);
    await list(s3, key);
    await command(s3, "rotate", key.accessKeyId);
    await refused(list(s3, key), "SignatureDoesNotMatch", 403);
    await refused(list(s3, rotated), "SignatureDoesNotMatch", 403);

    await command(s3, "delete", key.accessKeyId);
    await refused(list(s3, key), "InvalidAccessKeyId", 403);
    const { code, stderr } = await s3.scene.shell.run(["key", "rotate", key.accessKeyId, "--data", s3.data]);
    assert.equal(code, 1);
    assert.match(stderr, /There is no access key ".*"\.\n.*store key list/);
  });
}

test("requests with an expired access key or a wrong expected bucket owner are refused", async (t) => {
  const s3 = await s3Scene(t);
  const key = await s3.newKey("--expires", "1s");
  await new Promise((resolve) => setTimeout(resolve, 1100));
  await refused(list(s3, key), "InvalidAccessKeyId", 403);
  const put = (ExpectedBucketOwner: string) =>
    s3.client().send(new PutObjectCommand({ Bucket, Key: "x", Body: "x", ExpectedBucketOwner }));
  await put(toOwner("default").id);
  await refused(put(toOwner("stranger").id), "AccessDenied", 403);
});
