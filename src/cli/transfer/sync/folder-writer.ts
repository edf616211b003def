// Writes and removes files of a folder, never through a link and never outside it. A file appears whole or not at all, and what
// is told as done is on the disk once `finish` has ended.
import { constants, type Stats } from "node:fs";
import { link, lstat, mkdir, open, realpath, rename, rmdir, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { CommandError } from "../../framework/command-error.ts";
import { fileError, systemCode } from "../../framework/failures.ts";
import { writeBeside } from "../download.ts";

/** A folder stands where a file is to be; it may go yet. */
export class FolderInTheWay extends CommandError {}

export interface FolderWriter {
  /** `name`: the path below the folder, looked at by `nameProblem` before. */
  write(name: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  remove(name: string): Promise<void>;
  /** Removes the folders that removals have emptied. */
  prune(): Promise<void>;
  finish(): Promise<void>;
}

export interface FolderWriterOptions {
  /** A real path, without links in it. */
  readonly folder: string;
  readonly except: string | undefined;
  readonly signal: AbortSignal;
}

/** So many folders are remembered at most. */
const maxRemembered = 10_000;

export function createFolderWriter({ folder: root, except, signal }: FolderWriterOptions): FolderWriter {
  /** Folders that are known to be where their path says. */
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

  /** Makes it as needed. What is a link, or another name to the file system, has another real path. */
  async function ensureFolder(folder: string): Promise<void> {
    if (folder === root || verifiedFolders.has(folder)) return;
    await ensureFolder(dirname(folder));
    if (folder === except) throw new CommandError("It would be written into the data directory.");
    try {
      await mkdir(folder);
      await markUnsynced(dirname(folder));
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw fileError(error, "make the folder", folder);
    }
    const real = await realpath(folder);
    if (real !== folder) {
      throw new CommandError(
        `The folder "${folder}" is a link, or the same as "${real}" to this file system.`,
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
      if (path === except) throw new CommandError("It would be written over the data directory.");
      try {
        const existing = await statIfExists(path);
        if (existing?.isDirectory()) throw folderInTheWay();
        if (existing !== undefined && !existing.isFile()) {
          throw new CommandError(
            "A link, or what else is no file, is there in its place: it is left as it is.",
          );
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
        // Something is in it, or it may not go: it stays.
        return;
      }
      verifiedFolders.delete(at);
      unsynced.delete(at);
      await markUnsynced(dirname(at));
    }
  }
}

function folderInTheWay(): FolderInTheWay {
  return new FolderInTheWay("A folder of the same name is there: it cannot be both a folder and a file.");
}

async function statIfExists(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** File systems without links answer with one of these. */
const noLinks = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/**
 * A link is refused where a rename would replace: of two keys that are one name to the file system ("a" and "A" to some),
 * the second is told and does not take the place of the first.
 */
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
      "Another key has the same name to this file system, or a file has come meanwhile.",
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
    // A folder that went since needs no sync, and some file systems know none of folders.
    if (!["ENOENT", "EINVAL", "EISDIR"].includes(systemCode(error) ?? "")) {
      throw fileError(error, "sync the folder", folder);
    }
  }
}
