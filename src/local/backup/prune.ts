// Removes from a backup the files that the current manifest does not need: other snapshots, and
// bodies that its records do not reference. Runs after that manifest is durable.
import { lstatSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { blobId, bucketPaths } from "../disk/layout.ts";
import { createQueries } from "../index/queries/object-queries.ts";
import { filesIn } from "../recovery/recover.ts";
import type { BackupLayout } from "./layout.ts";
import { snapshotLayout } from "./layout.ts";
import type { Manifest } from "./manifest.ts";
import { openSnapshot } from "./sqlite-snapshot.ts";

/** Removes all snapshots except `keep`, including snapshots of interrupted runs. */
export async function clearSnapshots(backup: BackupLayout, keep: string | undefined): Promise<void> {
  for (const name of filesIn(backup.snapshots)) {
    if (name !== keep) await rm(join(backup.snapshots, name), { recursive: true, force: true });
  }
}

/** Errors are ignored: the backup is complete, and the next run retries. */
export async function removeUnreferenced(backup: BackupLayout, manifest: Manifest): Promise<void> {
  await clearSnapshots(backup, manifest.snapshot).catch(() => {});
  const bucketIds = new Set(manifest.buckets.map(({ id }) => id));
  for (const id of filesIn(backup.blobs)) {
    const removal =
      bucketIds.has(id) && lstatSync(join(backup.blobs, id)).isDirectory()
        ? removeUnknownBlobs(backup, manifest, id)
        : rm(join(backup.blobs, id), { recursive: true, force: true });
    await removal.catch(() => {});
  }
}

async function removeUnknownBlobs(
  backup: BackupLayout,
  { snapshot }: Manifest,
  bucketId: string,
): Promise<void> {
  const database = openSnapshot(bucketPaths(snapshotLayout(backup, snapshot), bucketId).database);
  try {
    const { referencesBlob } = createQueries(database);
    for (const folder of filesIn(join(backup.blobs, bucketId))) {
      const directory = join(backup.blobs, bucketId, folder);
      // Do not follow a symbolic link: it could lead to files outside the backup.
      if (!lstatSync(directory).isDirectory()) continue;
      for (const file of filesIn(directory)) {
        if (!referencesBlob(blobId({ bucketId, folder, file })))
          await rm(join(directory, file), { force: true });
      }
      if (filesIn(directory).length === 0) await rmdir(directory);
    }
  } finally {
    database.close();
  }
}
