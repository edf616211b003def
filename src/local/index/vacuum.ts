// Returns free pages of the databases to the file system, in small steps while the writer is idle.
import { clearTimeout, setTimeout } from "node:timers";
import { type Database, pragma, sqliteBusy, sqliteCode, sqliteFull } from "./sqlite.ts";

const idleMilliseconds = 100;
const stepPages = 512;
/** Pages are released only if their share is larger; otherwise they are kept for the next puts. */
const minFreeShare = 0.2;
const minFreePages = 2048;

export interface Vacuum {
  /** Schedules a step after a short time without requests. */
  whenIdle(): void;
  stop(): void;
}

export interface VacuumTarget {
  readonly database: Database;
  /** Runs a checkpoint if the log is long. Only a checkpoint shortens the database file. */
  checkpoint(): void;
}

export function createVacuum(opened: () => readonly VacuumTarget[]): Vacuum {
  let timer: NodeJS.Timeout | undefined;

  function step(): void {
    timer = undefined;
    // Release pages of only one database in each step, so that a waiting commit goes first.
    const released = opened().find(({ database }) => releaseSparePages(database));
    if (released === undefined) return;
    released.checkpoint();
    whenIdle();
  }

  function whenIdle(): void {
    clearTimeout(timer);
    timer = setTimeout(step, idleMilliseconds).unref();
  }

  return { whenIdle, stop: () => clearTimeout(timer) };
}

/** Releases some free pages, even if their share is small. Returns false if there are none. */
export function releasePagesNow(database: Database): boolean {
  if (Number(pragma(database, "freelist_count")) === 0) {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return false;
  }
  // Run a checkpoint before and after, because only checkpoints shorten log and database file.
  database.exec(
    `PRAGMA wal_checkpoint(TRUNCATE); PRAGMA incremental_vacuum(${stepPages}); PRAGMA wal_checkpoint(TRUNCATE)`,
  );
  return true;
}

/** Truncates the log. Returns false if the log is empty or no checkpoint is possible now. */
export function truncateLog(database: Database): boolean {
  const { log } = database.prepare<{ log: number }>("PRAGMA wal_checkpoint(NOOP)").get()!;
  if (log <= 0) return false;
  try {
    const { busy } = database.prepare<{ busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)").get()!;
    return busy === 0;
  } catch (error) {
    if (!isRetryable(error)) throw error;
    return false;
  }
}

/** Whether the database was locked by another process or the disk is full. */
function isRetryable(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === sqliteBusy || code === sqliteFull;
}

function releaseSparePages(database: Database): boolean {
  const free = Number(pragma(database, "freelist_count"));
  const pages = Number(pragma(database, "page_count"));
  if (free < minFreePages || free < pages * minFreeShare) return false;
  try {
    database.exec(`PRAGMA incremental_vacuum(${stepPages})`);
    return true;
  } catch (error) {
    // The release is retried at the next idle time.
    if (!isRetryable(error)) throw error;
    return false;
  }
}
