// Packages of npm that speak S3 with code of their own, or use it in their own way: minio, the S3
// store of tus for resumed uploads, and unstorage.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import type { S3Scene } from "../../s3/scene.ts";
import { requireFromNpm } from "../clients.ts";
import { MiB } from "../files.ts";
import { everydayJobs } from "../scene.ts";

const big = randomBytes(12 * MiB);

everydayJobs(
  "javascript",
  async () => ({}),
  async (t, { s3 }) => {
    await t.test("minio stores, copies, lists and shares objects, posts forms and keeps versions", () =>
      useMinio(s3),
    );
    await t.test("tus resumes an upload in pieces that are not parts", (t) => useTus(t, s3));
    await t.test("unstorage stores, lists and clears values", () => useUnstorage(s3));
  },
);

async function useMinio({ url, key }: S3Scene): Promise<void> {
  const { Client, CopyConditions } = requireFromNpm("minio");
  const { hostname: endPoint, port } = new URL(url);
  const { accessKeyId: accessKey, secretAccessKey: secretKey } = key;
  const place = { endPoint, port: Number(port), useSSL: false, partSize: 5 * MiB };
  const client = new Client({ ...place, accessKey, secretKey });
  const bucket = "minio";
  await client.makeBucket(bucket, "eu-central-1");
  assert.equal(await client.bucketExists(bucket), true);
  await client.putObject(bucket, "a/ä + b", "small", 5, { "x-amz-meta-who": "minio" });
  assert.equal((await client.statObject(bucket, "a/ä + b")).metaData.who, "minio");
  const chunks = Array.from({ length: 12 }, (_, i) => big.subarray(i * MiB, (i + 1) * MiB));
  await client.putObject(bucket, "big", Readable.from(chunks), big.length);
  assert.match((await client.statObject(bucket, "big")).etag, /-3$/);
  assert.deepEqual(Buffer.concat(await collect(await client.getObject(bucket, "big"))), big);
  const range = await client.getPartialObject(bucket, "big", 100, 10);
  assert.deepEqual(Buffer.concat(await collect(range)), big.subarray(100, 110));
  await client.copyObject(bucket, "copied", `/${bucket}/a/ä + b`, new CopyConditions());
  const listed = await collect<Entry>(client.listObjectsV2(bucket, "", true));
  assert.deepEqual(
    listed.map(({ name }) => name),
    ["a/ä + b", "big", "copied"],
  );
  assert.equal(await (await fetch(await client.presignedGetObject(bucket, "copied", 60))).text(), "small");

  const policy = client.newPostPolicy();
  policy.setBucket(bucket);
  policy.setKey("form");
  policy.setExpires(new Date(Date.now() + 60_000));
  policy.setContentLengthRange(1, 100);
  const { postURL, formData } = await client.presignedPostPolicy(policy);
  const form = new FormData();
  for (const [name, value] of Object.entries(formData)) form.append(name, String(value));
  form.append("file", new Blob(["posted"]), "f.txt");
  assert.equal((await fetch(postURL, { method: "POST", body: form })).status, 204);

  await client.setBucketVersioning(bucket, { Status: "Enabled" });
  await client.putObject(bucket, "form", "newer");
  await client.setObjectTagging(bucket, "form", { colour: "red" });
  assert.deepEqual(await client.getObjectTagging(bucket, "form"), [{ Key: "colour", Value: "red" }]);
  await client.initiateNewMultipartUpload(bucket, "open", {});
  await client.removeIncompleteUpload(bucket, "open");
  await assert.rejects(client.statObject(bucket, "none"), { code: "NotFound" });
  const versions = await collect<Entry>(client.listObjects(bucket, "", true, { IncludeVersion: true }));
  assert.equal(versions.length, 5);
  await client.removeObjects(bucket, versions);
  await client.removeBucket(bucket);
}

interface Entry {
  readonly name: string;
  readonly versionId: string;
}

async function collect<T = Buffer>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of stream) all.push(value);
  return all;
}

async function useTus(t: TestContext, s3: S3Scene): Promise<void> {
  const { Server } = requireFromNpm("@tus/server");
  const { S3Store } = requireFromNpm("@tus/s3-store");
  const place = { endpoint: s3.url, region: "us-east-1", forcePathStyle: true, credentials: s3.key };
  const datastore = new S3Store({ partSize: 5 * MiB, s3ClientConfig: { bucket: "bucket", ...place } });
  const uploads = new Server({ path: "/files", datastore });
  const server = createServer((request, response) => uploads.handle(request, response)).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const version = { "tus-resumable": "1.0.0" };
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/files`;
  const asked = { ...version, "upload-length": String(big.length) };
  const created = await fetch(base, { method: "POST", headers: asked });
  assert.equal(created.status, 201);
  const upload = new URL(created.headers.get("location")!, base);
  for (const end of [3_000_000, 7_654_321, big.length]) {
    const { headers } = await fetch(upload, { method: "HEAD", headers: version });
    const offset = headers.get("upload-offset")!;
    const type = { "content-type": "application/offset+octet-stream" };
    const body = big.subarray(Number(offset), end);
    const piece = { method: "PATCH", headers: { ...version, ...type, "upload-offset": offset }, body };
    assert.equal((await fetch(upload, piece)).status, 204);
  }
  const Key = upload.pathname.split("/").at(-1)!;
  const { Body } = await s3.client().send(new GetObjectCommand({ Bucket: "bucket", Key }));
  assert.deepEqual(Buffer.from(await Body!.transformToByteArray()), big);
}

async function useUnstorage({ scene, data, url, key }: S3Scene): Promise<void> {
  await scene.shell.store("bucket", "create", "unstorage", "--data", data);
  const { accessKeyId, secretAccessKey } = key;
  const place = { endpoint: url, region: "us-east-1", bucket: "unstorage" };
  const driver = requireFromNpm("unstorage/drivers/s3")({ ...place, accessKeyId, secretAccessKey });
  const storage = requireFromNpm("unstorage").createStorage({ driver });
  await storage.setItem("a:b", { value: 1 });
  await storage.setItemRaw("raw", big);
  assert.deepEqual(await storage.getItem("a:b"), { value: 1 });
  assert.deepEqual(Buffer.from(await storage.getItemRaw("raw")), big);
  assert.equal(await storage.hasItem("none"), false);
  assert.deepEqual((await storage.getKeys()).sort(), ["a:b", "raw"]);
  await storage.removeItem("raw");
  await storage.clear();
  assert.deepEqual(await storage.getKeys(), []);
}
