// Folders for new blobs, one per process. A durable marker names a folder until all its files are
// settled, so after a crash, recovery looks for orphans only in marked folders.
import { rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSharedRun } from "../../async/shared-run.ts";
import { syncDirectory } from "../disk/fsync-directory.ts";
import { type BlobLocation, type BucketPaths, markerName, randomName } from "../disk/layout.ts";
import { privateFile, privateFolder } from "../disk/private-files.ts";
import { removeEmpty } from "../recovery/recover.ts";

export interface Slot {
  readonly location: Omit<BlobLocation, "bucketId">;
  readonly path: string;
  /** Makes the file's entry in its folder durable. */
  sync(): Promise<void>;
  /** Marks the file as referenced by a record or removed: recovery need not check it. */
  settle(): void;
}

export interface Folders {
  takeSlot(): Promise<Slot>;
  /** Closes the current folder to new files. Recovery checks files that are still unsettled. */
  close(): void;
}

interface Folder {
  readonly name: string;
  readonly directory: string;
  readonly marker: string;
  readonly sync: () => Promise<void>;
  taken: number;
  unsettled: number;
  retired: boolean;
}

export function createFolders(paths: BucketPaths, processName: string, folderFiles: number): Folders {
  let current: Promise<Folder> | undefined;
  let opened: Folder | undefined;

  async function openFolder(): Promise<Folder> {
    const name = randomName();
    const directory = join(paths.blobs, name);
    const marker = join(paths.open, markerName(name, processName));
    await writeFile(marker, "", { mode: privateFile });
    await syncDirectory(paths.open);
    await mkdir(directory, { mode: privateFolder });
    await syncDirectory(paths.blobs);
    opened = {
      name,
      directory,
      marker,
      sync: createSharedRun(() => syncDirectory(directory)),
      taken: 0,
      unsettled: 0,
      retired: false,
    };
    return opened;
  }

  function clearMarker(folder: Folder): void {
    if (!folder.retired || folder.unsettled > 0) return;
    removeEmpty(folder.directory);
    rmSync(folder.marker, { force: true });
  }

  function retire(folder: Folder): void {
    folder.retired = true;
    clearMarker(folder);
  }

  return {
    async takeSlot() {
      current ??= openFolder().catch((error: unknown) => {
        current = undefined;
        throw error;
      });
      const folder = await current;
      if (folder.retired) return this.takeSlot();
      const file = String(folder.taken++);
      folder.unsettled++;
      if (folder.taken === folderFiles) {
        current = undefined;
        folder.retired = true;
      }
      let settled = false;
      return {
        location: { folder: folder.name, file },
        path: join(folder.directory, file),
        sync: folder.sync,
        settle() {
          if (settled) return;
          settled = true;
          folder.unsettled--;
          clearMarker(folder);
        },
      };
    },
    close() {
      if (opened !== undefined && !opened.retired) retire(opened);
      current = undefined;
    },
  };
}
