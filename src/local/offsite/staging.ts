// The folder inside a data directory for databases on their way to a repository. Its lock excludes a
// second backup of the same store, and its id names the store as the owner of the repository's lock.
import { Buffer } from "node:buffer";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { BackupError } from "../../model/backup.ts";
import { writeWhole } from "../backup/copy-blob.ts";
import { type BackupLayout, backupLayout } from "../backup/layout.ts";
import { tryLock } from "../backup/lock.ts";
import { isRandomName, type Layout, randomName } from "../disk/layout.ts";
import { privateFolder } from "../disk/private-files.ts";

export interface Staging {
  readonly layout: BackupLayout;
  /** Path of the index of bodies. */
  readonly index: string;
  readonly owner: string;
  close(): Promise<void>;
}

export async function openStaging(source: Layout, where: string): Promise<Staging> {
  const root = join(source.root, "backup.staging");
  mkdirSync(root, { recursive: true, mode: privateFolder });
  const layout = backupLayout(root, where);
  const unlock = tryLock(layout.lock);
  if (unlock === undefined) {
    throw new BackupError("Another backup of this store to an S3 service is running.", [
      "Try again when it has ended.",
    ]);
  }
  const clear = async () => {
    for (const path of [layout.snapshots, layout.blobs]) await rm(path, { recursive: true, force: true });
  };
  try {
    await clear();
    const owner = await readOwner(join(root, "owner"));
    return {
      ...{ layout, index: join(root, "index.db"), owner },
      async close() {
        await clear().catch(() => {});
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

async function readOwner(path: string): Promise<string> {
  const found = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (isRandomName(found)) return found;
  const owner = randomName();
  await writeWhole(path, Buffer.from(owner));
  return owner;
}
