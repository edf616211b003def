// Bucket policies through the S3 API: who is allowed what, signed and anonymous.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteBucketPolicyCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketPolicyCommand,
  GetBucketPolicyStatusCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  PutPublicAccessBlockCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { type Key, refused, type S3Scene, s3Scene } from "../../scene.ts";

let scene: S3Scene;
let owner: S3Client;
let otherKey: Key;
let other: S3Client;
const cleanups: (() => unknown)[] = [];
before(async () => {
  scene = await s3Scene({ after: (run) => void cleanups.push(run as () => unknown) });
  owner = scene.client();
  otherKey = await scene.newKey("--account", "other");
  other = scene.client(otherKey);
});
after(async () => {
  for (const run of cleanups.reverse()) await run();
});

let count = 0;
async function newBucket(): Promise<string> {
  const bucket = `policies-${count++}`;
  await owner.send(new CreateBucketCommand({ Bucket: bucket }));
  await owner.send(new PutObjectCommand({ Bucket: bucket, Key: "open/a", Body: "a" }));
  await owner.send(new PutObjectCommand({ Bucket: bucket, Key: "closed/a", Body: "a" }));
  return bucket;
}

interface Given {
  readonly Effect?: "Allow" | "Deny";
  readonly Principal?: unknown;
  readonly Action: string | readonly string[];
  readonly on?: string | readonly string[];
  readonly Condition?: unknown;
}

/** Puts a policy. `on` is the part of the resource after the bucket's name. */
async function putPolicy(bucket: string, ...statements: Given[]): Promise<void> {
  const Statement = statements.map(({ on = "/*", ...rest }) => ({
    Effect: "Allow",
    Principal: "*",
    Resource: [on].flat().map((part) => `arn:aws:s3:::${bucket}${part}`),
    ...rest,
  }));
  const Policy = JSON.stringify({ Version: "2012-10-17", Statement });
  await owner.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
}

const get = (client: S3Client, Bucket: string, Key: string) =>
  client.send(new GetObjectCommand({ Bucket, Key })).then(({ Body }) => Body!.transformToString());
const anonymousStatus = async (path: string, init?: RequestInit) => {
  const response = await fetch(`${scene.url}/${path}`, init);
  await response.arrayBuffer();
  return response.status;
};

test("a policy is returned as it was put, and can be deleted", async () => {
  const bucket = await newBucket();
  await refused(owner.send(new GetBucketPolicyCommand({ Bucket: bucket })), "NoSuchBucketPolicy", 404);
  const Policy = `{ "Statement": {"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::${bucket}/*"} }`;
  await owner.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
  assert.equal((await owner.send(new GetBucketPolicyCommand({ Bucket: bucket }))).Policy, Policy);
  await owner.send(new DeleteBucketPolicyCommand({ Bucket: bucket }));
  await refused(owner.send(new GetBucketPolicyCommand({ Bucket: bucket })), "NoSuchBucketPolicy", 404);
});

test("an anonymous caller may read what a policy opens to everyone, and nothing else", async () => {
  const bucket = await newBucket();
  assert.equal(await anonymousStatus(`${bucket}/open/a`), 403);
  await putPolicy(bucket, { Action: "s3:GetObject", on: "/open/*" });
  assert.equal(await anonymousStatus(`${bucket}/open/a`), 200);
  assert.equal(await anonymousStatus(`${bucket}/open/a`, { method: "HEAD" }), 200);
  assert.equal(await anonymousStatus(`${bucket}/closed/a`), 403);
  assert.equal(await anonymousStatus(`${bucket}?list-type=2`), 403);
  assert.equal(await anonymousStatus(bucket, { method: "PUT", body: "" }), 403);
  assert.equal(await anonymousStatus(`${bucket}/open/a`, { method: "DELETE" }), 403);
  assert.equal(await anonymousStatus(`${bucket}/open/b`, { method: "PUT", body: "b" }), 403);
  assert.equal(await anonymousStatus("no-such-bucket/a"), 403);
  assert.equal(await anonymousStatus(""), 403);
});

test("a missing key is 404 for a caller who may list the bucket, otherwise 403", async () => {
  const bucket = await newBucket();
  await putPolicy(bucket, { Action: "s3:GetObject" });
  assert.equal(await anonymousStatus(`${bucket}/missing`), 403);
  assert.equal(await anonymousStatus(`${bucket}/missing`, { method: "HEAD" }), 403);
  await putPolicy(bucket, { Action: ["s3:GetObject", "s3:ListBucket"], on: ["", "/*"] });
  assert.equal(await anonymousStatus(`${bucket}/missing`), 404);
  assert.equal(await anonymousStatus(`${bucket}/missing`, { method: "HEAD" }), 404);
});

