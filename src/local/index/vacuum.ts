// Gives freed pages of the databases back to the file system, in small steps while nothing else is to do.
import { type Database, pragma, sqliteBusy, sqliteCode, sqliteFull } from "./sqlite.ts";

const idleMilliseconds = 100;
const stepPages = 512;
/** Free pages below this share are left for the next puts. */
const keptShare = 0.2;
const keptPages = 2048;

export interface Vacuum {
  /** Looks whether there is something to give back once nothing has come for a moment. */
  whenIdle(): void;
  stop(): void;
}

export interface Vacuumed {
  readonly database: Database;
  /** Folds the log in where it has become long: only then does the file get shorter. */
  fold(): void;
}

export function createVacuum(opened: () => readonly Vacuumed[]): Vacuum {
  let timer: NodeJS.Timeout | undefined;

  function step(): void {
    timer = undefined;
    // One step, then back to the queue: a commit that has come meanwhile goes first.
    const given = opened().find(({ database }) => giveBack(database));
    if (given === undefined) return;
    given.fold();
    whenIdle();
  }

  function whenIdle(): void {
    clearTimeout(timer);
    timer = setTimeout(step, idleMilliseconds).unref();
  }

  return { whenIdle, stop: () => clearTimeout(timer) };
}

/** Gives back what there is, a bounded amount at a time, whatever share it is; true when something went. */
export function giveBackNow(database: Database): boolean {
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
export function cutLog(database: Database): boolean {
  const { log } = database.prepare("PRAGMA wal_checkpoint(NOOP)").get() as { log: number };
  if (log <= 0) return false;
  try {
    const { busy } = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
    return busy === 0;
  } catch (error) {
    if (!isForLater(error)) throw error;
    return false;
  }
}

/** Busy with another process, or no room to work in. */
function isForLater(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === sqliteBusy || code === sqliteFull;
}

function giveBack(database: Database): boolean {
  const free = Number(pragma(database, "freelist_count"));
  const pages = Number(pragma(database, "page_count"));
  if (free < keptPages || free < pages * keptShare) return false;
  try {
    database.exec(`PRAGMA incremental_vacuum(${stepPages})`);
    return true;
  } catch (error) {
    // Giving space back can wait. Nothing else can.
    if (!isForLater(error)) throw error;
    return false;
  }
}
