// The S3 blob backend on Store's own S3 API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openBlobBackend } from "../../../src/cluster/open-backend.ts";
import { read, write } from "../../contracts/blob-backend/setup.ts";
import { shelfContract } from "../../contracts/blob-backend.ts";
import { collect, sampleBytes } from "../../support/bytes.ts";
import { startS3Service } from "../../support/s3-service.ts";

/** Piece limits so small that blobs of a few blocks have several pieces. */
const smallPieces = { maxBlocks: 3, minBlocks: 2, bytes: 16 * 1024 * 1024 };

const kinds = [
  { name: "an S3 service", options: {}, prefix: "" },
  {
    name: "an S3 service, in small pieces under a prefix",
    options: { pieces: smallPieces },
    prefix: "/a b/&c%2B",
  },
];

for (const { name, options, prefix } of kinds) {
  shelfContract(name, async (t) => {
    const service = await startS3Service(t);
    const url = service.shelfUrl({ prefix });
    const backend = await openBlobBackend(url, { marker: "make", ...options });
    const other = await openBlobBackend(url, options);
    t.after(() => Promise.all([backend.close(), other.close()]));
    const start = prefix === "" ? "" : "a b/&c+/";
    return {
      shelf: backend,
      other,
      async change(blob, piece, how) {
        const key = `${start}${blob.bucket}/${blob.name}${piece === 0 ? "" : `.${String(piece).padStart(6, "0")}`}`;
        const found = await service.engine.get(service.bucket, key);
        assert(found.outcome === "found");
        const changed = how(await collect(found.bytes.chunks()));
        if (changed === undefined) await service.engine.delete(service.bucket, [key]);
        else await service.engine.put(service.bucket, key, changed);
      },
      left: async (bucket) =>
        (await service.keys()).filter((key) => key.startsWith(`${start}${bucket}/`)).length,
    };
  });
}

test("a long blob is stored in pieces, and a missing piece is reported as damage", async (t) => {
  const service = await startS3Service(t);
  const backend = await openBlobBackend(service.shelfUrl(), { marker: "make", pieces: smallPieces });
  t.after(() => backend.close());
  const bytes = sampleBytes(7 * 65_536 + 1);
  const blob = await write(backend, bytes);
  assert.equal(blob.pieceBlocks, 3);
  const first = `${blob.bucket}/${blob.name}`;
  const pieces = [first, `${first}.000001`, `${first}.000002`];
  assert.deepEqual(
    (await service.keys()).filter((key) => key.startsWith(first)),
    pieces,
  );
  await service.engine.delete(service.bucket, [pieces[1]!]);
  assert.equal(await backend.has(blob), false);
  await assert.rejects(read(backend, blob), /The stored data is damaged: .*000001 is missing/);
  assert.deepEqual(
    await read(backend, blob, { offset: 0, length: 3 * 65_536 }),
    bytes.subarray(0, 3 * 65_536),
  );
});

test("an error of the S3 service is reported with the service's message and without keys", async (t) => {
  const service = await startS3Service(t);
  const wrongBucket = service.shelfUrl({ bucket: "elsewhere" });
  const secret = /:([^:@]+)@/.exec(wrongBucket)![1]!;
  const wrongSecret = service.shelfUrl().replace(secret, "w".repeat(secret.length));
  const cases: [string, RegExp][] = [
    [
      wrongBucket,
      /The S3 service at 127\.0\.0\.1:\d+ of the blob backend refuses the request: NoSuchBucket: /,
    ],
    [wrongSecret, /refuses the request: SignatureDoesNotMatch: /],
    [service.shelfUrl(), /is not set up as a blob backend: .*store migrate/],
  ];
  for (const [url, words] of cases) {
    await assert.rejects(openBlobBackend(url), (error: Error & { reason?: string }) => {
      assert.equal(error.reason, "ServiceUnavailable");
      assert.match(error.message, words);
      assert(!`${error.stack} ${String(error.cause)}`.includes(secret));
      return true;
    });
  }
});

test("a missing bucket of the S3 service is reported as an error, not treated as an empty backend", async (t) => {
  const service = await startS3Service(t);
  const backend = await openBlobBackend(service.shelfUrl(), { marker: "make" });
  t.after(() => backend.close());
  const blob = await write(backend, sampleBytes(10));
  await backend.remove(blob);
  await service.engine.delete(service.bucket, ["store-shelf"]);
  await service.engine.deleteBucket(service.bucket);
  for (const work of [() => backend.has(blob), () => read(backend, blob), () => backend.remove(blob)]) {
    await assert.rejects(work(), { reason: "ServiceUnavailable", message: /NoSuchBucket/ });
  }
});
