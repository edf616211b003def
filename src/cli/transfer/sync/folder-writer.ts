// Writes and removes files in a folder, never outside it and never through a symbolic link. A file
// appears complete or not at all. All changes are on disk when `finish` resolves.
import { constants, type Stats } from "node:fs";
import { link, lstat, mkdir, open, realpath, rename, rmdir, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { CommandError } from "../../framework/command-error.ts";
import { fileError, systemCode } from "../../framework/failures.ts";
import { writeBeside } from "../download.ts";
import type { SyncOptions } from "./sync.ts";

/** A file cannot be written because a folder has its name. The sync may delete the folder later. */
export class FolderInTheWay extends CommandError {}

export interface FolderWriter {
  /** `name` is a relative path that `nameProblem` has accepted. */
  write(name: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  remove(name: string): Promise<void>;
  /** Removes folders that became empty when files were removed. */
  prune(): Promise<void>;
  finish(): Promise<void>;
}

export type FolderWriterOptions = Pick<SyncOptions, "folder" | "except" | "signal">;

/** Limits the number of folders kept in memory. */
const maxRemembered = 10_000;

export function createFolderWriter({ folder: root, except, signal }: FolderWriterOptions): FolderWriter {
  /** Folders whose path contains no symbolic link. */
  const verifiedFolders = new Set<string>();
  const unsynced = new Set<string>();
  const emptied = new Set<string>();

  async function markUnsynced(folder: string): Promise<void> {
    unsynced.add(folder);
    if (unsynced.size >= maxRemembered) await syncAll();
  }

  async function syncAll(): Promise<void> {
    const folders = [...unsynced];
    unsynced.clear();
    for (const folder of folders) await syncFolder(folder);
  }

  /** Creates the folder if needed. A link or an alias has a different real path and is refused. */
  async function ensureFolder(folder: string): Promise<void> {
    if (folder === root || verifiedFolders.has(folder)) return;
    await ensureFolder(dirname(folder));
    if (folder === except) throw new CommandError("The file would be inside the data directory.");
    try {
      await mkdir(folder);
      await markUnsynced(dirname(folder));
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw fileError(error, "create the folder", folder);
    }
    const real = await realpath(folder);
    if (real !== folder) {
      throw new CommandError(
        `The folder "${folder}" is a link to "${real}", or its name differs only in case.`,
      );
    }
    if (verifiedFolders.size >= maxRemembered) verifiedFolders.clear();
    verifiedFolders.add(folder);
  }

  return {
    async write(name, chunks) {
      const path = `${root}/${name}`;
      const folder = dirname(path);
      await ensureFolder(folder);
      if (path === except) throw new CommandError("The file would replace the data directory.");
      try {
        const existing = await statIfExists(path);
        if (existing?.isDirectory()) throw folderInTheWay();
        if (existing !== undefined && !existing.isFile()) {
          throw new CommandError("A symbolic link or a special file has this name; it was not replaced.");
        }
        await writeBeside(folder, { chunks, signal, mode: existing?.mode }, (partial) =>
          existing === undefined ? linkWithoutReplacing(partial, path) : rename(partial, path),
        );
      } catch (error) {
        throw fileError(error, "write", path);
      }
      await markUnsynced(folder);
    },

    async remove(name) {
      const path = `${root}/${name}`;
      try {
        await unlink(path);
      } catch (error) {
        if (systemCode(error) !== "ENOENT") throw fileError(error, "delete", path);
      }
      emptied.add(dirname(path));
      await markUnsynced(dirname(path));
    },

    async prune() {
      for (const folder of emptied) await removeEmpty(folder);
      emptied.clear();
    },

    finish: syncAll,
  };

  async function removeEmpty(folder: string): Promise<void> {
    for (let at = folder; at.startsWith(`${root}/`) && at !== except; at = dirname(at)) {
      try {
        await rmdir(at);
      } catch {
        // Not empty, or not permitted: keep the folder.
        return;
      }
      verifiedFolders.delete(at);
      unsynced.delete(at);
      await markUnsynced(dirname(at));
    }
  }
}

function folderInTheWay(): FolderInTheWay {
  return new FolderInTheWay("A folder has this name; delete or rename the folder first.");
}

async function statIfExists(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Error codes of file systems without hard links. */
const noLinks = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/** A hard link never replaces a file, even if the file system treats "a" and "A" as one name. */
async function linkWithoutReplacing(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path);
  } catch (error) {
    const code = systemCode(error) ?? "";
    if (code !== "EEXIST" && !noLinks.includes(code)) throw error;
    const existing = await statIfExists(path);
    if (existing === undefined) return rename(partial, path);
    if (existing.isDirectory()) throw folderInTheWay();
    throw new CommandError(
      "A file of this name already exists, created meanwhile or for a key that differs only in case.",
    );
  }
  await unlink(partial);
}

async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    // A deleted folder needs no sync, and some file systems cannot sync folders.
    if (!["ENOENT", "EINVAL", "EISDIR"].includes(systemCode(error) ?? "")) {
      throw fileError(error, "sync the folder", folder);
    }
  }
}
