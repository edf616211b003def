// Stores the bodies of a backup in folders, which are created on demand and synced at the end.
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncDirectory } from "../disk/fsync-directory.ts";
import { parseBlobId } from "../disk/layout.ts";
import { privateFolder } from "../disk/private-files.ts";
import type { BodyTarget } from "./backup-bucket.ts";
import { hasBlob, writeBlob } from "./copy-blob.ts";
import { type BackupLayout, backupBlobPath } from "./layout.ts";

export function createFolderBodies(backup: BackupLayout): BodyTarget {
  return {
    async openBucket(bucketId) {
      const folders = createFolderMaker(join(backup.blobs, bucketId));
      return {
        async has(blob) {
          const location = parseBlobId(blob.id);
          await folders.make(location.folder);
          return hasBlob(backupBlobPath(backup, location), blob);
        },
        put: (blob, chunks) => writeBlob(chunks, blob, backupBlobPath(backup, parseBlobId(blob.id))),
        finish: folders.sync,
      };
    },
  };
}

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
