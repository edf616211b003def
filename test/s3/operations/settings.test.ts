// Bucket settings: CORS with preflight requests, and lifecycle rules.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DeleteBucketCorsCommand,
  DeleteBucketLifecycleCommand,
  GetBucketAccelerateConfigurationCommand,
  GetBucketCorsCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketLoggingCommand,
  GetBucketNotificationConfigurationCommand,
  GetBucketOwnershipControlsCommand,
  GetBucketPolicyStatusCommand,
  GetBucketWebsiteCommand,
  GetObjectCommand,
  GetPublicAccessBlockCommand,
  type LifecycleRule,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { refused, s3Scene } from "../scene.ts";

const Bucket = "bucket";

test("reading a bucket setting that Store does not have gets the response of AWS for an unset setting", async (t) => {
  const s3 = await s3Scene(t);
  const client = s3.client();
  const read = async (sending: Promise<object>) => {
    const { $metadata, ...rest } = (await sending) as { $metadata: unknown };
    return rest;
  };
  assert.deepEqual(await read(client.send(new GetBucketAccelerateConfigurationCommand({ Bucket }))), {});
  assert.deepEqual(await read(client.send(new GetBucketLoggingCommand({ Bucket }))), {});
  const notification = new GetBucketNotificationConfigurationCommand({ Bucket });
  assert.deepEqual(await read(client.send(notification)), {});
  for (const [sending, code] of [
    [client.send(new GetBucketOwnershipControlsCommand({ Bucket })), "OwnershipControlsNotFoundError"],
    [client.send(new GetBucketPolicyStatusCommand({ Bucket })), "NoSuchBucketPolicy"],
    [client.send(new GetBucketWebsiteCommand({ Bucket })), "NoSuchWebsiteConfiguration"],
    [client.send(new GetPublicAccessBlockCommand({ Bucket })), "NoSuchPublicAccessBlockConfiguration"],
  ] as const) {
    await refused(sending, code, 404);
  }
  const add = ["bucket", "notify", "add", Bucket, "--script", "app", "--force", "--data", s3.data];
  const added = await s3.scene.shell.run(add);
  assert.equal(added.code, 0, added.stderr);
  const { LambdaFunctionConfigurations } = await client.send(notification);
  assert.equal(LambdaFunctionConfigurations?.[0]?.LambdaFunctionArn, "arn:aws:lambda:::function:app");
});

test("CORS rules are stored and applied to preflight requests and responses", async (t) => {
  const s3 = await s3Scene(t);
  const client = s3.client();
  await refused(client.send(new GetBucketCorsCommand({ Bucket })), "NoSuchCORSConfiguration", 404);
  const CORSRules = [
    {
      ID: "app",
      AllowedOrigins: ["https://*.example.com"],
      AllowedMethods: ["GET", "PUT"],
      AllowedHeaders: ["x-amz-*", "content-type"],
      ExposeHeaders: ["etag"],
      MaxAgeSeconds: 600,
    },
    { AllowedOrigins: ["*"], AllowedMethods: ["GET"] },
  ];
  await client.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }));
  assert.deepEqual((await client.send(new GetBucketCorsCommand({ Bucket }))).CORSRules, CORSRules);
  await client.send(new PutObjectCommand({ Bucket, Key: "x", Body: "x" }));

  const preflight = (origin: string, method: string, headers?: string) =>
    fetch(`${s3.url}/bucket/x`, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": method,
        ...(headers === undefined ? {} : { "access-control-request-headers": headers }),
      },
    });
  const app = await preflight("https://app.example.com", "PUT", "x-amz-date, Content-Type");
  assert.equal(app.status, 200);
  assert.equal(app.headers.get("access-control-allow-origin"), "https://app.example.com");
  assert.equal(app.headers.get("access-control-allow-methods"), "GET, PUT");
  assert.equal(app.headers.get("access-control-allow-headers"), "x-amz-date, content-type");
  assert.equal(app.headers.get("access-control-max-age"), "600");
  const forbidden = await preflight("https://other.org", "PUT");
  assert.equal(forbidden.status, 403);
  assert.match(await forbidden.text(), /<Code>AccessForbidden</);
  assert.equal((await preflight("https://app.example.com", "PUT", "x-other")).status, 403);
  assert.equal((await preflight("https://other.org", "GET")).headers.get("access-control-allow-origin"), "*");

  const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: "x" }));
  const seen = await fetch(url, { headers: { origin: "https://app.example.com" } });
  assert.equal(seen.headers.get("access-control-allow-origin"), "https://app.example.com");
  assert.equal(seen.headers.get("access-control-expose-headers"), "etag");
  for (const named of [
    { "access-control-request-method": "DELETE" },
    { "access-control-request-method": "PUT", "access-control-request-headers": "x-other" },
  ]) {
    const other = await fetch(url, { headers: { origin: "https://app.example.com", ...named } });
    assert.equal(other.headers.get("access-control-allow-origin"), null, "no rule allows what is named");
  }
  const denied = await fetch(`${s3.url}/bucket/x`, { headers: { origin: "https://app.example.com" } });
  assert.equal(denied.status, 403);
  assert.equal(
    denied.headers.get("access-control-allow-origin"),
    "https://app.example.com",
    "error responses have CORS headers too",
  );
  await client.send(new DeleteBucketCorsCommand({ Bucket }));
  assert.equal((await preflight("https://other.org", "GET")).status, 403);
});

