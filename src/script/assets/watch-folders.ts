// Detects changes of files in folders. If a folder cannot be watched, every check reports a change.
import { type FSWatcher, watch } from "node:fs";
import { basename, join, sep } from "node:path";
import { setImmediate } from "node:timers";

export interface FolderWatch {
  /** Watches exactly these folders from now on. A newly watched folder counts as changed. */
  folders(folders: readonly string[]): void;
  hasChanged(): boolean;
  /** Call before reading the folders: only later changes are reported. */
  reset(): void;
  /** Resolves when all changes made before the call have been detected. */
  pending(): Promise<void>;
  close(): void;
}

/** Maximum number of watched folders, because operating systems limit their number. */
const maxWatched = 2000;

export function watchFolders(initialFolders: readonly string[]): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  let isComplete = true;
  let isDirty = false;

  function drop(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  /** Stops watching a renamed folder. The next scan watches a new folder of the same name. */
  function onRename(folder: string, name: string | null): void {
    const moved = join(folder, name ?? "");
    for (const watched of watchers.keys()) {
      if (watched === moved || watched.startsWith(moved + sep)) drop(watched);
    }
    if (name === basename(folder)) drop(folder);
  }

  function open(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        isDirty = true;
        if (event === "rename") onRename(folder, name);
      });
      watcher.on("error", () => {
        isDirty = true;
        drop(folder);
      });
      watchers.set(folder, watcher);
      isDirty = true;
    } catch {
      isComplete = false;
    }
  }

  function folders(paths: readonly string[]): void {
    isComplete = paths.length > 0 && paths.length <= maxWatched;
    const keep = new Set(paths.slice(0, maxWatched));
    for (const folder of [...watchers.keys()]) if (!keep.has(folder)) drop(folder);
    for (const folder of keep) if (!watchers.has(folder)) open(folder);
  }

  folders(initialFolders);
  return {
    folders,
    hasChanged: () => isDirty || !isComplete,
    reset() {
      isDirty = false;
    },
    // The kernel queues events until the event loop has polled once.
    pending: () => new Promise((resolve) => setImmediate(() => setImmediate(resolve))),
    close() {
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}
