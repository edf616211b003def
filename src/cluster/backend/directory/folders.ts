// The folders of a shared directory: made when they are first needed, by whichever machine is first, and durable,
// name by name up to the directory itself, before anything in them counts as written.
import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createSharedRun } from "../../../async/shared-run.ts";
import { errorCode, isMissing } from "./errors.ts";

export interface FolderManager {
  /** Does work in a folder, which is made if it is missing. */
  withFolder<T>(folder: string, work: () => Promise<T>): Promise<T>;
  /** Makes durable what was named in the folder until now. */
  sync(folder: string): Promise<void>;
  /** Of a bucket that is gone. */
  evictBucket(bucket: string): void;
}

/** What is known of more is found out again. */
const maxDurableFolders = 100_000;

/** `checkThere` throws when what is missing is the directory itself. */
export function createFolderManager(directory: string, checkMarker: () => Promise<void>): FolderManager {
  /** Whose own names are durable. Not only those made here: another machine may have made one and not synced yet. */
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
