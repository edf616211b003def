// `store import`: bytes, etags, parts and metadata are imported and verified against the source.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { DatabaseSync } from "@photostructure/sqlite";
import { parseImportOrigin } from "../../../src/cli/commands/import-arguments.ts";
import type { Invocation } from "../../../src/cli/framework/command.ts";
import { type ImportCounts, importObjects } from "../../../src/cli/transfer/import/import.ts";
import { openMiniflareSource } from "../../../src/cli/transfer/import/miniflare-source.ts";
import { openS3Source } from "../../../src/cli/transfer/import/s3-source.ts";
import type { ImportSource } from "../../../src/cli/transfer/import/source.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { limits } from "../../../src/model/limits.ts";
import { multipartEtag } from "../../../src/model/upload.ts";
import { openEngine } from "../../../src/open.ts";
import { collect, sampleBytes } from "../../support/bytes.ts";
import { startS3Service } from "../../support/s3-service.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { openShellWithBucket } from "../store.ts";

const zero: ImportCounts = { copied: 0, bytes: 0, same: 0, deleted: 0, passed: 0, failed: 0, unverified: 0 };

async function openTarget(t: TestContext) {
  const { engine } = await openEngine("memory:");
  t.after(() => engine.close());
  await engine.createBucket("photos");
  async function run(source: ImportSource, { isDryRun = false, prefix = "" } = {}) {
    const counts = { ...zero };
    const told: string[] = [];
    const { signal } = new AbortController();
    const shared = { engine, bucket: "photos", prefix, source, isDryRun, signal, onBytes() {} };
    try {
      await importObjects(
        {
          ...shared,
          async onEvent(one) {
            told.push(one.kind === "failed" ? `failed ${one.key}: ${(one.error as Error).message}` : one.key);
          },
        },
        counts,
      );
    } finally {
      source.close();
    }
    return { counts, told: told.sort() };
  }
  return { engine, run };
}

async function bytesOf(engine: Engine, key: string, bucket = "photos"): Promise<Buffer> {
  const found = await engine.get(bucket, key);
  assert.ok(found.outcome === "found", key);
  return collect(found.bytes.chunks());
}

/** Stores an object in two parts, the first of the minimum size. */
async function putParts(engine: Engine, bucket: string, key: string): Promise<string> {
  const { id } = await engine.createUpload(bucket, key, { customMetadata: new Map([["a", "b"]]) });
  const bodies = [sampleBytes(limits.s3PartBytes), Buffer.from("tail")];
  const parts = [];
  for (const [index, bytes] of bodies.entries()) {
    const { etag } = await engine.uploadPart(bucket, { key, id }, index + 1, bytes);
    parts.push({ number: index + 1, etag });
  }
  return (await engine.completeUpload(bucket, { key, id }, parts)).etag;
}

function placeOf(url: string, environment: Record<string, string> = {}) {
  const place = parseImportOrigin({
    parameters: [url, "photos"],
    environment,
    directory: "/",
  } as unknown as Invocation);
  assert.ok(place.kind === "s3");
  return place;
}