test("an anonymous caller may put and delete if a policy says so, but never change the bucket", async () => {
  const bucket = await newBucket();
  await putPolicy(bucket, { Action: "s3:*", on: ["", "/*"] });
  assert.equal(await anonymousStatus(`${bucket}/new`, { method: "PUT", body: "new" }), 200);
  assert.equal(await get(owner, bucket, "new"), "new");
  assert.equal(await anonymousStatus(`${bucket}/new`, { method: "DELETE" }), 204);
  assert.equal(await anonymousStatus(`${bucket}?policy`, { method: "DELETE" }), 403);
  assert.equal(await anonymousStatus(`${bucket}?tagging`, { method: "DELETE" }), 403);
  assert.equal(await anonymousStatus(bucket, { method: "DELETE" }), 403);
});

test("an anonymous form may upload if a policy says so", async () => {
  const bucket = await newBucket();
  const post = (key: string, fields: Record<string, string> = {}) => {
    const body = new FormData();
    for (const [name, value] of Object.entries({ key, ...fields })) body.set(name, value);
    body.set("file", new Blob(["form"]), "a.txt");
    return anonymousStatus(bucket, { method: "POST", body });
  };
  assert.equal(await post("open/form"), 403);
  await putPolicy(bucket, { Action: "s3:PutObject", on: "/open/*" });
  assert.equal(await post("open/form"), 204);
  assert.equal(await get(owner, bucket, "open/form"), "form");
  assert.equal(await post("closed/form"), 403);
  const tagging = "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>";
  assert.equal(await post("open/tagged", { tagging }), 403);
  assert.equal(await post("open/public", { acl: "public-read" }), 403);
  for (const name of ["policy", "x-amz-signature", "x-amz-credential", "AWSAccessKeyId"])
    assert.notEqual(await post("open/form", { [name]: "x" }), 204, name);
});

test("a version needs the actions of versions, and bypassing retention its own", async () => {
  const bucket = `policies-${count++}`;
  await owner.send(new CreateBucketCommand({ Bucket: bucket, ObjectLockEnabledForBucket: true }));
  const { VersionId } = await owner.send(
    new PutObjectCommand({
      Bucket: bucket,
      Key: "a",
      Body: "a",
      ObjectLockMode: "GOVERNANCE",
      ObjectLockRetainUntilDate: new Date(Date.now() + 3_600_000),
    }),
  );
  const read = () => other.send(new GetObjectCommand({ Bucket: bucket, Key: "a", VersionId }));
  const remove = (BypassGovernanceRetention?: boolean) =>
    other.send(new DeleteObjectCommand({ Bucket: bucket, Key: "a", VersionId, BypassGovernanceRetention }));
  const allow = (...actions: string[]) =>
    putPolicy(bucket, { Principal: { AWS: "other" }, Action: actions.map((one) => `s3:${one}`) });
  await allow("GetObject", "DeleteObject");
  await refused(read(), "AccessDenied");
  await refused(remove(), "AccessDenied");
  await allow("GetObjectVersion", "DeleteObjectVersion");
  await read();
  await refused(remove(), "AccessDenied");
  await refused(remove(true), "AccessDenied");
  const many = (Key: string) =>
    other.send(
      new DeleteObjectsCommand({
        Bucket: bucket,
        Delete: { Objects: [{ Key, VersionId }] },
        BypassGovernanceRetention: true,
      }),
    );
  assert.equal((await many("a")).Errors?.[0]?.Code, "AccessDenied");
  await allow("DeleteObjectVersion", "BypassGovernanceRetention");
  assert.deepEqual(
    (await many("a")).Deleted?.map(({ Key }) => Key),
    ["a"],
  );
});

test("a copy needs the right to read its source, and its tags if it has some", async () => {
  const [from, to] = [await newBucket(), await newBucket()];
  const copy = (Key: string) =>
    other.send(new CopyObjectCommand({ Bucket: to, Key, CopySource: `${from}/open/a` }));
  await putPolicy(to, {
    Principal: { AWS: "other" },
    Action: ["s3:PutObject", "s3:PutObjectTagging"],
    Condition: { StringLike: { "s3:x-amz-copy-source": `${from}/open/*` } },
  });
  await refused(copy("b"), "AccessDenied");
  await putPolicy(from, { Principal: { AWS: "other" }, Action: "s3:GetObject" });
  await copy("b");
  const Tagging = { TagSet: [{ Key: "a", Value: "b" }] };
  await owner.send(new PutObjectTaggingCommand({ Bucket: from, Key: "open/a", Tagging }));
  await refused(copy("c"), "AccessDenied");
  await putPolicy(from, { Principal: { AWS: "other" }, Action: ["s3:GetObject", "s3:GetObjectTagging"] });
  await copy("c");
  await refused(other.send(new PutObjectCommand({ Bucket: to, Key: "d", Body: "d" })), "AccessDenied");
});

