// Deleted buckets: moved to the trash with one rename, removed when no reader has a pin in them.
import { readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isMissing } from "../disk/errors.ts";
import { bucketPaths, type Layout } from "../disk/layout.ts";
import { clearPins } from "./pins.ts";
import { filesIn } from "./recover.ts";

/** First moves the folder to the trash, so that no process opens a half-removed bucket. */
export function discardFolder(layout: Layout, id: string): void {
  try {
    renameSync(bucketPaths(layout, id).directory, join(layout.trash, id));
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  removeUnread(layout, id);
}

/** Removes the pins of dead processes, then every bucket in the trash without pins. */
export function clearTrash(layout: Layout, isGone: (processName: string) => boolean): void {
  for (const id of readdirSync(layout.trash)) {
    if (filesIn(join(layout.trash, id, "pins")).length > 0) clearPins(join(layout.trash, id, "pins"), isGone);
    removeUnread(layout, id);
  }
}

function removeUnread(layout: Layout, id: string): void {
  const directory = join(layout.trash, id);
  if (filesIn(join(directory, "pins")).length === 0) rmSync(directory, { recursive: true, force: true });
}
