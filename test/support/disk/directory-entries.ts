// Removes directory entries that a power cut may lose because their directory was not synced. ext4
// and XFS usually keep such entries, so tests on them alone do not detect a missing sync.
import { readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";

/** Returns the entries that, by the notes, were created and are not certainly synced. */
export function unsyncedEntries(notes: string): string[] {
  const unsynced = new Set<string>();
  /** Entries covered by each sync in flight, by directory, in the order in which syncs started. */
  const covered = new Map<string, string[][]>();
  // The last line may be incomplete.
  for (const line of notes.split("\n").slice(0, -1)) {
    const path = line.slice(1);
    const underWay = covered.get(path) ?? [];
    covered.set(path, underWay);
    if (line.startsWith("+")) unsynced.add(path);
    else if (line.startsWith("(")) underWay.push([...unsynced].filter((entry) => dirname(entry) === path));
    // Any of the syncs may have ended, so only the entries of the oldest are certainly durable.
    else for (const entry of underWay.shift() ?? []) unsynced.delete(entry);
  }
  return [...unsynced];
}

/** Removes the unsynced entries, as a power cut may; returns their number. */
export function forgetUnsynced(notesFile: string): number {
  const entries = unsyncedEntries(readFileSync(notesFile, "utf8"));
  for (const entry of entries) rmSync(entry, { recursive: true, force: true });
  return entries.length;
}
