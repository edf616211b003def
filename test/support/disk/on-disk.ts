// What lies in a data directory that nobody has open, held against what its records name: no byte more, no
// byte less.
import assert from "node:assert/strict";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { storedBytes } from "../../../src/local/bytes/block-writer.ts";
import {
  type BucketPaths,
  blobId,
  blobOffset,
  bucketPaths,
  dataLayout,
  isInSegment,
  type Layout,
  parseBlobId,
  segmentBlobSize,
} from "../../../src/local/disk/layout.ts";
import { existenceKey } from "../../../src/local/index/existence-index.ts";
import { limits } from "../../../src/model/limits.ts";

/** A blob's id wherever it stands in a text: bucket, folder and number. */
const blobIds = /[0-9a-f]{16}\.[0-9a-f]{16}\.\d+/g;

type Row = Record<string, string | number | Uint8Array | null>;

function bytesIn(value: Row[string] | undefined): Uint8Array {
  assert.ok(value instanceof Uint8Array);
  return value;
}

export interface BlobFile {
  readonly id: string;
  readonly path: string;
  /** Where in its file it begins, and how many bytes it takes with its checksums. */
  readonly start: number;
  readonly length: number;
}

/** Every blob with its file; a segment that has no blob any more is one itself. */
export function blobFiles(directory: string): BlobFile[] {
  const layout = dataLayout(directory);
  return readdirSync(layout.buckets).flatMap((bucketId) => {
    const paths = bucketPaths(layout, bucketId);
    const files = readdirSync(paths.blobs).flatMap((folder) =>
      readdirSync(join(paths.blobs, folder)).flatMap((file) => {
        const path = join(paths.blobs, folder, file);
        // A server that still runs may remove the file between the listing and this line.
        const stat = statSync(path, { throwIfNoEntry: false });
        return stat === undefined
          ? []
          : [{ id: blobId({ bucketId, folder, file }), path, start: 0, length: stat.size }];
      }),
    );
    return [...files, ...segmentNames(paths).flatMap((name) => blobsInSegment(paths, name))];
  });
}

function segmentNames({ segments }: BucketPaths): string[] {
  return existsSync(segments) ? readdirSync(segments) : [];
}

function blobsInSegment(paths: BucketPaths, name: string): BlobFile[] {
  const path = join(paths.segments, name);
  const known = query(paths.database, "SELECT id FROM blobs ORDER BY id")
    .map(({ id }) => String(id))
    .filter((id) => parseBlobId(id).folder === name);
  if (known.length === 0) return [{ id: name, path, start: 0, length: statSync(path).size }];
  return known.map((id) => {
    const length = storedBytes(segmentBlobSize(parseBlobId(id)), limits.blockBytes);
    return { id, path, start: blobOffset(parseBlobId(id)), length };
  });
}

export function bucketIds(directory: string): ReadonlyMap<string, string> {
  const rows = query(dataLayout(directory).registry, "SELECT name, id FROM buckets");
  return new Map(rows.map(({ name, id }) => [String(name), String(id)]));
}

/** Holds after every crash once the directory was opened, swept and closed again. */
export function assertNothingLeftOver(directory: string): void {
  const layout = dataLayout(directory);
  const kept = ["buckets", "processes", "registry.db", "trash"];
  const mayBe = ["reserve", "secret.key", "audit.log"];
  const entries = namesIn(layout.root).filter((name) => !mayBe.includes(name));
  assert.deepEqual(entries, kept, "nothing else lies in the data directory");
  assert.deepEqual(readdirSync(layout.processes), [], "no lock of a process that is gone");
  assert.deepEqual(readdirSync(layout.trash), [], "the trash is empty");

  const registered = query(layout.registry, "SELECT id, deleting FROM buckets ORDER BY id");
  assert.deepEqual(
    registered.filter(({ deleting }) => deleting !== 0),
    [],
    "no bucket is half deleted",
  );
  assert.deepEqual(
    readdirSync(layout.buckets).sort(),
    registered.map(({ id }) => String(id)),
    "every bucket's folder is registered and there",
  );
  for (const { id } of registered) assertBucket(layout, String(id));
}

function assertBucket(layout: Layout, id: string): void {
  const paths = bucketPaths(layout, id);
  assert.deepEqual(
    namesIn(paths.directory),
    ["blobs", "open", "pins", "records.db", "segments"],
    "nothing else lies in a bucket's folder",
  );
  assert.deepEqual(readdirSync(paths.open), [], "no marker of a process that is gone");
  assert.deepEqual(readdirSync(paths.pins), [], "no pin of a process that is gone");
  assertDatabase(paths, id);
}

