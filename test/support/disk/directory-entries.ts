// Removes directory entries that a power cut may lose: files and folders whose directory was not
// synced after they were created. ext4 and XFS usually keep them, because syncing a new file also
// writes its name, so tests on these file systems alone do not detect a missing directory sync.
import { readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";

/** Returns entries that the process created, by its notes, and that are not known to be durable. */
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
