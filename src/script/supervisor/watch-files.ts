// Watches files for changes by watching their folders, because editors replace files instead of
// writing to them.
import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";

export interface FileWatch {
  /** Watches exactly these files, and all files directly in these folders, from now on. */
  files(files: readonly string[], folders?: readonly string[]): void;
  /** Watches all files in these files' folders: a missing module may get any name. */
  watchSiblings(files: readonly string[]): void;
  close(): void;
}

/** Writes in quick succession count as one change. */
const quietMilliseconds = 20;

export function watchFiles(onChange: () => void): FileWatch {
  const watchers = new Map<string, FSWatcher>();
  /** Undefined when every file in the folders is watched. */
  let watchedFiles: Set<string> | undefined;
  let wholeFolders: ReadonlySet<string> = new Set();
  let timer: NodeJS.Timeout | undefined;

  function onEvent(directory: string, file: string | null): void {
    const isOther = watchedFiles?.has(`${directory}/${file}`) === false && !wholeFolders.has(directory);
    if (file !== null && isOther) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, quietMilliseconds);
  }

  function open(directory: string): void {
    try {
      const watcher = watch(directory, (_, file) => onEvent(directory, file));
      watcher.on("error", () => watchers.delete(directory));
      watchers.set(directory, watcher);
    } catch {
      // Ignored: the build reports a missing folder.
    }
  }

  function watchFolders(files: readonly string[]): void {
    const directories = new Set([...files.map((file) => dirname(file)), ...wholeFolders]);
    for (const [directory, watcher] of watchers) {
      if (directories.has(directory)) continue;
      watcher.close();
      watchers.delete(directory);
    }
    for (const directory of directories) if (!watchers.has(directory)) open(directory);
  }

  return {
    files(files, folders = []) {
      watchedFiles = new Set(files);
      wholeFolders = new Set(folders);
      watchFolders(files);
    },
    watchSiblings(files) {
      watchedFiles = undefined;
      watchFolders(files);
    },
    close() {
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}
