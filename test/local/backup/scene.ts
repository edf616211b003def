// Creates stores with every kind of content, and folders for their backups and restores.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Engine } from "../../../src/engine/engine.ts";
import { openStore, type StoreBucket } from "../../../src/index.ts";
import { openEngine } from "../../../src/open.ts";
import { collect, sampleBytes } from "../../support/bytes.ts";
import { temporaryDirectory } from "../../support/stores.ts";

export interface Places {
  readonly data: string;
  readonly backup: string;
  readonly restored: string;
}

export async function openPlaces(t: TestContext): Promise<Places> {
  // One level deeper, so that "../.." from a data directory stays inside the test's folder.
  const directory = join(await temporaryDirectory(t), "places");
  await mkdir(directory);
  return {
    data: join(directory, "data"),
    backup: join(directory, "backup"),
    restored: join(directory, "restored"),
  };
}

export const customerKey = Buffer.alloc(32, 7);
export const rules = {
  cors: [{ origins: ["https://example.com"], methods: ["GET"], headers: [], exposed: [] }],
};

export interface Filled {
  /** An incomplete upload with its first part. */
  readonly upload: { readonly key: string; readonly id: string; readonly etag: string };
}

/** Stores objects of every kind, an incomplete upload, settings, documents and the secret key. */
export async function fillStore(data: string): Promise<Filled> {
  const { engine, documents } = await openEngine(data);
  await engine.createBucket("photos", { storageClass: "InfrequentAccess" });
  await engine.createBucket("empty");
  await engine.changeSettings("photos", rules);
  assert.equal(await documents.put("secret", "script/NAME", "sealed text", undefined), "committed");
  await engine.close();
  const store = await openStore(data);
  const photos = store.bucket("photos");
  await photos.put("nothing", "");
  await photos.put("small", "a few bytes", {
    customMetadata: { place: "garden" },
    httpMetadata: { contentType: "text/plain", cacheControl: "max-age=1" },
  });
  await photos.put("file", sampleBytes(300_000), { storageClass: "Standard" });
  await photos.put("sealed", sampleBytes(200_000), { ssecKey: customerKey });
  await putParts(photos);
  const upload = await photos.createMultipartUpload("in flight", { customMetadata: { still: "coming" } });
  const { etag } = await upload.uploadPart(1, sampleBytes(100_000));
  await store.close();
  await writeFile(join(data, "secret.key"), `${"ab".repeat(32)}\n`, { mode: 0o600 });
  return { upload: { key: upload.key, id: upload.uploadId, etag } };
}

async function putParts(bucket: StoreBucket): Promise<void> {
  const upload = await bucket.createMultipartUpload("parts", { customMetadata: { of: "three" } });
  const bytes = sampleBytes(250_000);
  const parts = [];
  for (const number of [1, 2, 3])
    parts.push(await upload.uploadPart(number, bytes.subarray((number - 1) * 100_000, number * 100_000)));
  await upload.complete(parts);
}

/** Returns everything that can be read from a store, as plain data. */
export async function everythingIn(data: string): Promise<unknown> {
  const { engine, documents } = await openEngine(data);
  try {
    const buckets = await engine.listBuckets();
    const contents = await Promise.all(buckets.map(({ name }) => everythingOf(engine, name)));
    return { buckets, contents, documents: await documents.list("secret") };
  } finally {
    await engine.close();
  }
}

async function everythingOf(engine: Engine, bucket: string) {
  const objects = [];
  for (const { key, encryption } of (await engine.list(bucket)).objects) {
    const options = encryption === undefined ? {} : { customerKey };
    const found = await engine.get(bucket, key, options);
    assert.ok(found.outcome === "found");
    objects.push({ record: found.record, parts: found.parts, bytes: await collect(found.bytes.chunks()) });
  }
  const { uploads } = await engine.listUploads(bucket);
  const parts = await Promise.all(uploads.map((upload) => engine.listParts(bucket, upload)));
  const totals = await engine.totals(bucket);
  return { totals, bucket: await engine.bucket(bucket), objects, uploads, parts };
}
