// Object operations with the AWS SDK: put, get, ranges, conditions, copies, checksums and listings.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { test } from "node:test";
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectAttributesCommand,
  type GetObjectAttributesCommandInput,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { type Raw, sendRaw, signChunked, signRaw, streamingForms } from "../raw.ts";
import { refused, s3Scene } from "../scene.ts";

const Bucket = "bucket";
const oddKeys = [
  "plain.txt",
  "with space and + plus",
  "ünï/cödé/日本語/🎉.bin",
  "a//b",
  "../up/../and/./down",
  "%2e%2e/percent%20",
  "?query=1&more#fragment",
  "quotes'\"<>&;\\",
  "trailing/",
  " leading and trailing ",
  "tab\tand\nnewline",
];

test("the AWS SDK can put, get, copy and delete objects", async (t) => {
  const s3 = await s3Scene(t);
  const client = s3.client();

  await t.test("objects with unusual keys are read back byte for byte, listed and deleted", async () => {
    for (const Key of oddKeys) {
      const body = randomBytes(1000);
      await client.send(new PutObjectCommand({ Bucket, Key, Body: body }));
      const found = await client.send(new GetObjectCommand({ Bucket, Key }));
      assert.deepEqual(Buffer.from(await found.Body!.transformToByteArray()), body, Key);
    }
    const asked = { Bucket, EncodingType: "url" } as const;
    const pages = [
      await client.send(new ListObjectsCommand(asked)),
      await client.send(new ListObjectsV2Command(asked)),
    ];
    for (const { Contents = [] } of pages) {
      const keys = Contents.map(({ Key }) => decodeURIComponent(Key!.replaceAll("+", "%20")));
      assert.deepEqual(keys.sort(), [...oddKeys].sort());
    }
    const { Deleted, Errors } = await client.send(
      new DeleteObjectsCommand({ Bucket, Delete: { Objects: oddKeys.map((Key) => ({ Key })) } }),
    );
    assert.deepEqual([Deleted?.length, Errors], [oddKeys.length, undefined]);
    assert.equal((await client.send(new ListObjectsV2Command({ Bucket }))).KeyCount, 0);
  });

  await t.test("a script can read an object immediately after an S3 client puts it", async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: "shared", Body: "from S3" }));
    assert.equal((await s3.server.ask("/shared")).text, "from S3");
  });

  await t.test("HeadObject returns the metadata, content type and storage class of PutObject", async () => {
    await client.send(
      new PutObjectCommand({
        Bucket,
        Key: "meta",
        Body: "x",
        ContentType: "text/x-test",
        CacheControl: "no-store",
        ContentDisposition: 'attachment; filename="u.txt"',
        ContentLanguage: "de",
        ContentEncoding: "gzip",
        StorageClass: "STANDARD_IA",
        Metadata: { one: "1", two: "zwei" },
      }),
    );
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: "meta" }));
    assert.equal(head.ContentType, "text/x-test");
    assert.equal(head.CacheControl, "no-store");
    assert.equal(head.ContentLanguage, "de");
    assert.equal(head.ContentEncoding, "gzip");
    assert.equal(head.StorageClass, "STANDARD_IA");
    assert.deepEqual(head.Metadata, { one: "1", two: "zwei" });
    assert.equal(head.ContentLength, 1);
    assert.equal(head.ETag, `"${createHash("md5").update("x").digest("hex")}"`);
  });

  await t.test("metadata bytes are returned unchanged, also if they are not UTF-8", async () => {
    const bytes = ["plain", "gr\xc3\xbc\xc3\x9fe", "\xfc\xff alone", " inner  spaces "];
    for (const [i, value] of bytes.entries()) {
      const path = `/bucket/bytes-${i}`;
      const headers = { "x-amz-meta-v": value };
      const put = signRaw(
        s3.url,
        { method: "PUT", path, headers, body: Buffer.from("x") },
        { key: s3.key, form: "header" },
      );
      const done = await sendRaw(s3.url, put);
      assert.equal(done.status, 200, done.text);
      const got = await sendRaw(
        s3.url,
        signRaw(s3.url, { method: "HEAD", path }, { key: s3.key, form: "header" }),
      );
      assert.equal(got.headers["x-amz-meta-v"], value.trim());
    }
  });

  await t.test("GetObject and PutObject honour ranges and conditions", async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: "range", Body: "0123456789" }));
    const ranged = async (Range: string) => {
      const found = await client.send(new GetObjectCommand({ Bucket, Key: "range", Range }));
      return [found.$metadata.httpStatusCode, found.ContentRange, await found.Body!.transformToString()];
    };
    assert.deepEqual(await ranged("bytes=2-4"), [206, "bytes 2-4/10", "234"]);
    assert.deepEqual(await ranged("bytes=-3"), [206, "bytes 7-9/10", "789"]);
    assert.deepEqual(await ranged("bytes=8-"), [206, "bytes 8-9/10", "89"]);
    await refused(ranged("bytes=10-"), "InvalidRange", 416);
    const { ETag } = await client.send(new HeadObjectCommand({ Bucket, Key: "range" }));
    const get = (more: object) => client.send(new GetObjectCommand({ Bucket, Key: "range", ...more }));
    await refused(get({ IfMatch: '"other"' }), "PreconditionFailed", 412);
    await refused(get({ IfNoneMatch: ETag }), "Unknown", 304);
    await refused(get({ IfModifiedSince: new Date(Date.now() + 60_000) }), "Unknown", 304);
    await refused(get({ IfUnmodifiedSince: new Date(0) }), "PreconditionFailed", 412);
    await (await get({ IfMatch: ETag })).Body!.transformToString();
    const put = (more: object) =>
      client.send(new PutObjectCommand({ Bucket, Key: "range", Body: "new", ...more }));
    await refused(put({ IfNoneMatch: "*" }), "PreconditionFailed", 412);
    await refused(put({ IfMatch: '"other"' }), "PreconditionFailed", 412);
    await put({ IfMatch: ETag });
    const missing = new PutObjectCommand({ Bucket, Key: "missing", Body: "x", IfMatch: ETag });
    await refused(client.send(missing), "NoSuchKey", 404);
  });

  await t.test("each checksum algorithm is verified, stored and returned on request", async () => {
    const body = Buffer.from("123456789");
    const published = {
      crc32: "y/Q5Jg==",
      crc32c: "4waSgw==",
      crc64nvme: "rosUhgp5mIg=",
      sha1: createHash("sha1").update(body).digest("base64"),
      sha256: createHash("sha256").update(body).digest("base64"),
      sha512: createHash("sha512").update(body).digest("base64"),
      md5: createHash("md5").update(body).digest("base64"),
      xxhash64: "jLhB20DmroM=",
      xxhash3: "ctyxi2ehff8=",
      xxhash128: "MxGUd+3l3NXpcWQnaB1YYA==",
    };
    const call = (raw: Raw) => sendRaw(s3.url, signRaw(s3.url, raw, { key: s3.key, form: "header" }));
    for (const [algorithm, value] of Object.entries(published)) {
      const header = `x-amz-checksum-${algorithm}`;
      const path = `/bucket/checksum-${algorithm}`;
      const put = await call({ method: "PUT", path, headers: { [header]: value }, body });
      assert.deepEqual([put.status, put.headers[header]], [200, value], put.text);
      const head = await call({ method: "HEAD", path, headers: { "x-amz-checksum-mode": "ENABLED" } });
      assert.deepEqual([head.headers[header], head.headers["x-amz-checksum-type"]], [value, "FULL_OBJECT"]);
      const asked = {
        Bucket,
        Key: path.slice("/bucket/".length),
        ObjectAttributes: ["Checksum", "ObjectSize"],
      };
      const attributes = await client.send(
        new GetObjectAttributesCommand(asked as GetObjectAttributesCommandInput),
      );
      const name = `Checksum${algorithm.toUpperCase()}` as "ChecksumCRC32";
      assert.deepEqual([attributes.Checksum?.[name], attributes.ObjectSize], [value, 9]);
      const other = await call({
        method: "PUT",
        path: "/bucket/wrong",
        headers: { [header]: value },
        body: Buffer.from("other"),
      });
      assert.deepEqual([other.status, other.code], [400, "BadDigest"]);
    }
    for (const ChecksumAlgorithm of ["CRC32", "CRC32C", "SHA1", "SHA256"] as const) {
      const put = await client.send(
        new PutObjectCommand({ Bucket, Key: "sdk", Body: body, ChecksumAlgorithm }),
      );
      const key = ChecksumAlgorithm.toLowerCase() as keyof typeof published;
      assert.equal(put[`Checksum${ChecksumAlgorithm}`], published[key], "the SDK computes the same checksum");
    }
    await refused(client.send(new HeadObjectCommand({ Bucket, Key: "wrong" })), "NotFound", 404);
  });

  await t.test("a copy of an object without a checksum gets a CRC64NVME", async () => {
    const call = (raw: Raw) => sendRaw(s3.url, signRaw(s3.url, raw, { key: s3.key, form: "header" }));
    await call({ method: "PUT", path: "/bucket/bare", body: Buffer.from("123456789") });
    const headers = { "x-amz-copy-source": "/bucket/bare" };
    const copied = await call({ method: "PUT", path: "/bucket/summed", headers });
    assert.match(copied.text, /<ChecksumCRC64NVME>rosUhgp5mIg=<.*<ChecksumType>FULL_OBJECT</);
  });

  await t.test("aws-chunked bodies are decoded before they are stored, in every streaming form", async () => {
    const body = randomBytes(20_000);
    for (const [form, { hasTrailer }] of Object.entries(streamingForms)) {
      const raw = {
        method: "PUT",
        path: `/bucket/${form}`,
        headers: { "content-encoding": "aws-chunked" },
        body,
      };
      const put = await sendRaw(s3.url, signChunked(s3.url, raw, s3.key, form));
      assert.equal(put.status, 200, put.text);
      const found = await client.send(new GetObjectCommand({ Bucket, Key: form, ChecksumMode: "ENABLED" }));
      assert.deepEqual(Buffer.from(await found.Body!.transformToByteArray()), body, form);
      assert.equal(found.ContentEncoding, undefined);
      const trailer = createHash("sha256").update(body).digest("base64");
      assert.equal(found.ChecksumSHA256, hasTrailer ? trailer : undefined);
    }
  });

  await t.test("a stream with a known length is stored completely", async () => {
    const body = randomBytes(3_000_000);
    const pieces = Readable.from([body.subarray(0, 1_000_000), body.subarray(1_000_000)]);
    await client.send(
      new PutObjectCommand({ Bucket, Key: "stream", Body: pieces, ContentLength: body.length }),
    );
    const found = await client.send(new GetObjectCommand({ Bucket, Key: "stream" }));
    assert.deepEqual(Buffer.from(await found.Body!.transformToByteArray()), body);
  });

  await t.test("CopyObject keeps or replaces metadata and honours conditions on its source", async () => {
    const CopySource = `${Bucket}/meta`;
    await client.send(new CopyObjectCommand({ Bucket, Key: "copy", CopySource }));
    assert.deepEqual((await client.send(new HeadObjectCommand({ Bucket, Key: "copy" }))).Metadata, {
      one: "1",
      two: "zwei",
    });
    const replaced = { MetadataDirective: "REPLACE", Metadata: { three: "3" } } as const;
    await client.send(new CopyObjectCommand({ Bucket, Key: "meta", CopySource, ...replaced }));
    assert.deepEqual((await client.send(new HeadObjectCommand({ Bucket, Key: "meta" }))).Metadata, {
      three: "3",
    });
    await refused(
      client.send(new CopyObjectCommand({ Bucket, Key: "meta", CopySource })),
      "InvalidRequest",
      400,
    );
    const other = new CopyObjectCommand({ Bucket, Key: "c", CopySource, CopySourceIfMatch: '"other"' });
    await refused(client.send(other), "PreconditionFailed", 412);
    await refused(
      client.send(new CopyObjectCommand({ Bucket, Key: "c", CopySource: `${Bucket}/none` })),
      "NoSuchKey",
    );
  });

  await t.test(
    "SSE-C objects need their key, and a copy can use different keys for source and target",
    async () => {
      const [one, two] = [randomBytes(32), randomBytes(32)];
      const ssec = (key: Buffer) => ({
        SSECustomerAlgorithm: "AES256",
        SSECustomerKey: key.toString("base64"),
        SSECustomerKeyMD5: createHash("md5").update(key).digest("base64"),
      });
      await client.send(new PutObjectCommand({ Bucket, Key: "sealed", Body: "secret", ...ssec(one) }));
      await refused(client.send(new GetObjectCommand({ Bucket, Key: "sealed" })), "InvalidArgument", 400);
      await refused(
        client.send(new GetObjectCommand({ Bucket, Key: "sealed", ...ssec(two) })),
        "AccessDenied",
        403,
      );
      await refused(client.send(new HeadObjectCommand({ Bucket, Key: "sealed" })), "Unknown", 400);
      await client.send(
        new CopyObjectCommand({
          Bucket,
          Key: "sealed-again",
          CopySource: `${Bucket}/sealed`,
          CopySourceSSECustomerAlgorithm: "AES256",
          CopySourceSSECustomerKey: one.toString("base64"),
          CopySourceSSECustomerKeyMD5: ssec(one).SSECustomerKeyMD5,
          ...ssec(two),
        }),
      );
      const found = await client.send(new GetObjectCommand({ Bucket, Key: "sealed-again", ...ssec(two) }));
      assert.equal(await found.Body!.transformToString(), "secret");
      assert.equal(found.SSECustomerKeyMD5, ssec(two).SSECustomerKeyMD5);
    },
  );

  await t.test("deleting a missing object succeeds, and reading it fails with NoSuchKey", async () => {
    await client.send(new DeleteObjectCommand({ Bucket, Key: "never" }));
    await refused(client.send(new GetObjectCommand({ Bucket, Key: "never" })), "NoSuchKey", 404);
    await refused(
      client.send(new GetObjectCommand({ Bucket: "no-such-bucket", Key: "x" })),
      "NoSuchBucket",
      404,
    );
  });
});

