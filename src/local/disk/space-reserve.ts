// Disk space kept in reserve: on a full disk, a delete needs space for its commit before it frees
// any. While the reserve is used up, only changes that free space are accepted.
import { Buffer } from "node:buffer";
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { isNoSpace } from "./errors.ts";
import { privateFile } from "./private-files.ts";

export const reserveBytes = 4 * 1024 * 1024;

export interface Reserve {
  /** Whether the reserve exists. A used reserve is allocated again if the disk has space. */
  ensureReserved(): boolean;
  /** Frees the reserved space. False if it was already freed. */
  release(): boolean;
}

/** `owner` is part of the partial file's name: recovery removes the file of a dead process. */
export function createReserve(path: string, owner: string): Reserve {
  return {
    ensureReserved: () => existsSync(path) || allocate(path, `${path}.${owner}`),
    release() {
      if (!existsSync(path)) return false;
      rmSync(path, { force: true });
      return true;
    },
  };
}

function allocate(path: string, partial: string): boolean {
  const descriptor = openSync(partial, "w", privateFile);
  try {
    const zeros = Buffer.alloc(1024 * 1024);
    for (let written = 0; written < reserveBytes; ) written += writeSync(descriptor, zeros);
    fsyncSync(descriptor);
  } catch (error) {
    closeSync(descriptor);
    rmSync(partial, { force: true });
    const { syscall } = error as NodeJS.ErrnoException;
    // A lack of space is expected here; a failed sync means that the disk failed.
    if (syscall !== "write" || !isNoSpace(error)) throw error;
    return false;
  }
  closeSync(descriptor);
  renameSync(partial, path);
  return true;
}

/** Removes the partial reserve files of dead processes. */
export function clearPartial(path: string, isGone: (processName: string) => boolean): void {
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(prefix) && isGone(name.slice(prefix.length)))
      rmSync(join(dirname(path), name), { force: true });
  }
}
