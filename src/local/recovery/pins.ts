// Pins prevent the removal of a body of several files while any process reads it: its later files
// are opened only when they are reached. A backup leases a bucket, which pins all its bodies.
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMissing } from "../disk/errors.ts";
import { bucketPaths, type Layout, parseBlobId } from "../disk/layout.ts";
import { privateFile } from "../disk/private-files.ts";

export interface Pins {
  /** Pins the body whose first blob is `blob`. Returns the release function. */
  pin(layout: Layout, blob: string): () => void;
  /** Pins every body of the bucket. Garbage stays until the returned function is called. */
  lease(layout: Layout, bucketId: string): () => void;
  /** Whether any process has leased the bucket. */
  isLeased(directory: string): boolean;
  /** Whether any process has leased the bucket or pinned the body whose first blob is `blob`. */
  isPinned(directory: string, blob: string): boolean;
}

const separator = "@";
/** Replaces the blob id in the name of a pin that protects every blob of the bucket. */
const everyBlob = "all";

export function createPins(processName: string): Pins {
  const counts = new Map<string, number>();

  function addPin(layout: Layout, bucketId: string, pinned: string): () => void {
    const name = pinned + separator + processName;
    const path = join(bucketPaths(layout, bucketId).pins, name);
    const count = counts.get(path) ?? 0;
    if (count === 0) writeFileSync(path, "", { mode: privateFile });
    counts.set(path, count + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const left = counts.get(path)! - 1;
      if (left > 0) {
        counts.set(path, left);
      } else {
        counts.delete(path);
        rmSync(path, { force: true });
        // If the bucket was deleted meanwhile, its pins were moved to the trash.
        rmSync(join(layout.trash, bucketId, "pins", name), { force: true });
      }
    };
  }

  return {
    pin: (layout, blob) => addPin(layout, parseBlobId(blob).bucketId, blob),
    lease: (layout, bucketId) => addPin(layout, bucketId, everyBlob),
    isLeased: (directory) => hasPin(directory, [everyBlob]),
    isPinned: (directory, blob) => hasPin(directory, [everyBlob, blob]),
  };
}

/** Removes the pins of dead processes. */
export function clearPins(directory: string, isGone: (processName: string) => boolean): void {
  for (const name of readdirSync(directory)) {
    if (isGone(name.slice(name.indexOf(separator) + 1))) rmSync(join(directory, name), { force: true });
  }
}

function hasPin(directory: string, pinned: readonly string[]): boolean {
  try {
    return readdirSync(directory).some((name) => pinned.some((blob) => name.startsWith(blob + separator)));
  } catch (error) {
    // The bucket was deleted meanwhile, so it needs no pins.
    if (isMissing(error)) return false;
    throw error;
  }
}
