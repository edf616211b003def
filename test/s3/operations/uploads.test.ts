// Multipart uploads, including uploads that S3 and the binding share, and presigned URLs.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { createPresignedPost } from "@aws-sdk/s3-presigned-post";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { openStore } from "../../../src/index.ts";
import { refused, s3Scene } from "../scene.ts";

const Bucket = "bucket";
const MiB = 1024 * 1024;

test("the AWS SDK can create, list and complete multipart uploads", async (t) => {
  const s3 = await s3Scene(t);
  const client = s3.client();

  await t.test(
    "an upload with parts of different sizes is listed, completed twice and read by part",
    async () => {
      const Key = "uneven";
      const { UploadId } = await client.send(
        new CreateMultipartUploadCommand({ Bucket, Key, ContentType: "text/x" }),
      );
      const bodies = [randomBytes(5 * MiB), randomBytes(6 * MiB), randomBytes(3)];
      const Parts: CompletedPart[] = [];
      for (const [i, Body] of bodies.entries()) {
        const { ETag } = await client.send(
          new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: i + 1, Body }),
        );
        Parts.push({ ETag, PartNumber: i + 1 });
      }
      const { Uploads } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
      assert.deepEqual(
        Uploads?.map((one) => [one.Key, one.UploadId]),
        [[Key, UploadId]],
      );
      const encoded = await client.send(
        new ListMultipartUploadsCommand({ Bucket, Delimiter: "/", EncodingType: "url" }),
      );
      assert.equal(encoded.Delimiter, "/", "as in keys, a slash is not encoded");
      const listed = await client.send(new ListPartsCommand({ Bucket, Key, UploadId, MaxParts: 2 }));
      assert.deepEqual(
        listed.Parts?.map(({ Size }) => Size),
        [5 * MiB, 6 * MiB],
      );
      assert.deepEqual([listed.IsTruncated, listed.NextPartNumberMarker], [true, "2"]);
      const complete = () =>
        client.send(
          new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
        );
      const { ETag } = await complete();
      assert.match(ETag!, /^"[0-9a-f]{32}-3"$/);
      assert.equal((await complete()).ETag, ETag, "a repeated completion returns the same etag");
      const second = await client.send(new GetObjectCommand({ Bucket, Key, PartNumber: 2 }));
      assert.deepEqual(
        [second.PartsCount, second.ContentLength, second.$metadata.httpStatusCode],
        [3, 6 * MiB, 206],
      );
      assert.deepEqual(Buffer.from(await second.Body!.transformToByteArray()), bodies[1]);
      await refused(
        client.send(new GetObjectCommand({ Bucket, Key, PartNumber: 4 })),
        "InvalidPartNumber",
        416,
      );
      const whole = await client.send(new GetObjectCommand({ Bucket, Key }));
      assert.deepEqual(Buffer.from(await whole.Body!.transformToByteArray()), Buffer.concat(bodies));
      assert.equal(whole.ContentType, "text/x");
    },
  );

  await t.test(
    "a completion with wrong, too small or unordered parts is refused, and the upload stays open",
    async () => {
      const Key = "refused";
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
      const part = async (PartNumber: number) =>
        (await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body: "small" })))
          .ETag!;
      const [one, two] = [await part(1), await part(2)];
      const complete = (...Parts: { ETag: string; PartNumber: number }[]) =>
        client.send(
          new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
        );
      await refused(
        complete({ ETag: one, PartNumber: 1 }, { ETag: two, PartNumber: 2 }),
        "EntityTooSmall",
        400,
      );
      await refused(
        complete({ ETag: two, PartNumber: 2 }, { ETag: one, PartNumber: 1 }),
        "InvalidPartOrder",
        400,
      );
      await refused(complete({ ETag: '"other"', PartNumber: 1 }), "InvalidPart", 400);
      await refused(complete({ ETag: one, PartNumber: 7 }), "InvalidPart", 400);
      const bad = new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 10_001, Body: "x" });
      await refused(client.send(bad), "InvalidArgument", 400);
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
      await refused(complete({ ETag: one, PartNumber: 1 }), "NoSuchUpload", 404);
    },
  );

  await t.test(
    "AbortMultipartUpload with a wrong initiation time is refused, and the upload stays active",
    async () => {
      const Key = "initiated";
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
      const { Uploads } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: Key }));
      const initiated = Uploads![0]!.Initiated!;
      const abort = (IfMatchInitiatedTime: Date) =>
        client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId, IfMatchInitiatedTime }));
      await refused(abort(new Date(initiated.getTime() - 5000)), "PreconditionFailed", 412);
      await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: "x" }));
      await abort(initiated);
      const again = new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: "x" });
      await refused(client.send(again), "NoSuchUpload", 404);
    },
  );

  await t.test("a completion with checksums that the upload does not have is refused", async () => {
    const Key = "checksums";
    const plain = s3.client(s3.key, { requestChecksumCalculation: "WHEN_REQUIRED" });
    for (const ChecksumAlgorithm of [undefined, "CRC32"] as const) {
      const { UploadId } = await plain.send(
        new CreateMultipartUploadCommand({ Bucket, Key, ChecksumAlgorithm }),
      );
      const part = { Bucket, Key, UploadId, PartNumber: 1, Body: "x", ChecksumAlgorithm };
      const { ETag, ChecksumCRC32 } = await plain.send(new UploadPartCommand(part));
      const complete = (checksums: Partial<CompletedPart>, type?: "COMPOSITE" | "FULL_OBJECT") =>
        plain.send(
          new CompleteMultipartUploadCommand({
            ...{ Bucket, Key, UploadId, ChecksumType: type },
            MultipartUpload: { Parts: [{ ETag, PartNumber: 1, ...checksums }] },
          }),
        );
      const ChecksumSHA256 = createHash("sha256").update("x").digest("base64");
      await refused(complete({ ChecksumSHA256 }), "InvalidPart", 400);
      await refused(complete({ ChecksumCRC32 }, "FULL_OBJECT"), "InvalidArgument", 400);
      await complete({ ChecksumCRC32 });
    }
  });

  await t.test(
    "a completed upload has a COMPOSITE or FULL_OBJECT checksum computed from its parts' checksums",
    async () => {
      const bodies = [randomBytes(5 * MiB), randomBytes(1000)];
      for (const ChecksumType of ["COMPOSITE", "FULL_OBJECT"] as const) {
        const Key = `checksum-${ChecksumType}`;
        const how = { ChecksumAlgorithm: "CRC32", ChecksumType } as const;
        const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...how }));
        const Parts: CompletedPart[] = [];
        for (const [i, Body] of bodies.entries()) {
          const part = new UploadPartCommand({
            Bucket,
            Key,
            UploadId,
            PartNumber: i + 1,
            Body,
            ChecksumAlgorithm: "CRC32",
          });
          const { ETag, ChecksumCRC32 } = await client.send(part);
          Parts.push({ ETag, ChecksumCRC32, PartNumber: i + 1 });
        }
        const done = await client.send(
          new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
        );
        const whole = await client.send(
          new PutObjectCommand({
            Bucket,
            Key: "whole",
            Body: Buffer.concat(bodies),
            ChecksumAlgorithm: "CRC32",
          }),
        );
        if (ChecksumType === "FULL_OBJECT") assert.equal(done.ChecksumCRC32, whole.ChecksumCRC32);
        else assert.match(done.ChecksumCRC32!, /^[A-Za-z0-9+/]{6}==-2$/);
        const head = await client.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: "ENABLED" }));
        assert.deepEqual([head.ChecksumCRC32, head.ChecksumType], [done.ChecksumCRC32, ChecksumType]);
        const { ObjectParts } = await client.send(
          new GetObjectAttributesCommand({ Bucket, Key, ObjectAttributes: ["ObjectParts"] }),
        );
        assert.equal(ObjectParts?.TotalPartsCount, 2);
        assert.deepEqual(
          ObjectParts?.Parts?.map((part) => part.ChecksumCRC32),
          Parts.map((part) => part.ChecksumCRC32),
        );
      }
    },
  );

  await t.test("UploadPartCopy copies a range of an object into a part", async () => {
    const source = randomBytes(6 * MiB);
    await client.send(new PutObjectCommand({ Bucket, Key: "source", Body: source }));
    const Key = "copied";
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const copy = (CopySourceRange: string) =>
      client.send(
        new UploadPartCopyCommand({
          Bucket,
          Key,
          UploadId,
          PartNumber: 1,
          CopySource: `${Bucket}/source`,
          CopySourceRange,
        }),
      );
    await refused(copy(`bytes=0-${6 * MiB}`), "InvalidRange");
    await refused(copy("bytes=5"), "InvalidArgument", 400);
    const { CopyPartResult } = await copy(`bytes=1-${5 * MiB}`);
    const Parts = [{ ETag: CopyPartResult!.ETag, PartNumber: 1 }];
    await client.send(
      new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
    );
    const found = await client.send(new GetObjectCommand({ Bucket, Key }));
    assert.deepEqual(Buffer.from(await found.Body!.transformToByteArray()), source.subarray(1, 5 * MiB + 1));
  });

  await t.test("lib-storage uploads a stream of unknown length", async () => {
    const body = randomBytes(12 * MiB);
    async function* pieces() {
      for (let at = 0; at < body.length; at += 100_000) yield body.subarray(at, at + 100_000);
    }
    const { Readable } = await import("node:stream");
    await new Upload({ client, params: { Bucket, Key: "lib", Body: Readable.from(pieces()) } }).done();
    const found = await client.send(new GetObjectCommand({ Bucket, Key: "lib" }));
    assert.equal(sha(await found.Body!.transformToByteArray()), sha(body));
  });

  await t.test(
    "an upload started with the binding can be completed over S3, and an upload started over S3 with the binding",
    async () => {
      const store = await openStore(s3.data);
      t.after(() => store.close());
      const bucket = store.bucket(Bucket);
      const begun = await bucket.createMultipartUpload("from-binding");
      const Key = "from-binding";
      const { ETag } = await client.send(
        new UploadPartCommand({ Bucket, Key, UploadId: begun.uploadId, PartNumber: 1, Body: "by S3" }),
      );
      const Parts = [{ ETag, PartNumber: 1 }];
      await client.send(
        new CompleteMultipartUploadCommand({
          Bucket,
          Key,
          UploadId: begun.uploadId,
          MultipartUpload: { Parts },
        }),
      );
      assert.equal(await (await bucket.get(Key))?.text(), "by S3");
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: "from-s3" }));
      const resumed = bucket.resumeMultipartUpload("from-s3", UploadId!);
      await resumed.complete([await resumed.uploadPart(1, "by the binding")]);
      const found = await client.send(new GetObjectCommand({ Bucket, Key: "from-s3" }));
      assert.equal(await found.Body!.transformToString(), "by the binding");
    },
  );
});

