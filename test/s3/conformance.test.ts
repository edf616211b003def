// What the public conformance suite found, once each.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { parseHttpDate } from "../../src/http/headers.ts";
import {
  amzTime,
  canonicalRequest,
  emptyHash,
  sign,
  signingKey,
  stringToSign,
} from "../../src/http/signing.ts";
import { sendRaw, signRaw } from "./raw.ts";
import { refused, s3Scene } from "./scene.ts";

const Bucket = "bucket";

test("details of S3 that clients rely on", async (t) => {
  const s3 = await s3Scene(t);
  const client = s3.client();

  await t.test("an expectation other than 100-continue is passed over", async () => {
    for (const expect of ["", "200"]) {
      const raw = { method: "GET", path: "/", headers: { expect } };
      const signed = signRaw(s3.url, raw, { key: s3.key, form: "header" });
      assert.equal((await sendRaw(s3.url, signed)).status, 200, expect);
    }
  });

  await t.test("a date may say its zone as mail does, and is checked as any other", async () => {
    const ask = (shift: number) => {
      const date = new Date(Date.now() + shift).toUTCString().replace("GMT", "-0000");
      return sendRaw(s3.url, dated(s3.url, s3.key, date));
    };
    assert.equal((await ask(0)).status, 200);
    assert.equal((await ask(-3_600_000)).code, "RequestTimeTooSkewed");
  });

  await t.test("an empty token is that of the first page", async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: "first", Body: "x" }));
    const page = await client.send(new ListObjectsV2Command({ Bucket, ContinuationToken: "" }));
    assert.deepEqual([page.KeyCount, page.ContinuationToken], [1, ""]);
  });

  await t.test("a delete may name the etag, date and size it means, alone or among others", async () => {
    const Key = "guarded";
    const { ETag } = await client.send(new PutObjectCommand({ Bucket, Key, Body: "four" }));
    const { LastModified } = await client.send(new HeadObjectCommand({ Bucket, Key }));
    const wrong = [{ ETag: '"0"' }, { LastModifiedTime: new Date(0) }, { Size: 5 }];
    for (const { ETag: IfMatch, LastModifiedTime, Size } of wrong) {
      const asked = { Bucket, Key, IfMatch, IfMatchLastModifiedTime: LastModifiedTime, IfMatchSize: Size };
      await refused(client.send(new DeleteObjectCommand(asked)), "PreconditionFailed", 412);
    }
    const Objects = [...wrong.map((one) => ({ Key, ...one })), { Key: "first" }];
    const kept = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    assert.deepEqual(
      kept.Errors?.map(({ Code }) => Code),
      wrong.map(() => "PreconditionFailed"),
    );
    assert.deepEqual(kept.Deleted, [{ Key: "first" }]);
    const right = { Key, ETag, LastModifiedTime: LastModified, Size: 4 };
    const gone = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [right] } }));
    assert.deepEqual(gone.Deleted, [{ Key }]);
    await refused(client.send(new HeadObjectCommand({ Bucket, Key })), "NotFound", 404);
  });
});

/** Signed by its Date header, without x-amz-date. */
function dated(url: string, key: { accessKeyId: string; secretAccessKey: string }, date: string) {
  const time = amzTime(parseHttpDate(date.replace("-0000", "GMT"))!);
  const scope = { day: time.slice(0, 8), region: "auto", service: "s3" };
  const { host } = new URL(url);
  const headers = [
    ["date", date],
    ["host", host],
  ] as const;
  const canonical = canonicalRequest({
    method: "GET",
    path: "/",
    query: [],
    headers,
    payloadHash: emptyHash,
  });
  const signature = sign(signingKey(key.secretAccessKey, scope), stringToSign(time, scope, canonical));
  const credential = `${key.accessKeyId}/${scope.day}/auto/s3/aws4_request`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=date;host, Signature=${signature}`;
  return { method: "GET", path: "/", headers: { date, host, authorization } };
}
