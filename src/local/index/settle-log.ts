// Decides commits that a killed process has left in doubt. It may have written a commit to the log
// without its last step, which shows the commit to the processes that have the database open. They do
// not see it, but a later opening would find it in the log.
import { existsSync, statSync } from "node:fs";
import { StoreError } from "../../model/errors.ts";
import {
  type Database,
  inTransaction,
  openDatabase,
  pragma,
  sqliteCode,
  sqliteFull,
  sqliteIoError,
  toReadError,
} from "./sqlite.ts";

/**
 * Afterwards, a commit of a dead process either is visible or never will be: a new commit overwrites
 * what follows the last visible one. A database with an empty log needs none.
 */
export function settleLog(path: string): void {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size === 0) return;
  const database = openDatabase(path, { role: "writer" });
  try {
    inTransaction(database, () => rewriteHeader(database));
  } finally {
    database.close();
  }
}

/** Like `settleLog`. Without space, or if the database is damaged, recovery of the bucket must wait. */
export function settleBucketLog(path: string): void {
  try {
    settleLog(path);
  } catch (error) {
    if (!existsSync(path)) throw new StoreError("NoSuchBucket");
    if (sqliteCode(error) === sqliteFull) throw new StoreError("InsufficientStorage", { cause: error });
    throw sqliteCode(error) === sqliteIoError ? error : toReadError(error, "the log of a bucket");
  }
}

/** Changes nothing, but SQLite writes the first page to the log. */
function rewriteHeader(database: Database): void {
  database.exec(`PRAGMA user_version = ${Number(pragma(database, "user_version"))}`);
}