test("a server with a full public access block lets no policy open a bucket", async (t) => {
  const blocked = await s3Scene(t, "serve", ["--block-public-access"]);
  const client = blocked.client();
  const Policy = JSON.stringify({
    Statement: { Effect: "Allow", Principal: "*", Action: "s3:GetObject", Resource: "arn:aws:s3:::bucket/*" },
  });
  await refused(client.send(new PutBucketPolicyCommand({ Bucket: "bucket", Policy })), "AccessDenied", 403);
});

test("a part of a signature is not an anonymous request", async () => {
  const bucket = await newBucket();
  await putPolicy(bucket, { Action: "s3:GetObject" });
  const path = `${bucket}/open/a`;
  for (const query of ["X-Amz-Credential=x", "X-Amz-Signature=x", "AWSAccessKeyId=x", "Signature=x"])
    assert.notEqual(await anonymousStatus(`${path}?${query}`), 200, query);
  assert.notEqual(await anonymousStatus(path, { headers: { authorization: "Bearer x" } }), 200);
  assert.notEqual(await anonymousStatus(path, { headers: { "x-amz-security-token": "x" } }), 200);
});

test("a policy lets another account in, by account and by access key", async () => {
  const bucket = await newBucket();
  await refused(get(other, bucket, "open/a"), "AccessDenied");
  for (const AWS of [
    "other",
    "arn:aws:iam::other:root",
    otherKey.accessKeyId,
    `arn:aws:iam:::user/${otherKey.accessKeyId}`,
  ]) {
    await putPolicy(bucket, { Principal: { AWS }, Action: "s3:GetObject", on: "/open/*" });
    assert.equal(await get(other, bucket, "open/a"), "a", AWS);
    await refused(get(other, bucket, "closed/a"), "AccessDenied");
    assert.equal(await anonymousStatus(`${bucket}/open/a`), 403);
  }
});

test("a policy for an account does not reach its keys with grants, which a policy for the key does", async () => {
  const bucket = await newBucket();
  const limited = await scene.newKey("--account", "other", "--grant", "*:read");
  await putPolicy(bucket, { Principal: { AWS: "other" }, Action: "s3:GetObject" });
  await refused(get(scene.client(limited), bucket, "open/a"), "AccessDenied");
  await putPolicy(bucket, { Principal: { AWS: limited.accessKeyId }, Action: "s3:GetObject" });
  assert.equal(await get(scene.client(limited), bucket, "open/a"), "a");
});

test("an explicit deny wins over every grant, but the owner can still replace the policy", async () => {
  const bucket = await newBucket();
  await putPolicy(bucket, { Effect: "Deny", Action: "s3:*", on: ["", "/*"] });
  await refused(get(owner, bucket, "open/a"), "AccessDenied");
  await refused(owner.send(new ListObjectsV2Command({ Bucket: bucket })), "AccessDenied");
  await owner.send(new GetBucketPolicyCommand({ Bucket: bucket }));
  await owner.send(new DeleteBucketPolicyCommand({ Bucket: bucket }));
  assert.equal(await get(owner, bucket, "open/a"), "a");
});

test("deleting several keys refuses those that the policy denies, one by one", async () => {
  const bucket = await newBucket();
  await putPolicy(bucket, { Effect: "Deny", Action: "s3:DeleteObject", on: "/closed/*" });
  const Objects = [{ Key: "open/a" }, { Key: "closed/a" }];
  const { Deleted, Errors } = await owner.send(
    new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects } }),
  );
  assert.deepEqual(
    Deleted?.map(({ Key }) => Key),
    ["open/a"],
  );
  assert.deepEqual(
    Errors?.map(({ Key, Code }) => [Key, Code]),
    [["closed/a", "AccessDenied"]],
  );
});

