// Keeps data directories and backups readable by their owner only, databases included: they contain
// small bodies.
import { chmodSync, closeSync, lstatSync, openSync } from "node:fs";
import { bucketPathsIn, type Layout } from "./layout.ts";

export const privateFile = 0o600;
export const privateFolder = 0o700;
const others = 0o077;

/** SQLite gives its log the same mode. Never opens an existing file: closing it would free its locks. */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", privateFile));
  } catch {
    // The file exists, or SQLite will fail to create it, too.
  }
}

/** Removes permissions of group and others, which earlier versions set. True if there were any. */
function tighten(path: string): boolean {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.isSymbolicLink() || (found.mode & others) === 0) return false;
    chmodSync(path, found.mode & 0o7777 & ~others);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Another owner, or a file system without permissions: leave the path as it is.
    if (code === "EPERM" || code === "EROFS" || code === "ENOENT" || code === "ENOTSUP") return false;
    throw error;
  }
}

function tightenDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) tighten(path + suffix);
}

/** Only the top of a data directory: its folders protect everything below them. */
export function tightenDirectory(layout: Layout): void {
  const { root, processes, buckets, trash, registry, reserve, commitServerFile } = layout;
  for (const path of [root, processes, buckets, trash, reserve, commitServerFile]) tighten(path);
  tightenDatabase(registry);
}

/** The bucket's folder comes last: after a crash in between, the next opening starts again. */
export function tightenBucket(directory: string): void {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & others) === 0) return;
  const { database, blobs, segments, open, pins } = bucketPathsIn(directory);
  tightenDatabase(database);
  for (const path of [blobs, segments, open, pins, directory]) tighten(path);
}

/** For an existing backup: its folder and the entries at its top. */
export function tightenBackup(paths: readonly string[]): void {
  for (const path of paths) tighten(path);
}