test("import from an S3 service keeps metadata, etags and parts, and a second run skips unchanged objects", async (t) => {
  const { engine: there, bucket, shelfUrl } = await startS3Service(t);
  const { engine, run } = await openTarget(t);
  const keys = ["in/a b+c", "in/ü/../x", "in/line\nfeed", "in/&<>", "in/"];
  for (const key of keys) await there.put(bucket, key, Buffer.from(key));
  const httpMetadata = {
    contentType: "image/png",
    cacheControl: "no-store",
    cacheExpiry: 1e12,
    contentLanguage: "de",
  };
  await there.put(bucket, "in/told", Buffer.from("x"), {
    ...{ httpMetadata, customMetadata: new Map([["place", "gärten"]]), storageClass: "InfrequentAccess" },
  });
  const etag = await putParts(there, bucket, "in/parts");
  await there.put(bucket, "elsewhere", Buffer.from("not below the prefix"));
  const source = () => openS3Source(placeOf(shelfUrl({ prefix: "/in" })));
  const dry = await run(source(), { isDryRun: true });
  assert.deepEqual([dry.counts.copied, (await engine.list("photos")).objects.length], [7, 0]);
  const { counts, told } = await run(source(), { prefix: "to/" });
  assert.deepEqual({ ...counts, bytes: 0 }, { ...zero, copied: 7 }, told.join("\n"));
  for (const key of keys) assert.equal((await bytesOf(engine, `to/${key.slice(3)}`)).toString(), key);
  const record = await engine.head("photos", "to/told");
  assert.deepEqual(record?.httpMetadata, httpMetadata);
  assert.deepEqual([...(record?.customMetadata ?? [])], [["place", "gärten"]]);
  assert.equal(record?.storageClass, "InfrequentAccess");
  const parts = await engine.head("photos", "to/parts");
  assert.deepEqual([parts?.etag, parts?.customMetadata.get("a")], [etag, "b"]);
  assert.deepEqual((await run(source(), { prefix: "to/" })).counts, { ...zero, same: 7 });
  await there.put(bucket, "in/told", Buffer.from("changed"));
  assert.deepEqual((await run(source(), { prefix: "to/" })).told, ["to/told"]);
});

test("an error of the S3 service is reported without credentials", async (t) => {
  const { shelfUrl } = await startS3Service(t);
  const { run } = await openTarget(t);
  const refused = openS3Source(placeOf(shelfUrl().replace(/:[^:]*@/, ":wrong@")));
  await assert.rejects(
    run(refused),
    /^CommandError: The S3 service at 127\.0\.0\.1:\d+ refused the request: SignatureDoesNotMatch/,
  );
});

test("import accepts several forms of S3 URLs and reads credentials from the environment", () => {
  const environment = { AWS_ACCESS_KEY_ID: "ID", AWS_SECRET_ACCESS_KEY: "a/b", AWS_REGION: "eu-central-1" };
  const { endpoint: place } = placeOf("https://s3.example.com/old/pre/fix", environment);
  const shared = { hostname: "s3.example.com", bucket: "old", prefix: "pre/fix/", accessKeyId: "ID" };
  assert.deepEqual(place, {
    ...shared,
    port: 443,
    tls: true,
    region: "eu-central-1",
    secretAccessKey: "a/b",
  });
  assert.equal(placeOf("http://host:9000/old?region=auto", environment).endpoint.region, "auto");
  assert.throws(() => placeOf("https://s3.example.com/old"), /There is no access key for the S3 service/);
  assert.throws(() => placeOf("pictures"), /is not a folder, an S3 service/);
});

/** Database of miniflare 4; the file name is miniflare's hash of the bucket name "photos". */
const database = "f94ebab5e3ffccac3dc781425472bd4ed8d96f277d73cecd8b9600d8b42d1a06.sqlite";
const tables = `
  CREATE TABLE _mf_objects (key TEXT PRIMARY KEY, blob_id TEXT, version TEXT NOT NULL, size INTEGER NOT NULL,
    etag TEXT NOT NULL, uploaded INTEGER NOT NULL, checksums TEXT NOT NULL, http_metadata TEXT NOT NULL,
    custom_metadata TEXT NOT NULL);
  CREATE TABLE _mf_multipart_parts (upload_id TEXT NOT NULL, part_number INTEGER NOT NULL, blob_id TEXT NOT NULL,
    size INTEGER NOT NULL, etag TEXT NOT NULL, checksum_md5 TEXT NOT NULL, object_key TEXT,
    PRIMARY KEY (upload_id, part_number))`;

const md5 = (bytes: Uint8Array) => createHash("md5").update(bytes).digest("hex");