test("the AWS SDK can create, list and delete buckets and list objects", async (t) => {
  const s3 = await s3Scene(t, "serve");
  const client = s3.client();

  await t.test(
    "a bucket can be created, created again by its owner, listed in pages and deleted when empty",
    async () => {
      for (const name of ["list-a", "list-b", "list-c"])
        await client.send(new CreateBucketCommand({ Bucket: name }));
      await client.send(new CreateBucketCommand({ Bucket: "list-a" }));
      const stranger = s3.client(await s3.newKey("--account", "stranger"));
      await refused(stranger.send(new CreateBucketCommand({ Bucket: "list-a" })), "BucketAlreadyExists", 409);
      await refused(stranger.send(new HeadBucketCommand({ Bucket: "list-a" })), "Unknown", 403);
      assert.deepEqual((await stranger.send(new ListBucketsCommand({}))).Buckets, []);
      const names: string[] = [];
      let ContinuationToken: string | undefined;
      do {
        const page = await client.send(
          new ListBucketsCommand({ Prefix: "list-", MaxBuckets: 2, ContinuationToken }),
        );
        names.push(...page.Buckets!.map(({ Name }) => Name!));
        ContinuationToken = page.ContinuationToken;
      } while (ContinuationToken !== undefined);
      assert.deepEqual(names, ["list-a", "list-b", "list-c"]);
      await client.send(new PutObjectCommand({ Bucket: "list-b", Key: "x", Body: "x" }));
      await refused(client.send(new DeleteBucketCommand({ Bucket: "list-b" })), "BucketNotEmpty", 409);
      await client.send(new DeleteBucketCommand({ Bucket: "list-a" }));
      await refused(client.send(new HeadBucketCommand({ Bucket: "list-a" })), "NotFound", 404);
      await refused(client.send(new CreateBucketCommand({ Bucket: "A" })), "InvalidBucketName", 400);
    },
  );

  await t.test(
    "the pages of ListObjects, version 1 and 2, contain all keys, with and without a delimiter",
    async () => {
      const keys = ["a/1", "a/2", "b", "c/1", "c/d/2", "e"];
      const Bucket = "list-c";
      for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: "x" }));
      for (const Delimiter of [undefined, "/"]) {
        const expected = Delimiter === undefined ? keys : ["a/", "b", "c/", "e"];
        const v1: string[] = [];
        let Marker: string | undefined;
        do {
          const page = await client.send(new ListObjectsCommand({ Bucket, Delimiter, MaxKeys: 1, Marker }));
          v1.push(
            ...(page.Contents ?? []).map(({ Key }) => Key!),
            ...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix!),
          );
          Marker = page.IsTruncated ? page.NextMarker : undefined;
        } while (Marker !== undefined);
        assert.deepEqual(v1, expected);
        const v2: string[] = [];
        let ContinuationToken: string | undefined;
        do {
          const page = await client.send(
            new ListObjectsV2Command({ Bucket, Delimiter, MaxKeys: 1, ContinuationToken }),
          );
          v2.push(
            ...(page.Contents ?? []).map(({ Key }) => Key!),
            ...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix!),
          );
          ContinuationToken = page.NextContinuationToken;
        } while (ContinuationToken !== undefined);
        assert.deepEqual(v2, expected);
      }
      const { Versions } = await client.send(new ListObjectVersionsCommand({ Bucket, Prefix: "a/" }));
      assert.deepEqual(
        Versions?.map(({ Key, VersionId }) => [Key, VersionId]),
        [
          ["a/1", "null"],
          ["a/2", "null"],
        ],
      );
    },
  );

  await t.test("a virtual-hosted-style request finds its bucket in the host name", async () => {
    const host = `list-c.localhost:${new URL(s3.url).port}`;
    const raw = { method: "GET", path: "/", query: [["list-type", "2"]], headers: { host } } as const;
    const listed = await sendRaw(s3.url, signRaw(s3.url, raw, { key: s3.key, form: "header" }));
    assert.match(listed.text, /<Name>list-c<\/Name>.*<KeyCount>6<\/KeyCount>/);
  });
});
