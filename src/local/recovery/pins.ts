// Pins: bodies of several files that someone is reading. A single file stays readable once it is open; the
// later files of a longer body are only opened when their turn comes, so they are pinned until then, in a
// place where the other processes see it. A backup holds all bodies of the bucket it is copying.
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMissing } from "../disk/errors.ts";
import { bucketPaths, type Layout, parseBlobId } from "../disk/layout.ts";
import { privateFile } from "../disk/private-files.ts";

export interface Pins {
  /** Pins the body that begins with this blob; the answer releases it. */
  pin(layout: Layout, blob: string): () => void;
  /** Pins every body of the bucket: what a commit buries after this is not removed until it is released. */
  lease(layout: Layout, bucketId: string): () => void;
  /** Whether anybody, in whichever process, holds all bodies of the bucket. */
  isLeased(directory: string): boolean;
  /** Whether anybody, in whichever process, is reading the body that begins with this blob. */
  isPinned(directory: string, blob: string): boolean;
}

const separator = "@";
/** In the place of a blob: all there are. */
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
        // Where it is when the bucket was deleted meanwhile.
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

/** Removes the pins of processes that are gone. */
export function clearPins(directory: string, isGone: (processName: string) => boolean): void {
  for (const name of readdirSync(directory)) {
    if (isGone(name.slice(name.indexOf(separator) + 1))) rmSync(join(directory, name), { force: true });
  }
}

function hasPin(directory: string, pinned: readonly string[]): boolean {
  try {
    return readdirSync(directory).some((name) => pinned.some((blob) => name.startsWith(blob + separator)));
  } catch (error) {
    // The bucket was deleted meanwhile, with all that could be removed of it.
    if (isMissing(error)) return false;
    throw error;
  }
}