test("conditions use the tags of the existing object and those of the request", async () => {
  const bucket = await newBucket();
  await putPolicy(
    bucket,
    { Action: "s3:GetObject", Condition: { StringEquals: { "s3:ExistingObjectTag/class": "public" } } },
    {
      Principal: { AWS: "other" },
      Action: ["s3:PutObject", "s3:PutObjectTagging"],
      Condition: { StringEquals: { "s3:RequestObjectTag/class": "public" } },
    },
  );
  assert.equal(await anonymousStatus(`${bucket}/open/a`), 403);
  const tag = (Value: string) => ({ TagSet: [{ Key: "class", Value }] });
  const setTags = (client: S3Client, value: string) =>
    client.send(new PutObjectTaggingCommand({ Bucket: bucket, Key: "open/a", Tagging: tag(value) }));
  await setTags(owner, "public");
  assert.equal(await anonymousStatus(`${bucket}/open/a`), 200);
  await refused(setTags(other, "secret"), "AccessDenied");
  await setTags(other, "public");
  const put = (Tagging?: string) =>
    other.send(new PutObjectCommand({ Bucket: bucket, Key: "mine", Body: "x", Tagging }));
  await put("class=public");
  await refused(put("class=secret"), "AccessDenied");
  await refused(put(), "AccessDenied");
});

test("conditions use the prefix of a listing, the address and the transport", async () => {
  const bucket = await newBucket();
  const list = (Prefix?: string) => other.send(new ListObjectsV2Command({ Bucket: bucket, Prefix }));
  await putPolicy(bucket, {
    Principal: { AWS: "other" },
    Action: "s3:ListBucket",
    on: "",
    Condition: { StringLike: { "s3:prefix": "open/*" } },
  });
  assert.equal((await list("open/")).KeyCount, 1);
  await refused(list("closed/"), "AccessDenied");
  await refused(list(), "AccessDenied");
  const statuses: number[] = [];
  for (const Condition of [
    { IpAddress: { "aws:SourceIp": ["127.0.0.0/8", "::1"] } },
    { IpAddress: { "aws:SourceIp": "192.0.2.0/24" } },
    { NotIpAddress: { "aws:SourceIp": "127.0.0.0/8" } },
    { Bool: { "aws:SecureTransport": "true" } },
    { Bool: { "aws:SecureTransport": false } },
  ]) {
    await putPolicy(bucket, { Action: "s3:GetObject", Condition });
    statuses.push(await anonymousStatus(`${bucket}/open/a`));
  }
  assert.deepEqual(statuses, [200, 403, 403, 403, 200]);
});

test("the public access block refuses public policies and limits those that exist", async () => {
  const bucket = await newBucket();
  const block = (PublicAccessBlockConfiguration: Record<string, boolean>) =>
    owner.send(new PutPublicAccessBlockCommand({ Bucket: bucket, PublicAccessBlockConfiguration }));
  const isPublic = async () =>
    (await owner.send(new GetBucketPolicyStatusCommand({ Bucket: bucket }))).PolicyStatus?.IsPublic;
  await putPolicy(bucket, { Action: "s3:GetObject" });
  assert.equal(await isPublic(), true);
  await block({ RestrictPublicBuckets: true });
  assert.equal(await anonymousStatus(`${bucket}/open/a`), 403);
  await refused(get(other, bucket, "open/a"), "AccessDenied");
  await block({ BlockPublicPolicy: true });
  assert.equal(await anonymousStatus(`${bucket}/open/a`), 200);
  await refused(putPolicy(bucket, { Action: "s3:GetObject" }), "AccessDenied", 403);
  await putPolicy(bucket, { Principal: { AWS: "other" }, Action: "s3:GetObject" });
  assert.equal(await isPublic(), false);
});

test("a malformed policy says what is wrong where, and changes nothing", async () => {
  const bucket = await newBucket();
  await putPolicy(bucket, { Action: "s3:GetObject" });
  await refused(putPolicy(bucket, { Action: "s3:GetObjekt" }), "MalformedPolicy", 400);
  await assert.rejects(
    putPolicy(bucket, { Action: "s3:GetObject", Condition: { StringEquals: { "aws:Nothing": "x" } } }),
    /Statement\[0\]\.Condition\.StringEquals\.aws:Nothing/,
  );
  assert.equal(await anonymousStatus(`${bucket}/open/a`), 200);
});

test("another account cannot read or change a policy, even if the policy allows it", async () => {
  const bucket = await newBucket();
  await putPolicy(bucket, { Principal: { AWS: "other" }, Action: "s3:*", on: ["", "/*"] });
  await refused(other.send(new GetBucketPolicyCommand({ Bucket: bucket })), "AccessDenied", 403);
  await refused(other.send(new DeleteBucketPolicyCommand({ Bucket: bucket })), "AccessDenied", 403);
  await other.send(new DeleteObjectCommand({ Bucket: bucket, Key: "open/a" }));
  await refused(owner.send(new HeadObjectCommand({ Bucket: bucket, Key: "open/a" })), "NotFound");
});
