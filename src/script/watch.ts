// Watches files for changes by watching their folders: editors replace files rather than write into them.
import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";

export interface FileWatch {
  /** Watches exactly these files from now on. */
  files(files: readonly string[]): void;
  close(): void;
}

/** Several writes in a row are one change. */
const quietMilliseconds = 20;

export function watchFiles(onChange: () => void): FileWatch {
  const watchers = new Map<string, FSWatcher>();
  let wanted = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  function changed(directory: string, file: string | null): void {
    if (file !== null && !wanted.has(`${directory}/${file}`)) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, quietMilliseconds);
  }

  return {
    files(files) {
      wanted = new Set(files);
      const directories = new Set(files.map((file) => dirname(file)));
      for (const [directory, watcher] of watchers) {
        if (directories.has(directory)) continue;
        watcher.close();
        watchers.delete(directory);
      }
      for (const directory of directories) {
        if (watchers.has(directory)) continue;
        const watcher = watch(directory, (_, file) => changed(directory, file));
        // A folder that goes away is seen by the next build, with words of its own.
        watcher.on("error", () => watchers.delete(directory));
        watchers.set(directory, watcher);
      }
    },
    close() {
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}
