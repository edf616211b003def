// The entries of directories, as strictly as the rules of file systems allow: a file or folder whose directory was
// not synced after it was made may be gone after a power cut. ext4 and XFS keep most of them all the same, because
// the sync of a new file brings its name along, so they alone never show that a directory's sync is missing.
import { readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";

/** Made, by the notes of the process, and not known to be durable. */
export function unsyncedEntries(notes: string): string[] {
  const unsynced = new Set<string>();
  /** What the syncs under way will have covered, by directory and in the order they began. */
  const covered = new Map<string, string[][]>();
  // The last line may have been cut off in the middle.
  for (const line of notes.split("\n").slice(0, -1)) {
    const path = line.slice(1);
    const underWay = covered.get(path) ?? [];
    covered.set(path, underWay);
    if (line.startsWith("+")) unsynced.add(path);
    else if (line.startsWith("(")) underWay.push([...unsynced].filter((entry) => dirname(entry) === path));
    // The oldest: whichever of them ended, that much is certain.
    else for (const entry of underWay.shift() ?? []) unsynced.delete(entry);
  }
  return [...unsynced];
}

/** Removes them, as the cut may have. */
export function forgetUnsynced(notesFile: string): number {
  const entries = unsyncedEntries(readFileSync(notesFile, "utf8"));
  for (const entry of entries) rmSync(entry, { recursive: true, force: true });
  return entries.length;
}
