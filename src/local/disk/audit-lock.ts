// The lock of the audit log's writers. The kernel releases it when the process that holds it ends.
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { DatabaseSync } from "@photostructure/sqlite";
import { createPrivateFile } from "./private-files.ts";

const waitMilliseconds = 15_000;
const maxPause = 8;
const sqliteBusy = 5;

/** Runs `work` while no other writer of the log runs, in this process or another. */
export async function withAuditLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  createPrivateFile(path);
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    await acquire(lock);
    return await work();
  } finally {
    lock.close();
  }
}

/** Tries again after a pause instead of waiting in SQLite, which would block this thread. */
async function acquire(lock: InstanceType<typeof DatabaseSync>): Promise<void> {
  const end = performance.now() + waitMilliseconds;
  for (;;) {
    try {
      lock.exec("BEGIN EXCLUSIVE");
      return;
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() > end) {
        throw new Error("another process has locked the audit log for too long", { cause: error });
      }
    }
    await pause(1 + Math.random() * maxPause);
  }
}

/** The driver reports some errors without a code. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    (error as { errcode?: number }).errcode === sqliteBusy || error.message.includes("database is locked")
  );
}
