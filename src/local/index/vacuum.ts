// Gives freed pages of the databases back to the file system, in small steps while nothing else is to do.
import { type Database, pragma, sqliteBusy, sqliteCode, sqliteFull } from "./sqlite.ts";

const idleMilliseconds = 100;
const stepPages = 512;
/** Free pages below this share are left for the next puts. */
const minFreeShare = 0.2;
const minFreePages = 2048;

export interface Vacuum {
  /** Looks whether there is something to give back once nothing has come for a moment. */
  whenIdle(): void;
  stop(): void;
}

export interface VacuumTarget {
  readonly database: Database;
  /** Folds the log in where it has become long: only then does the file get shorter. */
  checkpoint(): void;
}

export function createVacuum(opened: () => readonly VacuumTarget[]): Vacuum {
  let timer: NodeJS.Timeout | undefined;

  function step(): void {
    timer = undefined;
    // One step, then back to the queue: a commit that has come meanwhile goes first.
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

/** Gives back what there is, a bounded amount at a time, whatever share it is; true when something went. */
export function releasePagesNow(database: Database): boolean {
  if (Number(pragma(database, "freelist_count")) === 0) {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return false;
  }
  // The log is folded in first and after: only then does either file get shorter.
  database.exec(
    `PRAGMA wal_checkpoint(TRUNCATE); PRAGMA incremental_vacuum(${stepPages}); PRAGMA wal_checkpoint(TRUNCATE)`,
  );
  return true;
}

/** Folds the log in and gives its room back; false when there was none, or it cannot be done now. */
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

/** Busy with another process, or no room to work in. */
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
    // Giving space back can wait. Nothing else can.
    if (!isRetryable(error)) throw error;
    return false;
  }
}
