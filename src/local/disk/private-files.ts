// Everything in a data directory and in a backup is for its owner alone: small bodies are inside the databases.
import { chmodSync, closeSync, lstatSync, openSync } from "node:fs";
import { bucketPathsIn, type Layout } from "./layout.ts";

export const privateFile = 0o600;
export const privateFolder = 0o700;

const others = 0o077;

/**
 * Makes an empty file that SQLite then fills; its log and index get the same mode. Never opens one that exists:
 * closing it would free the locks that this process holds on it. What goes wrong here, SQLite reports.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", privateFile));
  } catch {
    // It exists, or SQLite cannot make it either.
  }
}

/** Takes the permissions of others away where an earlier Store left them. True when the path had any. */
function tighten(path: string): boolean {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.isSymbolicLink() || (found.mode & others) === 0) return false;
    chmodSync(path, found.mode & 0o7777 & ~others);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Of another owner, or on a file system that cannot: the data is as readable as its owner has made it.
    if (code === "EPERM" || code === "EROFS" || code === "ENOENT" || code === "ENOTSUP") return false;
    throw error;
  }
}

function tightenDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) tighten(path + suffix);
}

/** The top of a data directory: its folders keep others away from everything below them. */
export function tightenDirectory(layout: Layout): void {
  const { root, processes, buckets, trash, registry, reserve, commitServerFile } = layout;
  for (const path of [root, processes, buckets, trash, reserve, commitServerFile]) tighten(path);
  tightenDatabase(registry);
}

/** A bucket that is opened: its folder goes last, so that a crash on the way leaves the rest to the next opening. */
export function tightenBucket(directory: string): void {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & others) === 0) return;
  const { database, blobs, segments, open, pins } = bucketPathsIn(directory);
  tightenDatabase(database);
  for (const path of [blobs, segments, open, pins, directory]) tighten(path);
}

/** A backup that exists: its folder and those at its top. */
export function tightenBackup(paths: readonly string[]): void {
  for (const path of paths) tighten(path);
}
