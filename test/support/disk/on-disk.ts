// Checks that a closed data directory contains exactly the files that its records name.
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

/** Matches blob ids in a text: bucket, folder and number. */
const blobIds = /[0-9a-f]{16}\.[0-9a-f]{16}\.\d+/g;

type Row = Record<string, string | number | Uint8Array | null>;

function bytesIn(value: Row[string] | undefined): Uint8Array {
  assert.ok(value instanceof Uint8Array);
  return value;
}

export interface BlobFile {
  readonly id: string;
  readonly path: string;
  /** Offset of the blob in its file, and its length with its checksums. */
  readonly start: number;
  readonly length: number;
}

/** Returns every blob with its file. A segment without blobs is returned as one blob. */
export function blobFiles(directory: string): BlobFile[] {
  const layout = dataLayout(directory);
  return readdirSync(layout.buckets).flatMap((bucketId) => {
    const paths = bucketPaths(layout, bucketId);
    // Another process may be creating the bucket: its folders are created one after another.
    if (!existsSync(paths.segments) || !existsSync(paths.blobs)) return [];
    const files = readdirSync(paths.blobs).flatMap((folder) =>
      readdirSync(join(paths.blobs, folder)).flatMap((file) => {
        const path = join(paths.blobs, folder, file);
        // A running server may remove the file after it was listed.
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

/** Asserts that no file is left over, once the directory was opened, swept and closed. */
export function assertNothingLeftOver(directory: string): void {
  const layout = dataLayout(directory);
  const kept = ["buckets", "processes", "registry.db", "trash"];
  const mayBe = [
    "reserve",
    "secret.key",
    "audit.log",
    "audit.log.head",
    "audit.log.lock",
    "last-backup.json",
  ];
  const entries = namesIn(layout.root).filter((name) => !mayBe.includes(name));
  assert.deepEqual(entries, kept, "the data directory has no other entries");
  assert.deepEqual(readdirSync(layout.processes), [], "there is no lock of an ended process");
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
    "every bucket has a folder, and every folder is a registered bucket",
  );
  for (const { id } of registered) assertBucket(layout, String(id));
}

function assertBucket(layout: Layout, id: string): void {
  const paths = bucketPaths(layout, id);
  assert.deepEqual(
    namesIn(paths.directory),
    ["blobs", "open", "pins", "records.db", "segments"],
    "the bucket's folder has no other entries",
  );
  assert.deepEqual(readdirSync(paths.open), [], "there is no marker of an ended process");
  assert.deepEqual(readdirSync(paths.pins), [], "there is no pin of an ended process");
  assertDatabase(paths, id);
}

/** The bodies of all versions, as a table. */
const versions =
  "(SELECT inline, blob, manifest FROM objects UNION ALL SELECT inline, blob, manifest FROM history)";

function assertDatabase(paths: BucketPaths, bucketId: string): void {
  const column = (sql: string): unknown[] =>
    query(paths.database, sql)
      .map((row) => Object.values(row)[0])
      .sort();
  assert.deepEqual(column("PRAGMA integrity_check"), ["ok"], "the database passes its integrity check");
  assert.deepEqual(column("SELECT entry FROM buried"), [], "the garbage queue is empty");

  const files = readdirSync(paths.blobs).flatMap((folder) =>
    readdirSync(join(paths.blobs, folder)).map((file) => blobId({ bucketId, folder, file })),
  );
  const manifests = column(`SELECT parts FROM manifests WHERE id IN (SELECT manifest FROM ${versions})`);
  const references = [
    ...column(`SELECT blob FROM ${versions} WHERE blob IS NOT NULL`),
    ...column("SELECT blob FROM parts"),
    ...manifests.flatMap((text) => String(text).match(blobIds) ?? []),
  ];
  const named = [...new Set(references)];
  const sharedBlobs = named.filter((id) => references.indexOf(id) !== references.lastIndexOf(id)).sort();
  assert.deepEqual(
    column("SELECT blob FROM shared"),
    sharedBlobs,
    "exactly the shared blobs have a reference count",
  );
  const isShared = (id: unknown) => isInSegment(String(id));
  assert.deepEqual(
    files.sort(),
    named.filter((id) => !isShared(id)).sort(),
    "the files are exactly the blobs that records name",
  );
  assertSegments(paths, named.filter(isShared).map(String));
  named.sort();
  assert.deepEqual(
    column("SELECT id FROM blobs"),
    named,
    "the table of blobs has exactly the blobs that records name",
  );
  assert.deepEqual(
    column("SELECT id FROM bodies"),
    column(`SELECT inline FROM ${versions} WHERE inline <> 0`),
    "every inline body belongs to a version",
  );
  assert.deepEqual(
    column("SELECT id FROM manifests"),
    column(`SELECT manifest FROM ${versions} WHERE manifest IS NOT NULL`),
    "every manifest belongs to a version",
  );
  assert.deepEqual(
    query(paths.database, "SELECT objects, bytes FROM bucket"),
    query(paths.database, "SELECT count(*) AS objects, coalesce(sum(size), 0) AS bytes FROM objects"),
    "the totals match the objects",
  );
  assert.deepEqual(
    query(paths.database, "SELECT noncurrent, noncurrent_bytes FROM bucket"),
    query(
      paths.database,
      "SELECT count(*) AS noncurrent, coalesce(sum(size), 0) AS noncurrent_bytes FROM history",
    ),
    "the totals match the noncurrent versions",
  );
  const witnessed = [
    ...query(paths.database, "SELECT key FROM objects").map(({ key }) => existenceKey.object(bytesIn(key))),
    ...query(paths.database, "SELECT key, version FROM history").map(({ key, version }) =>
      existenceKey.version(bytesIn(key), String(version)),
    ),
    ...query(paths.database, "SELECT key FROM history WHERE versioned = 0").map(({ key }) =>
      existenceKey.nullVersion(bytesIn(key)),
    ),
    ...sharedBlobs.map((id) => existenceKey.shared(String(id))),
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
    "the existence index names exactly the existing versions, uploads, parts and blobs",
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

/** Returns the names in the folder without SQLite's -wal and -shm files, which may exist or not. */
function namesIn(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => !/\.db-(wal|shm)$/.test(name))
    .sort();
}

/** Returns the blob folders without a blob. */
export function emptyFolders(directory: string): string[] {
  const layout = dataLayout(directory);
  return readdirSync(layout.buckets).flatMap((bucketId) => {
    const { blobs } = bucketPaths(layout, bucketId);
    return readdirSync(blobs).filter((folder) => readdirSync(join(blobs, folder)).length === 0);
  });
}

/** Returns the number of uploads in all buckets, including ended uploads that have a record. */
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
