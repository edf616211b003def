// Space kept for the worst day: a delete on a full disk needs room for its own commit before it can free
// any. While the reserve is spent, only what frees space is let through.
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
  /** Whether the space is set aside, taking it anew when it was spent and fits again. */
  ensureReserved(): boolean;
  /** Gives the space to whoever needs it now; false when it was spent before. */
  release(): boolean;
}

/** The owner names the partial file, so that recovery knows whose it was. */
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
    // Too little space is an answer; a sync that fails is a failure of the disk.
    if (syscall !== "write" || !isNoSpace(error)) throw error;
    return false;
  }
  closeSync(descriptor);
  renameSync(partial, path);
  return true;
}

/** Removes what processes that are gone have not finished setting aside. */
export function clearPartial(path: string, isGone: (processName: string) => boolean): void {
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(prefix) && isGone(name.slice(prefix.length)))
      rmSync(join(dirname(path), name), { force: true });
  }
}
