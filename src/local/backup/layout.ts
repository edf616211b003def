// Where things are in a backup. Bodies are immutable under their ids, so all backups made into one place share
// them; the databases are copied anew each time, and the manifest, replaced in one step, says which copy counts.
//
//   manifest.json                              the backup: what belongs to it, with a checksum; written last
//   snapshots/<snapshot>/                      the databases, laid out as in a data directory
//   snapshots/<snapshot>/companions/<name>     files that lay beside the data
//   blobs/<bucket>/<folder>/<n>                bodies, a file each, as in a data directory
//   lock                                       held while a backup is written
import { join } from "node:path";
import { type BlobLocation, dataLayout, type Layout } from "../disk/layout.ts";

export interface BackupLayout {
  readonly root: string;
  readonly manifest: string;
  readonly snapshots: string;
  readonly blobs: string;
  readonly lock: string;
}

export function backupLayout(root: string): BackupLayout {
  return {
    root,
    manifest: join(root, "manifest.json"),
    snapshots: join(root, "snapshots"),
    blobs: join(root, "blobs"),
    lock: join(root, "lock"),
  };
}

/** What a backup may hold, finished or not. */
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