test("presigned URLs and forms give access to one object", async (t) => {
  const s3 = await s3Scene(t);
  const client = s3.client();
  await client.send(new PutObjectCommand({ Bucket, Key: "a b/ü", Body: "signed" }));

  await t.test("a presigned URL of the SDK works and can override response headers", async () => {
    const get = new GetObjectCommand({ Bucket, Key: "a b/ü", ResponseContentType: "text/x-said" });
    const answer = await fetch(await getSignedUrl(client, get, { expiresIn: 60 }));
    assert.deepEqual(
      [answer.status, await answer.text(), answer.headers.get("content-type")],
      [200, "signed", "text/x-said"],
    );
    const put = await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: "put" }), { expiresIn: 60 });
    assert.equal((await fetch(put, { method: "PUT", body: "by URL" })).status, 200);
    assert.equal((await s3.server.ask("/put")).text, "by URL");
    assert.equal((await fetch(put.replace("/put?", "/other?"), { method: "PUT", body: "x" })).status, 403);
  });

  await t.test("a presigned URL of a script works for its method only", async () => {
    const { text: url } = await s3.server.ask("/presign?key=a%20b/%C3%BC");
    assert.equal(await (await fetch(url)).text(), "signed");
    assert.equal((await fetch(url, { method: "DELETE" })).status, 403);
  });

  await t.test("a presigned URL of the command line works until its access key is deleted", async () => {
    const made = await s3.newKey();
    const args = [
      "object",
      "url",
      "bucket/a b/ü",
      "--data",
      s3.data,
      "--endpoint",
      s3.url,
      "--key",
      made.accessKeyId,
    ];
    const { code, stdout, stderr } = await s3.scene.shell.run(args);
    assert.equal(code, 0, stderr);
    assert.equal(await (await fetch(stdout.trim())).text(), "signed");
    assert.equal((await s3.scene.shell.run(["key", "delete", made.accessKeyId, "--data", s3.data])).code, 0);
    const after = await fetch(stdout.trim());
    assert.equal(after.status, 403);
    assert.match(await after.text(), /<Code>InvalidAccessKeyId</);
  });

  await t.test("a presigned POST form works within its policy", async () => {
    const { url, fields } = await createPresignedPost(client, {
      Bucket,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: S3 defines this placeholder.
      Key: "posted/${filename}",
      Conditions: [["content-length-range", 1, 10], { success_action_status: "201" }],
      Fields: { success_action_status: "201" },
      Expires: 60,
    });
    const post = (body: string, changed: Record<string, string> = {}) => {
      const form = new FormData();
      for (const [name, value] of Object.entries({ ...fields, ...changed })) form.append(name, value);
      form.append("file", new Blob([body]), "cat.txt");
      return fetch(url, { method: "POST", body: form });
    };
    const done = await post("meow");
    assert.deepEqual([done.status, /<Key>(.*)<\/Key>/.exec(await done.text())?.[1]], [201, "posted/cat.txt"]);
    assert.equal((await s3.server.ask("/posted/cat.txt")).text, "meow");
    const code = async (answer: Response) => /<Code>(\w+)</.exec(await answer.text())?.[1];
    assert.equal(await code(await post("far too much of it")), "EntityTooLarge");
    assert.equal(await code(await post("")), "EntityTooSmall");
    assert.equal(await code(await post("x", { key: "elsewhere" })), "AccessDenied");
    assert.equal(await code(await post("x", { "x-amz-meta-more": "1" })), "AccessDenied");
    assert.equal(await code(await post("x", { "X-Amz-Signature": "0".repeat(64) })), "SignatureDoesNotMatch");
  });
});

function sha(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
