// Paths in a backup. Bodies are immutable, so all backups into one folder share them; the databases
// are copied every time, and the manifest, replaced in one step, names the current copy.
//
//   manifest.json                              all files of the backup; written last
//   snapshots/<snapshot>/                      the databases, laid out as in a data directory
//   snapshots/<snapshot>/companions/<name>     key files from the data directory
//   blobs/<bucket>/<folder>/<n>                bodies, a file each, as in a data directory
//   lock                                       locked while the backup is written or read
import { join } from "node:path";
import { type BlobLocation, dataLayout, type Layout } from "../disk/layout.ts";

export interface BackupLayout {
  readonly root: string;
  /** The location for messages: the folder, or the address of the service it was fetched from. */
  readonly where: string;
  readonly manifest: string;
  readonly snapshots: string;
  readonly blobs: string;
  readonly lock: string;
}

export function backupLayout(root: string, where = root): BackupLayout {
  return {
    root,
    where,
    manifest: join(root, "manifest.json"),
    snapshots: join(root, "snapshots"),
    blobs: join(root, "blobs"),
    lock: join(root, "lock"),
  };
}

/** Matches the names that the folder of a complete or incomplete backup may contain. */
export const backupNames = /^(manifest\.json(\.partial)?|snapshots|blobs|lock(-journal)?|lost\+found)$/;

export interface SnapshotLayout extends Layout {
  readonly companions: string;
}

export function snapshotLayout(backup: BackupLayout, name: string): SnapshotLayout {
  const root = join(backup.snapshots, name);
  return { ...dataLayout(root), companions: join(root, "companions") };
}

export function backupBlobPath(backup: BackupLayout, { bucketId, folder, file }: BlobLocation): string {
  return join(backup.blobs, bucketId, folder, file);
}
