// Recovery removes the orphaned files of dead processes. It looks only at folders and segments that
// still have a marker of a dead process, and asks the records which files they reference.
import { existsSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "../../model/errors.ts";
import { isMissing } from "../disk/errors.ts";
import { syncDirectorySync } from "../disk/fsync-directory.ts";
import { type BucketPaths, blobId, markerName } from "../disk/layout.ts";
import { clearPins } from "./pins.ts";

export interface RecoveryOptions {
  readonly bucketId: string;
  readonly paths: BucketPaths;
  readonly isGone: (processName: string) => boolean;
  readonly referencesBlob: (id: string) => boolean;
  readonly hasBlobsIn: (segment: string) => boolean;
  /** The name of this process. */
  readonly ownProcess: string;
  /** Takes over a dead process's segment. Its marker stays until compaction has checked the segment. */
  readonly adopt: (segment: string) => void;
}

/** Returns the number of removed files. If the bucket is deleted meanwhile, recovery just ends. */
export function recoverBucket(options: RecoveryOptions): number {
  const { bucketId, paths, isGone, referencesBlob, hasBlobsIn } = options;
  let removed = 0;
  try {
    for (const marker of filesIn(paths.open)) {
      const [folder = "", processName = ""] = marker.split(".");
      if (!isGone(processName)) continue;
      removed += removeOrphans(join(paths.blobs, folder), (file) =>
        referencesBlob(blobId({ bucketId, folder, file })),
      );
      removeEmpty(join(paths.blobs, folder));
      if (existsSync(join(paths.segments, folder)) && hasBlobsIn(folder)) {
        renameSync(join(paths.open, marker), join(paths.open, markerName(folder, options.ownProcess)));
        options.adopt(folder);
        continue;
      }
      removed += removeSegment(paths, folder);
      rmSync(join(paths.open, marker), { force: true });
    }
    clearPins(paths.pins, isGone);
  } catch (error) {
    const isStoreError = error instanceof StoreError;
    if (!isStoreError && !isMissing(error)) throw error;
    // Without readable records any file may be referenced, so files and marker stay.
    if (isStoreError && error.reason !== "NoSuchBucket")
      process.emitWarning(`Recovery of bucket ${bucketId} is postponed: ${error.message}`, "StoreWarning");
  }
  return removed;
}

function removeOrphans(directory: string, isReferenced: (file: string) => boolean): number {
  const orphans = filesIn(directory).filter((file) => !isReferenced(file));
  for (const file of orphans) rmSync(join(directory, file), { force: true });
  // The removal must be durable before the marker is removed.
  if (orphans.length > 0) syncDirectorySync(directory);
  return orphans.length;
}

/** Removes a segment without referenced blobs. */
function removeSegment({ segments }: BucketPaths, name: string): number {
  const path = join(segments, name);
  if (!existsSync(path)) return 0;
  rmSync(path, { force: true });
  syncDirectorySync(segments);
  return 1;
}

export function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    // A marker is created before its folder, and a sweep removes empty folders.
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Removes the folder if it is empty. */
export function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    if (!isMissing(error) && (error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
  }
}
