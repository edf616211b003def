// How long the log of a bucket's database may grow before it is folded in. A long log makes overwrites cheaper: a
// page that changes often is written back once. But folding takes as much room in the database's file as the log
// holds, and on a full disk only the reserve has any. So where the disk has little left, the log stays shorter
// than the reserve.
import { statfsSync } from "node:fs";
import type { Database } from "./database.ts";

const pages = { "on a roomy disk": 4000, "on a tight disk": 1000 } as const;
/** Far more than a long log: it is folded in while there is room for it. */
const tightBytes = 64 * 1024 * 1024;

export interface LogBound {
  /** To be called before each commit. It costs microseconds, a commit a sync. */
  update(): void;
}

export function createLogBound(database: Database, directory: string): LogBound {
  let current: keyof typeof pages | undefined;
  return {
    update() {
      const { bavail, bsize } = statfsSync(directory);
      const next = bavail * bsize < tightBytes ? "on a tight disk" : "on a roomy disk";
      if (next === current) return;
      database.exec(`PRAGMA wal_autocheckpoint = ${pages[next]}`);
      current = next;
    },
  };
}
