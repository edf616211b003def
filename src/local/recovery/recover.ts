// Recovery: removes what processes that are gone have left behind. It looks only into the folders they were
// still writing into, and asks the records about each file there, and into their segments.
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
  /**
   * A segment of a dead process in which bodies live: this process has its marker now, and removes it once the
   * segment was looked at. Should it die before, the marker leads the next process there.
   */
  readonly adopt: (segment: string) => void;
}

/** How many orphans were removed; none when the bucket was deleted meanwhile, with all that was in it. */
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
    // Without its records nobody can tell what is an orphan. The marker stays, and so do the files.
    if (isStoreError && error.reason !== "NoSuchBucket")
      process.emitWarning(`Recovery of bucket ${bucketId} is put off: ${error.message}`, "StoreWarning");
  }
  return removed;
}

function removeOrphans(directory: string, isReferenced: (file: string) => boolean): number {
  const orphans = filesIn(directory).filter((file) => !isReferenced(file));
  for (const file of orphans) rmSync(join(directory, file), { force: true });
  // Gone for good before the marker that told of them goes.
  if (orphans.length > 0) syncDirectorySync(directory);
  return orphans.length;
}

/** A segment in which nothing is named. */
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
    // The marker is made before its folder; a sweep removes folders that have become empty.
    if (isMissing(error)) return [];
    throw error;
  }
}

/** A folder in which nothing is left goes. */
export function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    if (!isMissing(error) && (error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
  }
}
