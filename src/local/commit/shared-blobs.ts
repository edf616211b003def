// Counts the references of blobs that several versions of a key share. A blob that is not shared has
// no row, so buckets without shared bodies need none.
import { existenceKey } from "../index/existence-index.ts";
import type { Database } from "../index/sqlite.ts";
import { parseSharedCount, sharedCount } from "../rows/shared-count.ts";
import type { Bodies } from "./apply-bodies.ts";

export interface SharedBlobs {
  /** Adds a reference to a blob that has one already. */
  add(blob: string): void;
  /** Removes a reference. Returns false if it was the last. */
  remove(blob: string): boolean;
  isShared(blob: string): boolean;
  /** Called when compaction has moved a body. */
  move(from: string, to: string): void;
}

export function createSharedBlobs(database: Database, bodies: Bodies): SharedBlobs {
  const find = database.prepare<{ count: unknown }>("SELECT count FROM shared WHERE blob = ?");
  const put = database.prepare("REPLACE INTO shared (blob, count) VALUES (?, ?)");
  const drop = database.prepare("DELETE FROM shared WHERE blob = ?");
  const findExistence = database.prepare("SELECT 1 FROM witness WHERE place = ?");

  /** Returns the number of references beyond the first. Undefined if the count is damaged or lost. */
  function read(blob: string): number | undefined {
    const row = find.get(blob);
    if (row === undefined) return findExistence.get(existenceKey.shared(blob)) === undefined ? 0 : undefined;
    try {
      return parseSharedCount(blob, row.count);
    } catch {
      return undefined;
    }
  }

  function write(blob: string, count: number): void {
    if (count === 0) {
      drop.run(blob);
      bodies.deleteExistence(existenceKey.shared(blob));
      return;
    }
    put.run(blob, sharedCount(blob, count));
    bodies.insertExistence(existenceKey.shared(blob));
  }

  return {
    add(blob) {
      const count = read(blob);
      // A damaged count stays: the blob is never removed, and `verify` reports it.
      if (count !== undefined) write(blob, count + 1);
    },
    remove(blob) {
      const count = read(blob);
      if (count === 0) return false;
      if (count !== undefined) write(blob, count - 1);
      return true;
    },
    isShared: (blob) => read(blob) !== 0,
    move(from, to) {
      const count = read(from);
      if (count === undefined || count === 0) return;
      write(from, 0);
      write(to, count);
    },
  };
}
