// The registry lists the buckets. It maps a bucket's name to a folder with a random name, so a
// bucket that is deleted and created again has a different folder.
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import process from "node:process";
import { BackupError } from "../../model/backup.ts";
import type { BucketRecord } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import type { StorageClass } from "../../model/object.ts";
import { syncAncestors, syncDirectorySync } from "../disk/fsync-directory.ts";
import { bucketPaths, isRandomName, type Layout, randomName } from "../disk/layout.ts";
import { privateFolder, tightenDirectory } from "../disk/private-files.ts";
import { discardFolder } from "../recovery/trash.ts";
import { damagedError } from "../rows/checksum.ts";
import { type BucketRow, bucketChecksum } from "../rows/checksummed-rows.ts";
import { existenceKey, lostError } from "./existence-index.ts";
import { openBucketDatabase, upgradeRegistry } from "./migrations.ts";
import { createBucketDatabase } from "./new-database.ts";
import { hasObjects, isOrphaned } from "./orphaned-buckets.ts";
import {
  checkSchemaVersion,
  deletedMark,
  parseDeletedMark,
  registryIndexes,
  registrySchema,
} from "./schema.ts";
import {
  type Database,
  inTransaction,
  openDatabase,
  prepareArrays,
  sqliteCode,
  sqliteCorrupt,
} from "./sqlite.ts";

export interface RegisteredBucket extends BucketRecord {
  readonly id: string;
  /** Whether the deletion has started. After a crash, the next opening completes the deletion. */
  readonly isDeleting: boolean;
}

/** Creates the data directory and its registry if they do not exist. */
export function prepareDirectory(layout: Layout): void {
  if (existsSync(layout.restoreMarker)) throw unfinishedRestore();
  const firstCreated = mkdirSync(layout.root, { recursive: true, mode: privateFolder });
  for (const directory of [layout.processes, layout.buckets, layout.trash]) {
    mkdirSync(directory, { recursive: true, mode: privateFolder });
  }
  tightenDirectory(layout);
  let isNew = false;
  const registry = openDatabase(layout.registry, { role: "writer", create: "when missing" });
  try {
    inTransaction(registry, () => {
      isNew = registry.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'buckets'").get() === undefined;
      if (isNew) registry.exec(registrySchema);
      upgradeRegistry(registry);
      registry.exec(registryIndexes);
      checkSchemaVersion(registry, layout.registry);
    });
  } finally {
    registry.close();
  }
  syncDirectorySync(layout.root);
  // For a new registry, also sync an existing folder: its creator may have been killed before the
  // sync.
  if (isNew) syncAncestors(layout.root, firstCreated);
}

function unfinishedRestore(): BackupError {
  return new BackupError("A restore into this directory was not finished.", [
    "Run the same store restore again: it resumes where it stopped.",
  ]);
}

interface RegistryRow extends BucketRow {
  readonly deleting: number;
  readonly checksum: string;
}

type RegistryColumns = readonly [
  name: string,
  id: string,
  created: number,
  storageClass: string,
  account: string,
  deleting: number,
  checksum: string,
];

export interface RegistryReader {
  find(name: string): RegisteredBucket | undefined;
  /** Returns the buckets sorted by name. A damaged entry throws; with "sound" it is skipped. */
  all(which?: "sound"): RegisteredBucket[];
  /** Returns all ids in the registry and its existence index, including ids in damaged rows. */
  ids(): Set<string>;
}

const columns = "SELECT name, id, created, storage_class, account, deleting, checksum FROM buckets";

export function createRegistryReader(registry: Database): RegistryReader {
  // A single statement, so that table and existence index are read in one snapshot.
  const find = registry.prepare<RegistryRow>(
    `${columns} WHERE name = ? UNION ALL SELECT NULL, id, 0, '', '', 0, '' FROM witness WHERE place = ?`,
  );
  const all = prepareArrays<RegistryColumns>(registry, `${columns} ORDER BY name`);
  return {
    find(name) {
      // The driver truncates text at NUL and would find a bucket with the shortened name.
      if (name.includes("\0")) return undefined;
      const [row] = find.all(name, existenceKey.bucket(name));
      if (row !== undefined && row.name === null) throw lostError(`bucket "${name}"`);
      return row === undefined ? undefined : toRegisteredBucket(row);
    },
    all(which) {
      // Each row is checked once: a store may have 100,000 buckets.
      return all.all().flatMap((row) => {
        const bucket = decodeRow(toRegistryRow(row));
        if (bucket === undefined && which === undefined) throw damagedRow(row[0]);
        return bucket ?? [];
      });
    },
    ids() {
      const sql = "SELECT id FROM buckets UNION ALL SELECT id FROM witness";
      const rows = registry.prepare<{ id: unknown }>(sql).all();
      return new Set(rows.map(({ id }) => String(id)));
    },
  };
}

function isSound(row: RegistryRow): boolean {
  // The checksum is not keyed, so also check the form of the id, which becomes a path.
  return (
    row.checksum === bucketChecksum(row) &&
    isRandomName(row.id) &&
    parseDeletedMark(row.deleting) !== undefined
  );
}

function toRegistryRow(row: RegistryColumns): RegistryRow {
  const [name, id, created, storage_class, account, deleting, checksum] = row;
  return { name, id, created, storage_class, account, deleting, checksum };
}

