// Whether a database may have changed since the last look, without asking SQLite: every commit writes the header of
// the index of its log, and reading those few bytes costs a fifth of the smallest query.
// (SQLite's WAL-mode file format, 2.2: the header of the wal-index, which has a counter of changes.)
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";

export interface Glance {
  /** True at first, and whenever there may have been a commit by anybody since the last time it was asked. */
  hasChanged(): boolean;
}

/** Both copies of the header. */
const headerBytes = 96;

export interface Glances {
  of(databasePath: string): Glance;
  /** Once the directory's databases are closed, also by the thread that commits. */
  close(): void;
}

/** Those of one opening of a data directory. */
export function createGlances(root: string): Glances {
  openings.set(root, (openings.get(root) ?? 0) + 1);
  let isClosed = false;
  return {
    of: createGlance,
    close() {
      if (isClosed) return;
      isClosed = true;
      const others = openings.get(root)! - 1;
      openings.set(root, others);
      if (others > 0) return;
      openings.delete(root);
      for (const path of [...descriptors.keys()]) if (path.startsWith(`${root}/`)) forget(path);
    },
  };
}

/** The database must be open in this process all the while: its log is then neither made anew nor removed. */
function createGlance(databasePath: string): Glance {
  const last = Buffer.alloc(headerBytes);
  const now = Buffer.alloc(headerBytes);
  let descriptor: number | undefined;
  let isKnown = false;

  return {
    hasChanged() {
      try {
        descriptor ??= descriptorOf(`${databasePath}-shm`);
        if (readSync(descriptor, now, 0, headerBytes, 0) === headerBytes && isKnown && now.equals(last)) {
          return false;
        }
      } catch {
        // Who cannot look must ask.
        isKnown = false;
        return true;
      }
      now.copy(last);
      isKnown = true;
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
const openings = new Map<string, number>();
const mostDescriptors = 256;

function descriptorOf(path: string): number {
  const known = descriptors.get(path);
  if (known !== undefined && isOf(known, path)) return known;
  forget(path);
  if (descriptors.size >= mostDescriptors) {
    for (const [other, descriptor] of descriptors) if (!isOf(descriptor, other)) forget(other);
  }
  if (descriptors.size >= mostDescriptors) throw new Error("More databases than are looked at.");
  const opened = openSync(path, "r");
  descriptors.set(path, opened);
  return opened;
}

/** A file that was removed keeps its number as long as it is open, so that no later one has it. */
function isOf(descriptor: number, path: string): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  const held = fstatSync(descriptor);
  return there !== undefined && there.ino === held.ino && there.dev === held.dev;
}

function forget(path: string): void {
  const descriptor = descriptors.get(path);
  descriptors.delete(path);
  if (descriptor !== undefined) closeSync(descriptor);
}
