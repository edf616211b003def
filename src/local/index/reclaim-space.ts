// Finds space for commits on a full disk: free pages of the databases, and the reserve.
import type { Reserve } from "../disk/space-reserve.ts";
import { type Database, sqliteBusy, sqliteCode, sqliteFull } from "./sqlite.ts";
import { releasePagesNow, truncateLog } from "./vacuum.ts";

/** Whether the reserve exists. To make space for it, free pages of the database are released. */
export function ensureReserve(reserve: Reserve, database: Database): boolean {
  const steps = 8;
  for (let step = 0; step < steps; step++) {
    if (reserve.ensureReserved()) return true;
    try {
      if (!releasePagesNow(database)) break;
    } catch (error) {
      if (sqliteCode(error) !== sqliteBusy && sqliteCode(error) !== sqliteFull) throw error;
      break;
    }
  }
  return reserve.ensureReserved();
}

/**
 * Makes space for changes that only free space; false if none was found. Releases the reserve and
 * truncates the log at once, before a growing log takes the space that a checkpoint needs.
 */
export function reclaimSpace(reserve: Reserve, database: Database): boolean {
  const hadReserve = reserve.release();
  return truncateLog(database) || hadReserve;
}
