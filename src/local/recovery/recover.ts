// Removes the orphaned files of dead processes. Recovery checks only folders and segments with a
// marker of a dead process, and queries the records for which files are referenced.
import { existsSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { StoreError } from "../../model/errors.ts";
import { isMissing } from "../disk/errors.ts";
import { syncDirectorySync } from "../disk/fsync-directory.ts";
import { type BucketPaths, blobId, markerName } from "../disk/layout.ts";
import { clearPins } from "./pins.ts";

export interface RecoveryOptions {
  readonly bucketId: string;
  readonly paths: BucketPaths;
  readonly isGone: (processName: string) => boolean;
  /** Called before the first query if a process may have left a commit in doubt. */
  readonly settleLog: () => void;
  /** Whether a process has crashed, perhaps without a marker in this bucket. */
  readonly hasCrash: boolean;
  readonly referencesBlob: (id: string) => boolean;
  readonly hasBlobsIn: (segment: string) => boolean;
  /** The name of this process. */
  readonly ownProcess: string;
  /**
   * Takes over a segment of a dead process that still has live bodies. Its marker, renamed to this
   * process, stays until compaction has checked the segment, in case this process crashes too.
   */
  readonly adopt: (segment: string) => void;
}

/** Returns the number of removed files. Stops without an error if the bucket was deleted. */
export function recoverBucket(options: RecoveryOptions): number {
  const { bucketId, paths, isGone, referencesBlob, hasBlobsIn } = options;
  let removed = 0;
  try {
    const markers = filesIn(paths.open).filter((marker) => isGone(marker.split(".")[1] ?? ""));
    if (options.hasCrash || markers.length > 0) options.settleLog();
    for (const marker of markers) {
      const [folder = ""] = marker.split(".");
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
    // If the records cannot be read, any file may be referenced, so files and marker stay.
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
    // The folder can be missing: its marker is created first, and a sweep removes empty folders.
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
