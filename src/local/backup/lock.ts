// The lock of a backup: one process at a time may write or read it.
import { DatabaseSync } from "@photostructure/sqlite";
import { BackupError } from "../../model/backup.ts";
import { createPrivateFile } from "../disk/private-files.ts";
import { sqliteBusy, sqliteCode } from "../index/sqlite.ts";
import type { BackupLayout } from "./layout.ts";
import { createLinkCheck } from "./links.ts";
import { requireManifest, type SealedManifest } from "./manifest.ts";

/** Returns the unlock function. The kernel releases the lock when the process ends. */
export function lockForWriting({ lock, root }: BackupLayout): () => void {
  createLinkCheck(root)(lock);
  return tryLock(lock) ?? refuse(root);
}

/** Holds the lock while `work` runs. A backup on a read-only disk is read without a lock. */
export async function withReadLock<T>(
  backup: BackupLayout,
  work: (manifest: SealedManifest) => Promise<T>,
): Promise<T> {
  // Checked before locking, so that no lock file is created in a folder without a backup.
  requireManifest(backup);
  const unlock = lockIfPossible(backup);
  try {
    return await work(requireManifest(backup));
  } finally {
    unlock();
  }
}

function lockIfPossible({ lock, root }: BackupLayout): () => void {
  createLinkCheck(root)(lock);
  try {
    return tryLock(lock) ?? refuse(root);
  } catch (error) {
    if (error instanceof BackupError || sqliteCode(error) === undefined) throw error;
    return () => {};
  }
}

function refuse(root: string): never {
  throw new BackupError(`Another process is using the backup at "${root}".`, ["Try again when it is done."]);
}

/** Returns undefined if another process holds the lock. */
export function tryLock(path: string): (() => void) | undefined {
  createPrivateFile(path);
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return () => lock.close();
  } catch (error) {
    lock.close();
    if (sqliteCode(error) === sqliteBusy) return undefined;
    throw error;
  }
}
