// The registry: which buckets there are. A bucket's name points to a folder with a random name, so a name
// that is deleted and made again is another folder, and nobody confuses the two lives.
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { BackupError } from "../../model/backup.ts";
import type { BucketRecord } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import type { StorageClass } from "../../model/object.ts";
import { syncAncestors, syncDirectorySync } from "../disk/fsync-directory.ts";
import { bucketPaths, isRandomName, type Layout, randomName } from "../disk/layout.ts";
import { privateFolder, tightenDirectory } from "../disk/private-files.ts";
import { discardFolder } from "../recovery/trash.ts";
import { damagedError } from "./checksum.ts";
import { type BucketRow, bucketChecksum } from "./checksummed-rows.ts";
import { existenceKey, lostError } from "./existence-index.ts";
import { openBucketDatabase, upgradeRegistry } from "./migrations.ts";
import { hasObjects, isOrphaned } from "./orphaned-buckets.ts";
import { bucketSchema, checkSchemaVersion, deletedMark, parseDeletedMark, registrySchema } from "./schema.ts";
import { type Database, inTransaction, openDatabase, sqliteCode, sqliteCorrupt } from "./sqlite.ts";

export interface RegisteredBucket extends BucketRecord {
  readonly id: string;
  /** Its end was begun: cut off, it is taken up again. */
  readonly isDeleting: boolean;
}

/** Makes the data directory and its registry when there are none yet. */
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
      checkSchemaVersion(registry, layout.registry);
    });
  } finally {
    registry.close();
  }
  syncDirectorySync(layout.root);
  // Also when the folder was there: whoever made it may have been killed before this.
  if (isNew) syncAncestors(layout.root, firstCreated);
}

function unfinishedRestore(): BackupError {
  return new BackupError("A backup was being restored into the directory, and that was not finished.", [
    "Run the same store restore again: it goes on where it was cut off.",
  ]);
}

interface RegistryRow extends BucketRow {
  readonly deleting: number;
  readonly checksum: string;
}

export interface RegistryReader {
  find(name: string): RegisteredBucket | undefined;
  /** By name. A damaged entry throws, or is left out when only the sound ones are asked for. */
  all(which?: "sound"): RegisteredBucket[];
  /** Which folders are those of buckets, by either witness; a damaged row counts for what it says. */
  ids(): Set<string>;
}

const columns = "SELECT name, id, created, storage_class, account, deleting, checksum FROM buckets";

export function createRegistryReader(registry: Database): RegistryReader {
  // One statement, so that both sides are read at one instant.
  const find = registry.prepare<RegistryRow>(
    `${columns} WHERE name = ? UNION ALL SELECT NULL, id, 0, '', '', 0, '' FROM witness WHERE place = ?`,
  );
  const all = registry.prepare<RegistryRow>(`${columns} ORDER BY name`);
  return {
    find(name) {
      // SQLite's driver ends a text at NUL, and would find the bucket of the name before it.
      if (name.includes("\0")) return undefined;
      const [row] = find.all(name, existenceKey.bucket(name));
      if (row !== undefined && row.name === null) throw lostError(`bucket "${name}"`);
      return row === undefined ? undefined : toRegisteredBucket(row);
    },
    all: (which) =>
      all
        .all()
        .filter((row) => which === undefined || isSound(row))
        .map(toRegisteredBucket),
    ids() {
      const sql = "SELECT id FROM buckets UNION ALL SELECT id FROM witness";
      const rows = registry.prepare<{ id: unknown }>(sql).all();
      return new Set(rows.map(({ id }) => String(id)));
    },
  };
}

function isSound(row: RegistryRow): boolean {
  // The checksum has no key, so the id, which becomes a path, is checked by its shape, too.
  return (
    row.checksum === bucketChecksum(row) &&
    isRandomName(row.id) &&
    parseDeletedMark(row.deleting) !== undefined
  );
}

function toRegisteredBucket(row: RegistryRow): RegisteredBucket {
  if (!isSound(row)) throw damagedError(`the registry's entry of bucket "${row.name}"`);
  const { name, id, created, storage_class, account, deleting } = row;
  const isDeleting = parseDeletedMark(deleting) === true;
  return { name, id, created, storageClass: storage_class as StorageClass, account, isDeleting };
}

/** Makes a bucket whole before its name is known. The registry's lock keeps recovery away meanwhile. */
export function createBucket(layout: Layout, registry: Database, bucket: BucketRecord): boolean {
  finishDeletions(layout, registry);
  return inTransaction(registry, () => {
    if (createRegistryReader(registry).find(bucket.name) !== undefined) return false;
    const id = randomName();
    const paths = bucketPaths(layout, id);
    const { directory, blobs, segments, open, pins } = paths;
    for (const folder of [directory, blobs, segments, open, pins]) mkdirSync(folder, { mode: privateFolder });
    const database = openDatabase(paths.database, { role: "writer", create: "when missing" });
    inTransaction(database, () => database.exec(bucketSchema));
    database.close();
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
 * Notes the intent, then marks the bucket's own database, so that every process that has it open sees the
 * end of it with its next transaction, and only then strikes the name. Cut off anywhere, the next opening
 * of the directory takes it up.
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
    // Another process may have ended it, and a third made the name anew, between the two transactions.
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
  // Of several who delete it at once the first has deleted it; the others have only helped.
  return bucket.isDeleting ? "missing" : "deleted";
}

/** False when it holds objects; the error when that cannot be told. */
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

/** Ends the deletions that a crash has cut off. */
export function finishDeletions(layout: Layout, registry: Database): void {
  const find = registry.prepare<{ name: string }>("SELECT name FROM buckets WHERE deleting = ?");
  for (const { name } of find.all(deletedMark)) {
    try {
      deleteBucket(layout, registry, name);
    } catch (error) {
      // What is damaged stays, and keeps nobody from all the rest.
      const isDamageError = error instanceof StoreError || sqliteCode(error) === sqliteCorrupt;
      if (!isDamageError) throw error;
      process.emitWarning(`Bucket "${name}" could not be ended: ${String(error)}`, "StoreWarning");
    }
  }
}

/**
 * Removes what unfinished creations and deletions of buckets have left: folders that neither witness names and
 * that hold nothing. What is in doubt stays, and verify tells of it.
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
