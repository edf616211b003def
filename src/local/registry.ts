// The registry: which buckets there are. A bucket's name points to a folder with a random name, so a name
// that is deleted and made again is another folder, and nobody confuses the two lives.
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { BackupError } from "../model/backup.ts";
import type { BucketRecord } from "../model/bucket.ts";
import type { StorageClass } from "../model/object.ts";
import { type Database, inTransaction, openDatabase } from "./database.ts";
import { syncAbove, syncDirectorySync } from "./directory-sync.ts";
import { bucketPaths, type Layout, newName } from "./layout.ts";
import { bucketSchema, checkSchemaVersion, registrySchema } from "./schema.ts";
import { discardFolder } from "./trash.ts";

export interface RegisteredBucket extends BucketRecord {
  readonly id: string;
}

/** Makes the data directory and its registry when there are none yet. */
export function prepareDirectory(layout: Layout): void {
  if (existsSync(layout.unfinished)) throw unfinishedRestore();
  const firstMade = mkdirSync(layout.root, { recursive: true });
  for (const directory of [layout.processes, layout.buckets, layout.trash]) {
    mkdirSync(directory, { recursive: true });
  }
  let isNew = false;
  const registry = openDatabase(layout.registry, { role: "writer", create: "when missing" });
  try {
    inTransaction(registry, () => {
      isNew = registry.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'buckets'").get() === undefined;
      if (isNew) registry.exec(registrySchema);
      else checkSchemaVersion(registry, layout.registry);
    });
  } finally {
    registry.close();
  }
  syncDirectorySync(layout.root);
  // Also when the folder was there: whoever made it may have been killed before this.
  if (isNew) syncAbove(layout.root, firstMade);
}

function unfinishedRestore(): BackupError {
  return new BackupError("A backup was being restored into the directory, and that was not finished.", [
    "Run the same store restore again: it goes on where it was cut off.",
  ]);
}

interface BucketRow {
  readonly name: string;
  readonly id: string;
  readonly created: number;
  readonly storage_class: StorageClass;
  readonly account: string;
}

export interface RegistryReader {
  find(name: string): RegisteredBucket | undefined;
  all(): RegisteredBucket[];
}

export function createRegistryReader(registry: Database): RegistryReader {
  const columns = "SELECT name, id, created, storage_class, account FROM buckets";
  const find = registry.prepare(`${columns} WHERE name = ?`);
  const all = registry.prepare(`${columns} ORDER BY name`);
  return {
    find(name) {
      const row = find.get(name) as BucketRow | undefined;
      return row === undefined ? undefined : registered(row);
    },
    all: () => (all.all() as unknown as BucketRow[]).map(registered),
  };
}

function registered({ name, id, created, storage_class, account }: BucketRow): RegisteredBucket {
  return { name, id, created, storageClass: storage_class, account };
}

/** Makes a bucket whole before its name is known. The registry's lock keeps recovery away meanwhile. */
export function createBucket(layout: Layout, registry: Database, bucket: BucketRecord): boolean {
  finishDeletions(layout, registry);
  return inTransaction(registry, () => {
    if (createRegistryReader(registry).find(bucket.name) !== undefined) return false;
    const id = newName();
    const paths = bucketPaths(layout, id);
    for (const directory of [paths.directory, paths.blobs, paths.open, paths.pins]) mkdirSync(directory);
    const database = openDatabase(paths.database, { role: "writer", create: "when missing" });
    inTransaction(database, () => database.exec(bucketSchema));
    database.close();
    syncDirectorySync(paths.directory);
    syncDirectorySync(layout.buckets);
    registry
      .prepare("INSERT INTO buckets (name, id, created, storage_class, account) VALUES (?, ?, ?, ?, ?)")
      .run(bucket.name, id, bucket.created, bucket.storageClass, bucket.account);
    return true;
  });
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
  const intend = registry.prepare("UPDATE buckets SET deleting = ? WHERE id = ?");
  const find = () => createRegistryReader(registry).find(name);
  const bucket = inTransaction(registry, () => {
    const found = find();
    if (found !== undefined) intend.run(1, found.id);
    return found;
  });
  if (bucket === undefined) return "missing";
  const isEmpty = inTransaction(registry, () => {
    // Another process may have ended it, and a third made the name anew, between the two transactions.
    if (find()?.id !== bucket.id) return true;
    if (!markDeleted(layout, bucket.id)) {
      intend.run(0, bucket.id);
      return false;
    }
    registry.prepare("DELETE FROM buckets WHERE id = ?").run(bucket.id);
    return true;
  });
  if (!isEmpty) return "not empty";
  discardFolder(layout, bucket.id);
  return "deleted";
}

function markDeleted(layout: Layout, id: string): boolean {
  const database = openDatabase(bucketPaths(layout, id).database, { role: "writer" });
  try {
    return inTransaction(database, () => {
      if (database.prepare("SELECT 1 FROM objects LIMIT 1").get() !== undefined) return false;
      database.exec("UPDATE bucket SET deleted = 1");
      return true;
    });
  } finally {
    database.close();
  }
}

/** Ends the deletions that a crash has cut off. */
export function finishDeletions(layout: Layout, registry: Database): void {
  const names = registry.prepare("SELECT name FROM buckets WHERE deleting = 1").all() as unknown as {
    name: string;
  }[];
  for (const { name } of names) deleteBucket(layout, registry, name);
}

/** Removes what unfinished creations and deletions of buckets have left. */
export function clearUnregistered(layout: Layout, registry: Database): void {
  finishDeletions(layout, registry);
  inTransaction(registry, () => {
    const known = new Set(
      createRegistryReader(registry)
        .all()
        .map(({ id }) => id),
    );
    for (const id of readdirSync(layout.buckets)) if (!known.has(id)) discardFolder(layout, id);
  });
}
