// What docs/s3.md and docs/policies.md say about ACLs, encryption headers and anonymous requests.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../cli/store.ts";
import { tableUnder } from "../docs/page/markdown.ts";
import { assertRefused, bucket, texts, versionedScene } from "./versioned.ts";

const page = readFileSync(join(root, "docs", "s3.md"), "utf8");
const policies = readFileSync(join(root, "docs", "policies.md"), "utf8");

function rowOf(header: string): string {
  const row = tableUnder(page, "Headers").find(([names]) => names!.includes(`\`${header}`));
  assert.ok(row, header);
  return row[1]!;
}

test("canned ACLs have no effect, and grants to others are refused, as both pages say", async (t) => {
  const { request, engine, send } = await versionedScene(t, "plain");
  const put = (headers: Record<string, string>) => request("PUT", "a", { body: "x", headers });
  assert.match(rowOf("x-amz-acl"), /accepted and has no effect/);
  assert.match(policies, /canned ACL, such as `public-read`, is accepted and has no effect/);
  assert.equal((await put({ "x-amz-acl": "public-read" })).status, 200);
  assert.equal((await send({ method: "GET", path: `/${bucket}/a` })).status, 403);
  const acl = { query: "acl", headers: { "x-amz-acl": "public-read" } };
  assert.equal((await request("PUT", "", acl)).status, 200);
  assert.match(rowOf("x-amz-grant-"), /^400 AccessControlListNotSupported$/);
  assertRefused(await put({ "x-amz-grant-read": "id=1" }), [400, "AccessControlListNotSupported"]);
  const blocked = { blockPublicAcls: true, ignorePublicAcls: false, blockPublicPolicy: false };
  const publicAccessBlock = { ...blocked, restrictPublicBuckets: false };
  await engine.changeSettings(bucket, { publicAccessBlock });
  assertRefused(await put({ "x-amz-acl": "public-read" }), [403, "AccessDenied"]);
  assert.equal((await put({ "x-amz-acl": "private" })).status, 200);
});

test("ownership controls are returned as they were put, and refuse canned ACLs if enforced", async (t) => {
  const { request } = await versionedScene(t, "plain");
  const query = "ownershipControls";
  assertRefused(await request("GET", "", { query }), [404, "OwnershipControlsNotFoundError"]);
  for (const name of ["ObjectWriter", "BucketOwnerPreferred", "BucketOwnerEnforced"]) {
    assert.ok(policies.includes(`\`${name}\``), name);
    const rule = `<Rule><ObjectOwnership>${name}</ObjectOwnership></Rule>`;
    const body = `<OwnershipControls>${rule}</OwnershipControls>`;
    assert.equal((await request("PUT", "", { query, body })).status, 200);
    const { text } = await request("GET", "", { query });
    assert.deepEqual(texts(text, "ObjectOwnership"), [name]);
  }
  const headers = { "x-amz-acl": "public-read" };
  assertRefused(await request("PUT", "a", { body: "x", headers }), [400, "AccessControlListNotSupported"]);
});

test("encryption headers encrypt or are refused as docs/s3.md says", async (t) => {
  const { request } = await versionedScene(t, "plain");
  const name = "x-amz-server-side-encryption";
  const put = (headers: Record<string, string>) => request("PUT", "a", { body: "x", headers });
  assert.match(rowOf(`${name}\``), /^`AES256` encrypts.*`aws:kms` 501 NotImplemented$/);
  const bucketKey = { [`${name}-bucket-key-enabled`]: "true" };
  assert.equal((await put({ [name]: "AES256", ...bucketKey })).headers[name], "AES256");
  assertRefused(await put({ [name]: "aws:kms" }), [501, "NotImplemented"]);
  assert.match(rowOf(`${name}-context`), /^501 NotImplemented$/);
  for (const other of ["aws-kms-key-id", "context"])
    assertRefused(await put({ [`${name}-${other}`]: "x" }), [501, "NotImplemented"]);
});

test("a request without a signature is refused unless a policy allows anyone, as docs/s3.md says", async (t) => {
  const { request, put, send } = await versionedScene(t, "plain");
  assert.doesNotMatch(page, /no anonymous access/);
  assert.match(page, /Requests without a signature are refused, except as a \[bucket policy\]/);
  await put("a", "x");
  const get = () => send({ method: "GET", path: `/${bucket}/a` });
  assert.equal((await get()).status, 403);
  const allow = {
    Effect: "Allow",
    Principal: "*",
    Action: "s3:GetObject",
    Resource: `arn:aws:s3:::${bucket}/*`,
  };
  const body = JSON.stringify({ Version: "2012-10-17", Statement: [allow] });
  assert.equal((await request("PUT", "", { query: "policy", body })).status, 204);
  assert.equal((await get()).status, 200);
});

test("docs/s3.md names the setting with which boto3 signs by version 4", () => {
  assert.match(page, /signature_version="s3v4".*`us-east-1`/);
});