async function makeState(t: TestContext): Promise<string> {
  const directory = await temporaryDirectory(t);
  const state = join(directory, ".wrangler/state/v3/r2");
  await mkdir(join(state, "miniflare-R2BucketObject"), { recursive: true });
  await mkdir(join(state, "photos/blobs"), { recursive: true });
  const opened = new DatabaseSync(join(state, "miniflare-R2BucketObject", database));
  opened.exec(`PRAGMA journal_mode = WAL; ${tables}`);
  const insert = opened.prepare("INSERT INTO _mf_objects VALUES (?, ?, 'v', ?, ?, 1794790816083, ?, ?, ?)");
  const add = async (
    key: string,
    text: string,
    { etag = md5(Buffer.from(text)), sums = {}, http = {}, custom = {} } = {},
  ) => {
    const id = md5(Buffer.from(key));
    await writeFile(join(state, "photos/blobs", id), text);
    insert.run(
      key,
      id,
      text.length,
      etag,
      JSON.stringify(sums),
      JSON.stringify(http),
      JSON.stringify(custom),
    );
  };
  const sha256 = createHash("sha256").update("abc").digest("hex");
  await add("hello.txt", "Hello, world!", {
    http: { contentType: "text/plain", cacheExpiry: 1e12 },
    custom: { ü: "ä" },
  });
  await add("ss/../x y", "");
  await add("sums", "abc", { sums: { sha256 } });
  await add("rotten", "xyz", { etag: md5(Buffer.from("abc")) });
  const bodies = [sampleBytes(limits.s3PartBytes), Buffer.from("tail")];
  const etag = multipartEtag(bodies.map(md5));
  insert.run("big", null, limits.s3PartBytes + 4, etag, "{}", "{}", '{"a":"b"}');
  for (const [index, bytes] of bodies.entries()) {
    await writeFile(join(state, "photos/blobs", md5(bytes)), bytes);
    const part = opened.prepare("INSERT INTO _mf_multipart_parts VALUES ('u', ?, ?, ?, 'e', ?, 'big')");
    part.run(index + 1, md5(bytes), bytes.length, md5(bytes));
  }
  opened.close();
  return directory;
}

test("import from miniflare's state reports objects with wrong bytes and does not store them", async (t) => {
  const directory = await makeState(t);
  const { engine, run } = await openTarget(t);
  const source = () => openMiniflareSource({ folder: ".", directory, bucket: "photos" });
  const { counts, told } = await run(source());
  assert.deepEqual({ ...counts, bytes: 0 }, { ...zero, copied: 4, failed: 1 }, told.join("\n"));
  assert.match(told[1]!, /^failed rotten: Its bytes do not match the source's checksum/);
  const hello = await engine.head("photos", "hello.txt");
  assert.deepEqual(hello?.httpMetadata, { contentType: "text/plain", cacheExpiry: 1e12 });
  assert.equal(hello?.customMetadata.get("ü"), "ä");
  assert.equal((await bytesOf(engine, "hello.txt")).toString(), "Hello, world!");
  assert.ok((await engine.head("photos", "sums"))?.checksums.sha256);
  assert.match((await engine.head("photos", "big"))?.etag ?? "", /-2$/);
  assert.equal((await bytesOf(engine, "big")).length, limits.s3PartBytes + 4);
  assert.equal((await run(source())).counts.same, 4);
  const missing = () => openMiniflareSource({ folder: ".", directory, bucket: "fotos" });
  assert.throws(missing, (error: Error & { hints: string[] }) =>
    /--source-bucket photos/.test(error.hints.join()),
  );
  const nothing = () =>
    openMiniflareSource({
      folder: ".",
      directory: join(directory, ".wrangler/state/v3/r2/photos"),
      bucket: "photos",
    });
  assert.throws(nothing, /contains no buckets of miniflare/);
});

test("import from a folder stores each file and prints the number of objects and bytes", async (t) => {
  const shell = await openShellWithBucket(t);
  await mkdir(join(shell.directory, "pictures"));
  await writeFile(join(shell.directory, "pictures/cat.txt"), "meow");
  const { code, stdout, stderr } = await shell.run(["import", "./pictures", "photos/in"]);
  assert.equal(code, 0, stderr);
  assert.equal(stdout, "Imported 1 object (4 bytes) to photos/in/: 0 unchanged.\n");
});