test("lifecycle rules are stored unchanged, and invalid rules are refused", async (t) => {
  const s3 = await s3Scene(t);
  const client = s3.client();
  const get = () => client.send(new GetBucketLifecycleConfigurationCommand({ Bucket }));
  const put = (...Rules: LifecycleRule[]) =>
    client.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } }));
  await refused(get(), "NoSuchLifecycleConfiguration", 404);
  const rules: LifecycleRule[] = [
    { ID: "one", Status: "Enabled", Filter: { Prefix: "logs/" }, Expiration: { Days: 3 } },
    {
      ID: "two",
      Status: "Disabled",
      Filter: { Prefix: "" },
      Transitions: [{ Days: 30, StorageClass: "STANDARD_IA" }],
    },
    {
      ID: "three",
      Status: "Enabled",
      Filter: { And: { Prefix: "big/", ObjectSizeGreaterThan: 1000 } },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: 2 },
    },
    { ID: "four", Status: "Enabled", Prefix: "old/", Expiration: { Days: 5 } },
  ];
  await put(...rules);
  assert.deepEqual((await get()).Rules, rules);
  const stored = await client.send(new PutObjectCommand({ Bucket, Key: "logs/x", Body: "x" }));
  assert.match(stored.Expiration ?? "", /rule-id="one"$/);
  const head = await client.send(new GetObjectCommand({ Bucket, Key: "logs/x" }));
  assert.match(head.Expiration ?? "", /^expiry-date=".* 00:00:00 GMT", rule-id="one"$/);
  const rule = { Status: "Enabled", Filter: { Prefix: "" } } as const;
  await refused(put({ ...rule, Expiration: { Days: 0 } }), "InvalidArgument", 400);
  await refused(
    put({ ...rule, Expiration: { Date: new Date("2030-01-01T10:00:00Z") } }),
    "InvalidArgument",
    400,
  );
  await refused(put(rule), "InvalidRequest", 400);
  await refused(
    put({ ...rule, ID: "a", Expiration: { Days: 1 } }, { ...rule, ID: "a", Expiration: { Days: 2 } }),
    "InvalidArgument",
    400,
  );
  await refused(
    put({ ...rule, Transitions: [{ Days: 1, StorageClass: "REDUCED_REDUNDANCY" as "GLACIER" }] }),
    "InvalidStorageClass",
    400,
  );
  assert.deepEqual((await get()).Rules, rules);
  await client.send(new DeleteBucketLifecycleCommand({ Bucket }));
  await refused(get(), "NoSuchLifecycleConfiguration", 404);
});