function assertDatabase(paths: BucketPaths, bucketId: string): void {
  const column = (sql: string): unknown[] =>
    query(paths.database, sql)
      .map((row) => Object.values(row)[0])
      .sort();
  assert.deepEqual(column("PRAGMA integrity_check"), ["ok"], "the database is whole");
  assert.deepEqual(column("SELECT entry FROM buried"), [], "nothing is left to be removed");

  const files = readdirSync(paths.blobs).flatMap((folder) =>
    readdirSync(join(paths.blobs, folder)).map((file) => blobId({ bucketId, folder, file })),
  );
  const manifests = column("SELECT parts FROM manifests WHERE id IN (SELECT manifest FROM objects)");
  const named = [
    ...column("SELECT blob FROM objects WHERE blob IS NOT NULL"),
    ...column("SELECT blob FROM parts"),
    ...manifests.flatMap((text) => String(text).match(blobIds) ?? []),
  ];
  const isShared = (id: unknown) => isInSegment(String(id));
  assert.deepEqual(
    files.sort(),
    named.filter((id) => !isShared(id)).sort(),
    "the files are exactly the blobs that records name",
  );
  assertSegments(paths, named.filter(isShared).map(String));
  named.sort();
  assert.deepEqual(column("SELECT id FROM blobs"), named, "every known blob is one that a record names");
  assert.deepEqual(
    column("SELECT id FROM bodies"),
    column("SELECT inline FROM objects WHERE inline <> 0"),
    "every inline body belongs to an object",
  );
  assert.deepEqual(
    column("SELECT id FROM manifests"),
    column("SELECT manifest FROM objects WHERE manifest IS NOT NULL"),
    "every list of parts belongs to an object",
  );
  assert.deepEqual(
    query(paths.database, "SELECT objects, bytes FROM bucket"),
    query(paths.database, "SELECT count(*) AS objects, coalesce(sum(size), 0) AS bytes FROM objects"),
    "the totals are those of the objects",
  );
  const witnessed = [
    ...query(paths.database, "SELECT key FROM objects").map(({ key }) => existenceKey.object(bytesIn(key))),
    ...query(paths.database, "SELECT key, id FROM uploads").map(({ key, id }) =>
      existenceKey.upload(bytesIn(key), String(id)),
    ),
    ...query(paths.database, "SELECT upload, number FROM parts").map(({ upload, number }) =>
      existenceKey.part(String(upload), Number(number)),
    ),
    ...named.map((id) => existenceKey.blob(String(id))),
  ];
  const places = query(paths.database, "SELECT place FROM witness").map(({ place }) => bytesIn(place));
  assert.deepEqual(
    places.map((place) => Buffer.from(place).toString("hex")),
    witnessed.map((place) => place.toString("hex")).sort(),
    "the second witness names exactly what is there",
  );
}

function assertSegments(paths: BucketPaths, named: readonly string[]): void {
  const used = [...new Set(named.map((id) => parseBlobId(id).folder))].sort();
  assert.deepEqual(segmentNames(paths).sort(), used, "every segment has a body that a record names");
  for (const id of named) {
    const place = parseBlobId(id);
    const { size } = statSync(join(paths.segments, place.folder));
    assert.ok(blobOffset(place) + segmentBlobSize(place) < size, `${id} is within its segment`);
  }
}

/** A database's log and its index belong to the database: whether they are there is its own affair. */
function namesIn(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => !/\.db-(wal|shm)$/.test(name))
    .sort();
}

/** Folders for blobs that hold none. */
export function emptyFolders(directory: string): string[] {
  const layout = dataLayout(directory);
  return readdirSync(layout.buckets).flatMap((bucketId) => {
    const { blobs } = bucketPaths(layout, bucketId);
    return readdirSync(blobs).filter((folder) => readdirSync(join(blobs, folder)).length === 0);
  });
}

/** In flight or remembered, in all buckets. */
export function countUploads(directory: string): number {
  const layout = dataLayout(directory);
  return readdirSync(layout.buckets)
    .map((id) => Number(query(bucketPaths(layout, id).database, "SELECT count(*) AS n FROM uploads")[0]!.n))
    .reduce((sum, count) => sum + count, 0);
}

function query(path: string, sql: string): Row[] {
  assert.ok(existsSync(path), `${path} is there`);
  const database = new DatabaseSync(path, { timeout: 5000 });
  try {
    return database.prepare(sql).all() as Row[];
  } finally {
    database.close();
  }
}
