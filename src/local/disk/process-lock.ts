// Which processes are alive: each holds an exclusive lock on a file of its own, which the kernel frees when
// the process ends in whatever way. No heartbeat, no process ids, so neither pauses nor reuse mislead.
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { DatabaseSync } from "@photostructure/sqlite";
import { randomName } from "./layout.ts";
import { createPrivateFile, privateFolder } from "./private-files.ts";

export interface ProcessLock {
  readonly name: string;
  close(): void;
}

const suffix = ".lock";

export function acquireProcessLock(directory: string): ProcessLock {
  mkdirSync(directory, { recursive: true, mode: privateFolder });
  for (;;) {
    const name = randomName();
    const path = join(directory, name + suffix);
    createPrivateFile(path);
    const lock = new DatabaseSync(path, { timeout: 1000 });
    // Between making the file and locking it, a recovery may have taken it for a dead one's and removed it.
    const exists = () => statSync(path, { throwIfNoEntry: false }) !== undefined;
    try {
      lock.exec("BEGIN EXCLUSIVE");
    } catch (error) {
      const wasRemoved = !exists();
      lock.close();
      // SQLite calls it an I/O error when the file under it is gone.
      if (wasRemoved) continue;
      throw error;
    }
    if (exists()) {
      return {
        name,
        close() {
          rmSync(path, { force: true });
          lock.close();
        },
      };
    }
    lock.close();
  }
}

/** Whether a process that left traces is still there. */
export function isProcessAlive(directory: string, name: string): boolean {
  const path = join(directory, name + suffix);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return false;
  return !tryLock(path, () => {});
}

/** Removes the lock files of processes that are gone; how many. A process that ends in order removes its own. */
export function clearStaleLocks(directory: string): number {
  let removed = 0;
  for (const file of readdirSync(directory)) {
    if (!file.endsWith(suffix)) continue;
    tryLock(join(directory, file), (path) => {
      rmSync(path, { force: true });
      removed++;
    });
  }
  return removed;
}

function tryLock(path: string, onFree: (path: string) => void): boolean {
  const url = pathToFileURL(path);
  url.searchParams.set("mode", "rw");
  let lock: InstanceType<typeof DatabaseSync>;
  try {
    lock = new DatabaseSync(url, { timeout: 0 });
  } catch {
    // Removed by another process, it is free; what cannot be opened for another reason may be held.
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  }
  try {
    lock.exec("BEGIN EXCLUSIVE");
    onFree(path);
    return true;
  } catch {
    return false;
  } finally {
    lock.close();
  }
}
