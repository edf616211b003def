// Query parameters such as response-content-type, which change headers of the response.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateBucketCommand,
  GetObjectCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { s3Scene } from "./scene.ts";

const overrides = [
  "response-content-type=text/html",
  "response-content-disposition=inline",
  "response-content-encoding=gzip",
  "response-content-language=de",
  "response-cache-control=no-cache",
  "response-expires=Thu%2C%2001%20Jan%202026%2000%3A00%3A00%20GMT",
];

test("response headers cannot be chosen by a request without a signature", async (t) => {
  const scene = await s3Scene(t);
  const owner = scene.client();
  await owner.send(new CreateBucketCommand({ Bucket: "pages" }));
  await owner.send(
    new PutObjectCommand({ Bucket: "pages", Key: "open/a", Body: "<b>a</b>", ContentType: "text/plain" }),
  );
  await owner.send(new PutObjectCommand({ Bucket: "pages", Key: "closed/a", Body: "a" }));
  const Statement = {
    Effect: "Allow",
    Principal: "*",
    Action: "s3:GetObject",
    Resource: "arn:aws:s3:::pages/open/*",
  };
  await owner.send(new PutBucketPolicyCommand({ Bucket: "pages", Policy: JSON.stringify({ Statement }) }));

  const plain = await fetch(`${scene.url}/pages/open/a`);
  assert.equal(plain.headers.get("content-type"), "text/plain");
  assert.equal(await plain.text(), "<b>a</b>");

  for (const override of overrides) {
    const get = await fetch(`${scene.url}/pages/open/a?${override}`);
    assert.equal(get.status, 400, override);
    assert.match(await get.text(), /<Code>InvalidRequest<\/Code>/, override);
    const head = await fetch(`${scene.url}/pages/open/a?${override}`, { method: "HEAD" });
    assert.equal(head.status, 400, override);
    const closed = await fetch(`${scene.url}/pages/closed/a?${override}`);
    assert.equal(closed.status, 403, override);
    await closed.text();
  }
});

test("response headers can be chosen by a presigned URL", async (t) => {
  const scene = await s3Scene(t);
  const owner = scene.client();
  await owner.send(new CreateBucketCommand({ Bucket: "pages" }));
  await owner.send(new PutObjectCommand({ Bucket: "pages", Key: "a", Body: "a", ContentType: "text/plain" }));
  const command = new GetObjectCommand({
    Bucket: "pages",
    Key: "a",
    ResponseContentType: "text/html",
    ResponseContentDisposition: "attachment",
  });
  const response = await fetch(await getSignedUrl(owner, command));
  assert.equal(await response.text(), "a");
  assert.equal(response.headers.get("content-type"), "text/html");
  assert.equal(response.headers.get("content-disposition"), "attachment");
});
