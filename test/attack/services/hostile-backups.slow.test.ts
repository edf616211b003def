// A backup's target that loses what it was given, and one that gives back other manifests: such a
// backup is not called complete, and such a restore is refused with words before it writes anything.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname } from "node:path";
import { type TestContext, test } from "node:test";
import type { OffsiteManifest } from "../../../src/local/offsite/manifest.ts";
import {
  backUpStoreOffsite,
  listBackups,
  restoreStoreOffsite,
  verifyBackupOffsite,
} from "../../../src/maintenance.ts";
import { BackupError } from "../../../src/model/backup.ts";
import { createPlainCodec } from "../../../src/repository/codec.ts";
import { parseS3Endpoint } from "../../../src/s3-client/url.ts";
import { fillStore, openPlaces } from "../../local/backup/scene.ts";
import { type LyingService, openLyingService, quotedMd5, type S3Call } from "./lying-s3.ts";

const refusal = (message: RegExp) => (error: unknown) =>
  error instanceof BackupError && message.test([error.message, ...error.hints].join("\n"));

async function openTarget(t: TestContext) {
  const service = await openLyingService(t);
  const places = await openPlaces(t);
  await fillStore(places.data);
  const url = `s3://AKIDBACKUP:secret@127.0.0.1:${service.port}/bucket`;
  const endpoint = parseS3Endpoint(url, (why) => new Error(why));
  return { ...places, service, to: { endpoint, times: { retry: 500 } } };
}

/** Confirms each put of a name without storing it, or stores what `store` returns. */
function losing(service: LyingService, names: RegExp, store?: (body: Buffer) => Buffer) {
  return ({ request, response, key, body }: S3Call) => {
    if (request.method !== "PUT" || !names.test(key ?? "")) return false;
    if (store !== undefined) service.objects.set(key!, store(body));
    response.writeHead(200, { etag: quotedMd5(body) }).end();
    return true;
  };
}

const losses: readonly (readonly [what: string, names: RegExp, store?: (body: Buffer) => Buffer])[] = [
  ["loses bodies", /^blobs\//],
  ["cuts bodies", /^blobs\//, (body) => body.subarray(0, -1)],
  ["loses databases", /^snapshots\/.*\.records$/],
  ["cuts the registry", /^snapshots\/.*\/registry$/, (body) => body.subarray(1)],
  ["loses the manifest", /^backups\//],
  ["changes the manifest", /^backups\//, (body) => Buffer.from(body).fill(0x20, 0, 1)],
  ["loses the header", /^store-backup\.json$/],
];

test("a backup is not complete at a target that loses what it was given", async (t) => {
  for (const [what, names, store] of losses) {
    const { service, data, restored, to } = await openTarget(t);
    service.lie = losing(service, names, store);
    await assert.rejects(backUpStoreOffsite(data, to), (error: Error) => {
      assert.match(
        error.message,
        /disappeared or changed|does not return what was written|is damaged/,
        `${what}: ${error.stack}`,
      );
      return true;
    });
    service.lie = () => false;
    await assert.rejects(restoreStoreOffsite(to, restored), refusal(/backup/i), what);
    assert.ok(!existsSync(restored), what);
    await backUpStoreOffsite(data, to);
    assert.deepEqual((await verifyBackupOffsite({ ...to })).damages, [], what);
  }
});

type Fields = Readonly<Record<string, unknown>>;

const manifests: readonly (readonly [what: string, change: (manifest: OffsiteManifest) => unknown])[] = [
  ["no JSON", () => "{"],
  ["nothing", () => null],
  ["a list", () => []],
  [
    "deep nesting",
    (manifest) => `{"x":${"[".repeat(200_000)}${"]".repeat(200_000)},${JSON.stringify(manifest).slice(1)}`,
  ],
  ["a huge database", (manifest) => withDatabase(manifest, { bytes: Number.MAX_SAFE_INTEGER })],
  ["a size beyond integers", (manifest) => withDatabase(manifest, { bytes: 1e300 })],
  ["a negative size", (manifest) => withDatabase(manifest, { bytes: -1 })],
  [
    "a huge list of bodies",
    ({ lists, ...rest }) => ({
      ...rest,
      lists: lists.map((list) => ({ ...list, bytes: 2 ** 52 })),
    }),
  ],
  ["a bucket with a path as id", (manifest) => withBucket(manifest, { id: "../../outside" })],
  ["a bucket with a path as name", (manifest) => withBucket(manifest, { name: "../outside" })],
  ["a bucket twice", (manifest) => ({ ...manifest, buckets: [...manifest.buckets, manifest.buckets[0]] })],
  [
    "a companion with a path",
    (manifest) => ({
      ...manifest,
      companions: [{ name: "../../outside.key", bytes: 1, sha256: "0".repeat(64) }],
    }),
  ],
  ["another snapshot", (manifest) => ({ ...manifest, snapshot: "0".repeat(16) })],
  ["another time", (manifest) => ({ ...manifest, made: manifest.made + 1 })],
  [
    "another digest",
    (manifest) => ({ ...manifest, registry: { ...manifest.registry, sha256: "0".repeat(64) } }),
  ],
];

function withBucket({ buckets, ...rest }: OffsiteManifest, change: Fields): unknown {
  return { ...rest, buckets: buckets.map((bucket) => ({ ...bucket, ...change })) };
}

function withDatabase(manifest: OffsiteManifest, change: Fields): unknown {
  return withBucket(manifest, { database: { ...manifest.buckets[0]!.database, ...change } });
}

test("a restore from a changed manifest is refused with words, and other backups stay usable", async (t) => {
  const { service, data, restored, to } = await openTarget(t);
  await backUpStoreOffsite(data, to);
  await backUpStoreOffsite(data, to);
  const codec = createPlainCodec();
  const [first, name] = [...service.objects.keys()].filter((key) => key.startsWith("backups/")).sort();
  const original = service.objects.get(name!)!;
  const manifest = JSON.parse(Buffer.from(codec.open(name!, original)).toString()) as OffsiteManifest;
  for (const [what, change] of manifests) {
    const changed = change(structuredClone(manifest));
    const text = typeof changed === "string" ? changed : JSON.stringify(changed);
    service.objects.set(name!, Buffer.from(codec.seal(name!, Buffer.from(text))));
    await assert.rejects(restoreStoreOffsite(to, restored), (error: unknown) => {
      assert.ok(refusal(/not valid|cannot be used|damaged/)(error), `${what}: ${(error as Error).stack}`);
      return true;
    });
    assert.ok(!existsSync(restored), what);
    assert.equal((await listBackups(to)).length, 2, what);
  }
  await backUpStoreOffsite(data, to);
  assert.deepEqual(
    (await readdir(dirname(restored))).filter((entry) => /outside/.test(entry)),
    [],
  );
  const backup = first!.slice("backups/".length);
  assert.equal((await restoreStoreOffsite(to, restored, { backup })).backup, backup);
});
