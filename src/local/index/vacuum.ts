// Returns free pages of the databases to the file system, in small steps while the writer is idle.
import { type Database, pragma, sqliteBusy, sqliteCode, sqliteFull } from "./sqlite.ts";

const idleMilliseconds = 100;
const stepPages = 512;
/** A smaller share of free pages is kept for the next puts. */
const minFreeShare = 0.2;
const minFreePages = 2048;

export interface Vacuum {
  /** Starts a step after a short time without requests. */
  whenIdle(): void;
  stop(): void;
}

export interface VacuumTarget {
  readonly database: Database;
  /** Runs a checkpoint if the log is long: only that shortens the file. */
  checkpoint(): void;
}

export function createVacuum(opened: () => readonly VacuumTarget[]): Vacuum {
  let timer: NodeJS.Timeout | undefined;

  function step(): void {
    timer = undefined;
    // One step at a time, so that a commit that has arrived goes first.
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

/** Releases a bounded number of free pages, whatever their share; false if there were none. */
export function releasePagesNow(database: Database): boolean {
  if (Number(pragma(database, "freelist_count")) === 0) {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return false;
  }
  // Checkpoints before and after: each of the two files gets shorter only at a checkpoint.
  database.exec(
    `PRAGMA wal_checkpoint(TRUNCATE); PRAGMA incremental_vacuum(${stepPages}); PRAGMA wal_checkpoint(TRUNCATE)`,
  );
  return true;
}

/** Checkpoints and truncates the log; false if it was empty or a checkpoint is not possible now. */
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

/** Locked by another process, or the disk is full. */
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
    // Releasing space can wait for the next idle time.
    if (!isRetryable(error)) throw error;
    return false;
  }
}
