// Makes data directories and backups readable only by their owner, including the databases, which
// contain small bodies.
import { chmodSync, closeSync, lstatSync, openSync } from "node:fs";
import { bucketPathsIn, type Layout } from "./layout.ts";

export const privateFile = 0o600;
export const privateFolder = 0o700;
const others = 0o077;

/**
 * Creates an empty file for SQLite, whose log gets the same mode. Never opens an existing file:
 * closing it would release this process's locks on it. SQLite reports errors.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", privateFile));
  } catch {
    // The file exists, or SQLite will also fail to create it and report the error.
  }
}

/** Removes the permissions of group and others. Returns true if earlier versions granted any. */
function tighten(path: string): boolean {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.isSymbolicLink() || (found.mode & others) === 0) return false;
    chmodSync(path, found.mode & 0o7777 & ~others);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The path has another owner or a file system without permissions: leave it unchanged.
    if (code === "EPERM" || code === "EROFS" || code === "ENOENT" || code === "ENOTSUP") return false;
    throw error;
  }
}

function tightenDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) tighten(path + suffix);
}

/** Only changes the top level of a data directory: its folders protect everything below them. */
export function tightenDirectory(layout: Layout): void {
  const { root, processes, buckets, trash, registry, reserve, commitServerFile } = layout;
  for (const path of [root, processes, buckets, trash, reserve, commitServerFile]) tighten(path);
  tightenDatabase(registry);
}

/** Changes the bucket's folder last: if a crash interrupts this, the next opening repeats it. */
export function tightenBucket(directory: string): void {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & others) === 0) return;
  const { database, blobs, segments, open, pins } = bucketPathsIn(directory);
  tightenDatabase(database);
  for (const path of [blobs, segments, open, pins, directory]) tighten(path);
}

/** Changes the folder of an existing backup and its top-level entries. */
export function tightenBackup(paths: readonly string[]): void {
  for (const path of paths) tighten(path);
}
