// Pins: bodies of several files that someone is reading. A single file stays readable once it is open; the
// later files of a longer body are only opened when their turn comes, so they are pinned until then, in a
// place where the other processes see it.
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bucketPaths, type Layout, placeOf } from "./layout.ts";

export interface Pins {
  /** Pins the body that begins with this blob; the answer releases it. */
  pin(layout: Layout, blob: string): () => void;
  /** Whether anybody, in whichever process, is reading the body that begins with this blob. */
  isPinned(directory: string, blob: string): boolean;
}

const separator = "@";

export function createPins(processName: string): Pins {
  const counts = new Map<string, number>();
  return {
    pin(layout, blob) {
      const { bucketId } = placeOf(blob);
      const name = blob + separator + processName;
      const path = join(bucketPaths(layout, bucketId).pins, name);
      const count = counts.get(path) ?? 0;
      if (count === 0) writeFileSync(path, "");
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
    },
    isPinned: (directory, blob) => readdirSync(directory).some((name) => name.startsWith(blob + separator)),
  };
}

/** Removes the pins of processes that are gone. */
export function clearPins(directory: string, isGone: (processName: string) => boolean): void {
  for (const name of readdirSync(directory)) {
    if (isGone(name.slice(name.indexOf(separator) + 1))) rmSync(join(directory, name), { force: true });
  }
}