function toRegisteredBucket(row: RegistryRow): RegisteredBucket {
  const bucket = decodeRow(row);
  if (bucket === undefined) throw damagedRow(row.name);
  return bucket;
}

function damagedRow(name: string): StoreError {
  return damagedError(`the registry's entry of bucket "${name}"`);
}

/** Returns undefined if the row is damaged. */
function decodeRow(row: RegistryRow): RegisteredBucket | undefined {
  if (!isSound(row)) return undefined;
  const { name, id, created, storage_class, account, deleting } = row;
  const isDeleting = parseDeletedMark(deleting) === true;
  return { name, id, created, storageClass: storage_class as StorageClass, account, isDeleting };
}

/** Creates the folder, then registers the name, under a lock that excludes recovery. */
export function createBucket(layout: Layout, registry: Database, bucket: BucketRecord): boolean {
  finishDeletions(layout, registry);
  return inTransaction(registry, () => {
    if (createRegistryReader(registry).find(bucket.name) !== undefined) return false;
    const id = randomName();
    const paths = bucketPaths(layout, id);
    const { directory, blobs, segments, open, pins } = paths;
    for (const folder of [directory, blobs, segments, open, pins]) mkdirSync(folder, { mode: privateFolder });
    createBucketDatabase(paths.database);
    syncDirectorySync(paths.directory);
    syncDirectorySync(layout.buckets);
    register(registry, id, bucket);
    return true;
  });
}

function register(registry: Database, id: string, bucket: BucketRecord): void {
  const { name, created, storageClass: storage_class, account } = bucket;
  const checksum = bucketChecksum({ name, id, created, storage_class, account });
  registry
    .prepare(
      "INSERT INTO buckets (name, id, created, storage_class, account, checksum) VALUES (?, ?, ?, ?, ?, ?)",
    )
    .run(name, id, created, storage_class, account, checksum);
  registry.prepare("INSERT INTO witness (place, id) VALUES (?, ?)").run(existenceKey.bucket(name), id);
}

/**
 * Marks the bucket as deleting in the registry, then as deleted in its own database, where every
 * process sees it in its next transaction, then removes the name. A later opening can resume this.
 */
export function deleteBucket(
  layout: Layout,
  registry: Database,
  name: string,
): "deleted" | "missing" | "not empty" {
  const setDeleting = registry.prepare("UPDATE buckets SET deleting = ? WHERE id = ?");
  const find = () => createRegistryReader(registry).find(name);
  const bucket = inTransaction(registry, () => {
    const found = find();
    if (found !== undefined) setDeleting.run(deletedMark, found.id);
    return found;
  });
  if (bucket === undefined) return "missing";
  const isEmpty = inTransaction(registry, () => {
    // Between the two transactions, other processes may have deleted and recreated the bucket.
    if (find()?.id !== bucket.id) return true;
    const outcome = markDeleted(layout, bucket.id);
    if (outcome !== true) {
      setDeleting.run(0, bucket.id);
      return outcome;
    }
    registry.prepare("DELETE FROM buckets WHERE id = ?").run(bucket.id);
    registry.prepare("DELETE FROM witness WHERE place = ?").run(existenceKey.bucket(name));
    return true;
  });
  if (isEmpty === false) return "not empty";
  if (isEmpty !== true) throw isEmpty;
  discardFolder(layout, bucket.id);
  // Only the first of several concurrent deletes returns "deleted".
  return bucket.isDeleting ? "missing" : "deleted";
}

/** Returns false if the bucket has objects, and an error if damage hides whether it has any. */
function markDeleted(layout: Layout, id: string): boolean | Error {
  const database = openBucketDatabase(bucketPaths(layout, id).database, "writer");
  try {
    return inTransaction(database, () => {
      if (hasObjects(database)) return false;
      database.prepare("UPDATE bucket SET deleted = ?").run(deletedMark);
      return true;
    });
  } catch (error) {
    if (sqliteCode(error) !== sqliteCorrupt) throw error;
    return error as Error;
  } finally {
    database.close();
  }
}

/** Completes deletions that a crash interrupted. */
export function finishDeletions(layout: Layout, registry: Database): void {
  const find = registry.prepare<{ name: string }>(
    "SELECT name FROM buckets WHERE deleting <> 0 AND deleting = ?",
  );
  for (const { name } of find.all(deletedMark)) {
    try {
      deleteBucket(layout, registry, name);
    } catch (error) {
      // A damaged bucket stays, and the deletion of other buckets continues.
      const isDamageError = error instanceof StoreError || sqliteCode(error) === sqliteCorrupt;
      if (!isDamageError) throw error;
      process.emitWarning(`Bucket "${name}" could not be deleted: ${String(error)}`, "StoreWarning");
    }
  }
}

/**
 * Removes folders left by unfinished creations and deletions of buckets: folders that are empty and
 * in neither the registry nor its existence index. `verify` reports other unknown folders.
 */
export function clearUnregistered(layout: Layout, registry: Database): void {
  finishDeletions(layout, registry);
  inTransaction(registry, () => {
    const registeredIds = createRegistryReader(registry).ids();
    for (const id of readdirSync(layout.buckets)) {
      if (!registeredIds.has(id) && isOrphaned(layout, id)) discardFolder(layout, id);
    }
  });
}
