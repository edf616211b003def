// MD5 and XXHASH checksums that the client computes, as the AWS SDK sends them.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectAttributesCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { hashBytes } from "../../../src/model/checksums/hashes.ts";
import { refused, s3Scene } from "../scene.ts";

const Bucket = "bucket";
const algorithms = ["MD5", "XXHASH64", "XXHASH3", "XXHASH128"] as const;
type Algorithm = (typeof algorithms)[number];

function checksum(algorithm: Algorithm, bytes: Uint8Array): Record<`Checksum${Algorithm}`, string> {
  const value = Buffer.from(hashBytes(algorithm.toLowerCase() as Lowercase<Algorithm>, bytes));
  return { [`Checksum${algorithm}`]: value.toString("base64") } as Record<`Checksum${Algorithm}`, string>;
}

test("an object shows its MD5 as checksum only if its writer asked for it", async (t) => {
  const s3 = await s3Scene(t);
  const client = s3.client(s3.key, { requestChecksumCalculation: "WHEN_REQUIRED" });
  const given = checksum("MD5", Buffer.from("Hello"));
  await client.send(new PutObjectCommand({ Bucket, Key: "a-plain", Body: "Hello" }));
  const put = await client.send(new PutObjectCommand({ Bucket, Key: "b-md5", Body: "Hello", ...given }));
  assert.deepEqual([put.ChecksumMD5, put.ChecksumType], [given.ChecksumMD5, "FULL_OBJECT"]);
  await client.send(new CopyObjectCommand({ Bucket, Key: "c-copy", CopySource: `${Bucket}/b-md5` }));
  const { Contents } = await client.send(new ListObjectsV2Command({ Bucket }));
  assert.deepEqual(
    Contents?.map(({ ChecksumAlgorithm }) => ChecksumAlgorithm),
    [undefined, ["MD5"], ["MD5"]],
  );
  for (const [Key, value] of [
    ["a-plain", undefined],
    ["b-md5", given.ChecksumMD5],
    ["c-copy", given.ChecksumMD5],
  ] as const) {
    const head = await client.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: "ENABLED" }));
    assert.equal(head.ChecksumMD5, value, Key);
    const attributes = { Bucket, Key, ObjectAttributes: ["Checksum" as const] };
    const { Checksum } = await client.send(new GetObjectAttributesCommand(attributes));
    assert.equal(Checksum?.ChecksumMD5, value, Key);
  }
});

test("uploads have composite checksums of MD5 and XXHASH, and no full-object checksums", async (t) => {
  const s3 = await s3Scene(t);
  const client = s3.client(s3.key, { requestChecksumCalculation: "WHEN_REQUIRED" });
  const bodies = [randomBytes(5 * 1024 * 1024), randomBytes(1000)];
  for (const ChecksumAlgorithm of algorithms) {
    const target = { Bucket, Key: ChecksumAlgorithm };
    const whole = { ...target, ChecksumAlgorithm, ChecksumType: "FULL_OBJECT" } as const;
    await refused(client.send(new CreateMultipartUploadCommand(whole)), "InvalidRequest", 400);
    const created = new CreateMultipartUploadCommand({ ...target, ChecksumAlgorithm });
    const { UploadId, ChecksumType } = await client.send(created);
    assert.equal(ChecksumType, "COMPOSITE");
    const Parts: CompletedPart[] = [];
    for (const [i, Body] of bodies.entries()) {
      const part = { ...target, UploadId, PartNumber: i + 1, Body };
      const wrong = checksum(ChecksumAlgorithm, Buffer.from("other"));
      await refused(client.send(new UploadPartCommand({ ...part, ...wrong })), "BadDigest", 400);
      const given = checksum(ChecksumAlgorithm, Body);
      const { ETag } = await client.send(new UploadPartCommand({ ...part, ...given }));
      Parts.push({ ETag, PartNumber: i + 1, ...given });
    }
    await client.send(
      new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }),
    );
    const name = `Checksum${ChecksumAlgorithm}` as const;
    const ofParts = Buffer.concat(Parts.map((part) => Buffer.from(part[name]!, "base64")));
    const head = await client.send(new HeadObjectCommand({ ...target, ChecksumMode: "ENABLED" }));
    const composite = checksum(ChecksumAlgorithm, ofParts)[name];
    assert.equal(head[name], `${composite}-2`);
    const attributes = { ...target, ObjectAttributes: ["Checksum" as const, "ObjectParts" as const] };
    const { Checksum, ObjectParts } = await client.send(new GetObjectAttributesCommand(attributes));
    assert.deepEqual(Checksum, { [name]: composite, ChecksumType: "COMPOSITE" });
    assert.deepEqual(
      ObjectParts?.Parts?.map((part) => part[name]),
      Parts.map((part) => part[name]),
    );
  }
});
