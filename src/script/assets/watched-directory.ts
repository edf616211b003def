// The current state of the assets directory. In dev, the first request after a change reads it
// again; in production it is read once, when the script starts.
import console from "node:console";
import type { Mode } from "../context.ts";
import {
  type AssetDirectory,
  AssetsError,
  type DirectoryOptions,
  readAssetDirectory,
} from "./asset-directory.ts";
import { watchFolders } from "./watch-folders.ts";

export interface WatchedDirectory {
  readonly current: AssetDirectory;
  /** Set in dev only. Resolves when `current` includes all changes made before the call. */
  readonly refresh: (() => Promise<void>) | undefined;
  close(): void;
}

const empty: AssetDirectory = {
  files: new Map(),
  folders: [],
  headers: [],
  redirects: { static: new Map(), dynamic: [] },
  warnings: [],
};

/** Does not log warnings of the first read: the supervisor has already reported them. */
export async function openDirectory(options: DirectoryOptions, mode: Mode): Promise<WatchedDirectory> {
  let current = await readAssetDirectory(options);
  if (mode === "serve") return { current, refresh: undefined, close() {} };
  const watch = watchFolders(current.folders);
  let rereading: Promise<void> | undefined;
  let lastFault = "";

  async function reread(): Promise<void> {
    watch.reset();
    try {
      const before = new Set(current.warnings);
      current = await readAssetDirectory(options);
      lastFault = "";
      for (const warning of current.warnings) if (!before.has(warning)) console.error(warning);
    } catch (error) {
      if (!(error instanceof AssetsError)) throw error;
      // Serve no files for now: a build may have removed the directory to write it again.
      current = empty;
      if (error.message !== lastFault) console.error(error.message);
      lastFault = error.message;
    }
    watch.folders(current.folders);
  }

  async function refresh(): Promise<void> {
    await watch.pending();
    // A read in progress may have started before the change that this request must see.
    await rereading;
    if (rereading === undefined && !watch.hasChanged()) return;
    rereading ??= reread().finally(() => {
      rereading = undefined;
    });
    await rereading;
  }

  return {
    get current() {
      return current;
    },
    refresh,
    close: () => watch.close(),
  };
}
