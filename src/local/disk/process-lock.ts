// Shows which processes are alive: each locks a file, and the kernel releases the lock when the
// process ends. Unlike heartbeats and process ids, this works despite pauses and reused ids.
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
    // Between creation and locking, recovery may have removed the file as that of a dead process.
    const exists = () => statSync(path, { throwIfNoEntry: false }) !== undefined;
    try {
      lock.exec("BEGIN EXCLUSIVE");
    } catch (error) {
      const wasRemoved = !exists();
      lock.close();
      // SQLite reports an I/O error if its file was removed.
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

/** Whether the process that created markers or pins under this name is still alive. */
export function isProcessAlive(directory: string, name: string): boolean {
  const path = join(directory, name + suffix);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return false;
  return !tryLock(path, () => {});
}

/** Whether a process has crashed whose lock file was not removed yet. */
export function hasStaleLock(directory: string): boolean {
  const files = readdirSync(directory).filter((file) => file.endsWith(suffix));
  return files.some((file) => tryLock(join(directory, file), () => {}));
}

/** Removes the lock files of crashed processes and returns their number. */
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
    // If another process removed the file, the lock is free. After any other error it may be held.
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
