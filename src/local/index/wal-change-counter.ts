// Whether a database may have changed since the last look, without asking SQLite: every commit writes the header of
// the index of its log, and reading those few bytes costs a fifth of the smallest query.
// (SQLite's WAL-mode file format, 2.2: the header of the wal-index, which has a counter of changes.)
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";

export interface WalChangeCounter {
  /** True at first, and whenever there may have been a commit by anybody since the last time it was asked. */
  hasChanged(): boolean;
}

/** Both copies of the header. */
const headerBytes = 96;

export interface WalChangeCounters {
  open(databasePath: string): WalChangeCounter;
  /** Once the directory's databases are closed, also by the thread that commits. */
  close(): void;
}

/** Those of one opening of a data directory. */
export function createWalChangeCounters(root: string): WalChangeCounters {
  openCounts.set(root, (openCounts.get(root) ?? 0) + 1);
  let isClosed = false;
  return {
    open: createWalChangeCounter,
    close() {
      if (isClosed) return;
      isClosed = true;
      const remaining = openCounts.get(root)! - 1;
      openCounts.set(root, remaining);
      if (remaining > 0) return;
      openCounts.delete(root);
      for (const path of [...descriptors.keys()]) if (path.startsWith(`${root}/`)) closeDescriptor(path);
    },
  };
}

/** The database must be open in this process all the while: its log is then neither made anew nor removed. */
function createWalChangeCounter(databasePath: string): WalChangeCounter {
  const last = Buffer.alloc(headerBytes);
  const now = Buffer.alloc(headerBytes);
  let descriptor: number | undefined;
  let hasBaseline = false;

  return {
    hasChanged() {
      try {
        descriptor ??= openDescriptor(`${databasePath}-shm`);
        if (readSync(descriptor, now, 0, headerBytes, 0) === headerBytes && hasBaseline && now.equals(last)) {
          return false;
        }
      } catch {
        // Who cannot look must ask.
        hasBaseline = false;
        return true;
      }
      now.copy(last);
      hasBaseline = true;
      return true;
    },
  };
}

/**
 * One a file, and not closed while the file may be open by SQLite: with any descriptor of a file that a process closes,
 * it lets go of all its locks on it (fcntl(2)), and so of those that SQLite holds, in whichever thread.
 */
const descriptors = new Map<string, number>();
/** How often a data directory is open in this process. */
const openCounts = new Map<string, number>();
const maxDescriptors = 256;

function openDescriptor(path: string): number {
  const existing = descriptors.get(path);
  if (existing !== undefined && isSameFile(existing, path)) return existing;
  closeDescriptor(path);
  if (descriptors.size >= maxDescriptors) {
    for (const [other, descriptor] of descriptors) if (!isSameFile(descriptor, other)) closeDescriptor(other);
  }
  if (descriptors.size >= maxDescriptors) throw new Error("More databases than are looked at.");
  const opened = openSync(path, "r");
  descriptors.set(path, opened);
  return opened;
}

/** A file that was removed keeps its number as long as it is open, so that no later one has it. */
function isSameFile(descriptor: number, path: string): boolean {
  const current = statSync(path, { throwIfNoEntry: false });
  const opened = fstatSync(descriptor);
  return current !== undefined && current.ino === opened.ino && current.dev === opened.dev;
}

function closeDescriptor(path: string): void {
  const descriptor = descriptors.get(path);
  descriptors.delete(path);
  if (descriptor !== undefined) closeSync(descriptor);
}
