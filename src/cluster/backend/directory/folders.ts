// The folders of a shared directory, created on demand by any machine. A blob counts as written
// only after the entries of its folder and of every parent folder are durable.
import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createSharedRun } from "../../../async/shared-run.ts";
import { errorCode, isMissing } from "./errors.ts";

export interface FolderManager {
  /** Runs `work`. If the folder is missing, creates it and runs `work` again. */
  withFolder<T>(folder: string, work: () => Promise<T>): Promise<T>;
  /** Makes the current entries of the folder durable. */
  sync(folder: string): Promise<void>;
  /** Forgets the cached folders of a removed bucket. */
  evictBucket(bucket: string): void;
}

/** The cache of durable folders is cleared when it reaches this size. */
const maxDurableFolders = 100_000;

/** `checkMarker` throws if the directory itself is missing. */
export function createFolderManager(directory: string, checkMarker: () => Promise<void>): FolderManager {
  /** Folders whose entries this process has synced, including folders of other machines. */
  const durableFolders = new Set<string>();
  const syncing = new Map<string, () => Promise<void>>();

  function syncShared(path: string): Promise<void> {
    const sync =
      syncing.get(path) ??
      createSharedRun(
        () => syncDirectory(path),
        () => syncing.delete(path),
      );
    syncing.set(path, sync);
    return sync();
  }

  async function createFolder(folder: string): Promise<void> {
    await checkMarker();
    durableFolders.delete(folder);
    for (const path of [dirname(folder), folder]) {
      await mkdir(join(directory, path), { mode: 0o700 }).catch((error: unknown) => {
        if (errorCode(error) !== "EEXIST") throw error;
      });
    }
  }

  return {
    async withFolder(folder, work) {
      try {
        return await work();
      } catch (error) {
        if (!isMissing(error)) throw error;
        await createFolder(folder);
        return work();
      }
    },

    async sync(folder) {
      await syncShared(join(directory, folder));
      if (durableFolders.has(folder)) return;
      await syncShared(join(directory, dirname(folder)));
      await syncShared(directory);
      if (durableFolders.size >= maxDurableFolders) durableFolders.clear();
      durableFolders.add(folder);
    },

    evictBucket(bucket) {
      for (const folder of durableFolders) if (dirname(folder) === bucket) durableFolders.delete(folder);
    },
  };
}

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
