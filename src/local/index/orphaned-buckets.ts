// Decides which bucket folders are orphaned. A missing registry entry is not enough, because damage
// may have removed it: the bucket must also be empty or marked as deleted.
import { statSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import { bucketPaths, type Layout } from "../disk/layout.ts";
import { filesIn } from "../recovery/recover.ts";
import { parseExistenceKey } from "./existence-index.ts";
import { openBucketDatabase } from "./migrations.ts";
import { parseDeletedMark } from "./schema.ts";
import { corruptionError, type Database } from "./sqlite.ts";

/** Whether a folder that is not in the registry belongs to a deleted or never used bucket. */
export function isOrphaned(layout: Layout, id: string): boolean {
  const { database: path, blobs, segments } = bucketPaths(layout, id);
  if ([...filesIn(blobs), ...filesIn(segments)].length > 0 && !isMarkedDeleted(path)) return false;
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined || file.size === 0) return true;
  return isMarkedDeleted(path) || isEmpty(path);
}

function isMarkedDeleted(path: string): boolean {
  return readDatabase(path, (database) => {
    const row = database.prepare<{ deleted: unknown }>("SELECT deleted FROM bucket").get();
    return parseDeletedMark(row?.deleted) === true;
  });
}

/** Whether nothing was ever stored in the bucket: its creation was interrupted. */
function isEmpty(path: string): boolean {
  if (hasNoTables(path)) return true;
  return readDatabase(path, (database) =>
    ["objects", "history", "shared", "uploads", "parts", "blobs", "buried", "witness"].every(
      (table) => database.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() === undefined,
    ),
  );
}

/** Whether a crash prevented the creation of tables. `openDatabase` may refuse such a file. */
function hasNoTables(path: string): boolean {
  return attempt(() => {
    const database = new DatabaseSync(path);
    try {
      return database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
    } finally {
      database.close();
    }
  });
}

function readDatabase(path: string, ask: (database: Database) => boolean): boolean {
  return attempt(() => {
    const database = openBucketDatabase(path, "reader");
    try {
      return ask(database);
    } finally {
      database.close();
    }
  });
}

/** Returns false if the database cannot be read, because it may contain objects. */
function attempt(ask: () => boolean): boolean {
  try {
    return ask();
  } catch {
    return false;
  }
}

/** Whether the bucket has objects or versions. Throws if only the existence index has any, due to damage. */
export function hasObjects(database: Database): boolean {
  for (const table of ["objects", "history"]) {
    if (database.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined) return true;
  }
  const keys = database.prepare<{ place: Uint8Array }>("SELECT place FROM witness");
  for (const { place } of keys.iterate()) {
    const entry = parseExistenceKey(place);
    if (entry === undefined || entry.kind === "object" || entry.kind === "version") {
      throw corruptionError("The index of the bucket, which reads as empty,");
    }
  }
  return false;
}
