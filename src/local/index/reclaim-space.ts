// Room for commits on a disk that has none: inside the databases, and in the reserve.

import type { Reserve } from "../disk/space-reserve.ts";
import { type Database, sqliteBusy, sqliteCode, sqliteFull } from "./sqlite.ts";
import { releasePagesNow, truncateLog } from "./vacuum.ts";

/** Whether the reserve is there, with room made inside the bucket's database when the disk alone has too little of it. */
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
 * For what only frees space; false when there is none to be had. The reserve's room goes to the database first, which
 * grows by what the log has of new pages; the log's own is then there again. Taken by the log, it would be gone for both.
 */
export function reclaimSpace(reserve: Reserve, database: Database): boolean {
  const hadReserve = reserve.release();
  return truncateLog(database) || hadReserve;
}
