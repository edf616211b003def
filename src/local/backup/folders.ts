// Creates folders for copied bodies on demand, and syncs them and their parents at the end.
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncDirectory } from "../disk/fsync-directory.ts";
import { privateFolder } from "../disk/private-files.ts";

export interface FolderMaker {
  make(folder: string): Promise<unknown>;
  /** Also syncs folders that already existed: an interrupted run may not have synced them. */
  sync(): Promise<void>;
}

export function createFolderMaker(parent: string): FolderMaker {
  const made = new Map<string, Promise<unknown>>();
  return {
    make(folder) {
      const making =
        made.get(folder) ?? mkdir(join(parent, folder), { recursive: true, mode: privateFolder });
      made.set(folder, making);
      return making;
    },
    async sync() {
      await mkdir(parent, { recursive: true, mode: privateFolder });
      for (const folder of made.keys()) await syncDirectory(join(parent, folder));
      await syncDirectory(parent);
      await syncDirectory(dirname(parent));
    },
  };
}
