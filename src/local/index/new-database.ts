// Creates the database of a new bucket as a copy of an empty one, which SQLite creates once for each
// process. If SQLite created each of them, thousands of new buckets would use up all descriptors: the
// driver keeps those of a closed database until a garbage collection.
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { privateFile } from "../disk/private-files.ts";
import { bucketSchema } from "./schema.ts";
import { inTransaction, openDatabase } from "./sqlite.ts";

let template: Uint8Array | undefined;

/** Creates and syncs the file. The caller syncs its folder. */
export function createBucketDatabase(path: string): void {
  template ??= createTemplate(`${path}.template`);
  // Renamed when it is complete: recovery would take a part of a database for damage.
  const partial = `${path}.new`;
  writeFileSync(partial, template, { mode: privateFile, flag: "wx", flush: true });
  renameSync(partial, path);
}

/**
 * Returns the bytes of an empty database. Its file is removed again: a bucket's file must not be read
 * here, because closing it would release the locks that SQLite has on it in this process.
 */
function createTemplate(path: string): Uint8Array {
  const database = openDatabase(path, { role: "writer", create: "when missing" });
  try {
    inTransaction(database, () => database.exec(bucketSchema));
    // Moves all pages from the log into the file. Unlike truncateLog, it throws without space.
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return readFileSync(path);
  } finally {
    database.close();
    for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  }
}
