// The lock of the audit log's writers. The kernel releases it when the process that holds it ends.
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { DatabaseSync } from "@photostructure/sqlite";
import { createPrivateFile } from "./private-files.ts";

const maxPause = 8;
const sqliteBusy = 5;

/**
 * Runs `work` while no other writer of the log runs, in this process or another. Returns undefined
 * without running it if another process still holds the lock after `waitMilliseconds`.
 */
export async function withAuditLock<T>(
  path: string,
  waitMilliseconds: number,
  work: () => Promise<T>,
): Promise<{ readonly result: T } | undefined> {
  createPrivateFile(path);
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    if (!(await acquire(lock, waitMilliseconds))) return undefined;
    return { result: await work() };
  } finally {
    lock.close();
  }
}

/** Tries again after a pause instead of waiting in SQLite, which would block this thread. */
async function acquire(lock: InstanceType<typeof DatabaseSync>, waitMilliseconds: number): Promise<boolean> {
  const end = performance.now() + waitMilliseconds;
  for (;;) {
    try {
      lock.exec("BEGIN EXCLUSIVE");
      return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() >= end) return false;
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
