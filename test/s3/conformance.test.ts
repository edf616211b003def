// Details of S3 that a public conformance suite checks.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectAttributesCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from "@aws-sdk/client-s3";
import { createPresignedPost } from "@aws-sdk/s3-presigned-post";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { toOwner } from "../../src/access/keys/credentials.ts";
import { parseHttpDate } from "../../src/http/headers.ts";
import {
  amzTime,
  canonicalRequest,
  emptyHash,
  sign,
  signingKey,
  stringToSign,
} from "../../src/http/sigv4.ts";
import { sendRaw, signRaw } from "./raw.ts";
import { refused, s3Scene } from "./scene.ts";

const Bucket = "bucket";

test("the S3 API treats unusual headers, conditions, checksums and form fields as AWS does", async (t) => {
  const s3 = await s3Scene(t);
  const client = s3.client();

  await t.test("an Expect header other than 100-continue is ignored", async () => {
    for (const expect of ["", "200"]) {
      const raw = { method: "GET", path: "/", headers: { expect } };
      const signed = signRaw(s3.url, raw, { key: s3.key, form: "header" });
      assert.equal((await sendRaw(s3.url, signed)).status, 200, expect);
    }
  });

  await t.test("a Date header with zone -0000 is accepted and checked for clock skew", async () => {
    const ask = (shift: number) => {
      const date = new Date(Date.now() + shift).toUTCString().replace("GMT", "-0000");
      return sendRaw(s3.url, signWithDate(s3.url, s3.key, date));
    };
    assert.equal((await ask(0)).status, 200);
    assert.equal((await ask(-3_600_000)).code, "RequestTimeTooSkewed");
  });

  await t.test("a listing with an empty continuation token returns the first page", async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: "first", Body: "x" }));
    const page = await client.send(new ListObjectsV2Command({ Bucket, ContinuationToken: "" }));
    assert.deepEqual([page.KeyCount, page.ContinuationToken], [1, ""]);
  });

  await t.test("DeleteObject and DeleteObjects honour conditions on etag, date and size", async () => {
    const Key = "guarded";
    const { ETag } = await client.send(new PutObjectCommand({ Bucket, Key, Body: "four" }));
    const { LastModified } = await client.send(new HeadObjectCommand({ Bucket, Key }));
    const wrong = [{ ETag: '"0"' }, { LastModifiedTime: new Date(0) }, { Size: 5 }];
    for (const { ETag: IfMatch, LastModifiedTime, Size } of wrong) {
      const asked = { Bucket, Key, IfMatch, IfMatchLastModifiedTime: LastModifiedTime, IfMatchSize: Size };
      await refused(client.send(new DeleteObjectCommand(asked)), "PreconditionFailed", 412);
    }
    const Objects = [...wrong.map((one) => ({ Key, ...one })), { Key: "first" }];
    const result = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    assert.deepEqual(
      result.Errors?.map(({ Code }) => Code),
      wrong.map(() => "PreconditionFailed"),
    );
    assert.deepEqual(result.Deleted, [{ Key: "first" }]);
    const right = { Key, ETag, LastModifiedTime: LastModified, Size: 4 };
    const gone = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [right] } }));
    assert.deepEqual(gone.Deleted, [{ Key }]);
    await refused(client.send(new HeadObjectCommand({ Bucket, Key })), "NotFound", 404);
  });

  await t.test(
    "PutObject with If-None-Match and an etag is refused if the object has that etag",
    async () => {
      const Key = "new";
      const { ETag } = await client.send(
        new PutObjectCommand({ Bucket, Key, Body: "1", IfNoneMatch: '"0"' }),
      );
      const again = new PutObjectCommand({ Bucket, Key, Body: "2", IfNoneMatch: ETag });
      await refused(client.send(again), "PreconditionFailed", 412);
    },
  );

  await t.test("a copy whose expected source bucket owner is wrong is refused", async () => {
    const copy = { Bucket, Key: "copy", CopySource: `${Bucket}/new` };
    const ExpectedSourceBucketOwner = toOwner("default").id;
    await client.send(new CopyObjectCommand({ ...copy, ExpectedSourceBucketOwner }));
    const wrong = { ...copy, ExpectedSourceBucketOwner: toOwner("another").id };
    await refused(client.send(new CopyObjectCommand(wrong)), "AccessDenied", 403);
  });

  await t.test("x-amz headers that an SDK moves into a presigned URL count as headers", async () => {
    const put = new PutObjectCommand({
      Bucket,
      Key: "ahead",
      Metadata: { a: "b" },
      StorageClass: "STANDARD_IA",
    });
    const url = await getSignedUrl(client, put);
    assert.match(url, /x-amz-meta-a=b/);
    assert.equal((await fetch(url, { method: "PUT", body: "x" })).status, 200);
    const found = await client.send(new HeadObjectCommand({ Bucket, Key: "ahead" }));
    assert.deepEqual([found.Metadata, found.StorageClass], [{ a: "b" }, "STANDARD_IA"]);
    const copy = new CopyObjectCommand({ Bucket, Key: "ahead copied", CopySource: `${Bucket}/ahead` });
    assert.equal((await fetch(await getSignedUrl(client, copy), { method: "PUT" })).status, 200);
    assert.equal(
      (await client.send(new HeadObjectCommand({ Bucket, Key: "ahead copied" }))).ContentLength,
      1,
    );
    const tagged = new PutObjectCommand({ Bucket, Key: "ahead", Tagging: "a=b" });
    assert.equal((await fetch(await getSignedUrl(client, tagged), { method: "PUT", body: "y" })).status, 200);
    assert.equal((await client.send(new HeadObjectCommand({ Bucket, Key: "ahead" }))).TagCount, 1);
    const moved = new PutObjectCommand({ Bucket, Key: "ahead", WebsiteRedirectLocation: "/b" });
    assert.equal((await fetch(await getSignedUrl(client, moved), { method: "PUT", body: "z" })).status, 200);
    const redirected = await client.send(new HeadObjectCommand({ Bucket, Key: "ahead" }));
    assert.equal(redirected.WebsiteRedirectLocation, "/b");
  });

  await t.test(
    "an uploaded part has its own checksum, and a repeated completion returns the same result",
    async () => {
      const Key = "parts";
      const customer = { SSECustomerAlgorithm: "AES256", SSECustomerKey: "k".repeat(32) };
      const created = { Bucket, Key, ChecksumAlgorithm: "SHA256", ...customer } as const;
      const { UploadId } = await client.send(new CreateMultipartUploadCommand(created));
      const one = { Bucket, Key, UploadId, PartNumber: 1, ...customer };
      const part = await client.send(
        new UploadPartCommand({ ...one, Body: "x", ChecksumAlgorithm: "SHA256" }),
      );
      assert.equal(part.SSECustomerAlgorithm, "AES256");
      const CopySource = `${Bucket}/new`;
      const copied = await client.send(new UploadPartCopyCommand({ ...one, PartNumber: 2, CopySource }));
      assert.equal(copied.SSECustomerAlgorithm, "AES256");
      const { ETag, ChecksumSHA256 } = part;
      const Parts = [{ PartNumber: 1, ETag, ChecksumSHA256 }];
      const complete = () =>
        client.send(
          new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
        );
      const other = { SSECustomerAlgorithm: "AES256", SSECustomerKey: "o".repeat(32) };
      const wrong = { Bucket, Key, UploadId, MultipartUpload: { Parts }, ...other };
      await refused(client.send(new CompleteMultipartUploadCommand(wrong)), "InvalidArgument", 400);
      const { $metadata: _, ...made } = await complete();
      assert.deepEqual([made.ChecksumType, made.ChecksumSHA256?.endsWith("-1")], ["COMPOSITE", true]);
      const { $metadata: __, ...again } = await complete();
      assert.deepEqual(again, made);
      const asked = { Bucket, Key, PartNumber: 1, ChecksumMode: "ENABLED", ...customer } as const;
      const head = await client.send(new HeadObjectCommand(asked));
      assert.deepEqual([head.ChecksumSHA256, head.ChecksumType], [ChecksumSHA256, "COMPOSITE"]);
    },
  );

  await t.test(
    "the policy of a POST form is checked against the key after the file name was inserted",
    async () => {
      const { url, fields } = await createPresignedPost(client, {
        Bucket,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: S3 defines this placeholder.
        Key: "${filename}",
        Conditions: [["starts-with", "$key", "cat"]],
      });
      const post = (name: string) => {
        const form = new FormData();
        for (const [field, value] of Object.entries(fields)) form.append(field, value);
        form.append("file", new Blob(["meow"]), name);
        return fetch(url, { method: "POST", body: form });
      };
      assert.equal((await post("cat.txt")).status, 204);
      assert.equal((await post("dog.txt")).status, 403);
    },
  );

  await t.test("a POST form with a field of an unsupported feature is refused", async () => {
    for (const [field, value, named] of [
      ["x-amz-server-side-encryption", "aws:kms", "The encryption aws:kms is not supported"],
      ["x-amz-mfa", "1 2", "<Field>x-amz-mfa<"],
    ] as const) {
      const { url, fields } = await createPresignedPost(client, {
        Bucket,
        Key: "refused",
        Fields: { [field]: value },
      });
      const form = new FormData();
      for (const entry of Object.entries(fields)) form.append(...entry);
      form.append("file", new Blob(["meow"]), "cat.txt");
      const response = await fetch(url, { method: "POST", body: form });
      assert.equal(response.status, 501, field);
      assert.match(await response.text(), new RegExp(`<Code>NotImplemented<.*${named}`));
    }
    await refused(client.send(new HeadObjectCommand({ Bucket, Key: "refused" })), "NotFound", 404);
  });

  await t.test("GetObjectAttributes lists parts that were uploaded without checksums", async () => {
    const Key = "described";
    const plain = s3.client(s3.key, { requestChecksumCalculation: "WHEN_REQUIRED" });
    const { UploadId } = await plain.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const { ETag } = await plain.send(
      new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: "xyz" }),
    );
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    await plain.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
    const { ObjectParts } = await plain.send(
      new GetObjectAttributesCommand({ Bucket, Key, ObjectAttributes: ["ObjectParts"] }),
    );
    assert.deepEqual(ObjectParts?.Parts, [{ PartNumber: 1, Size: 3 }]);
  });
});

/** Signs a request with a Date header instead of x-amz-date. */
function signWithDate(url: string, key: { accessKeyId: string; secretAccessKey: string }, date: string) {
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
