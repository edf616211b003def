// Counts what a transaction adds to the totals of its bucket, which are updated once at its end.
import type { Database } from "../index/sqlite.ts";

export interface Tally {
  /** Current objects. */
  objects: number;
  bytes: number;
  /** Rows of the history. */
  noncurrent: number;
  noncurrentBytes: number;
  /** Whether a damaged row was overwritten, so that the totals must be counted again. */
  isUncertain: boolean;
}

export function createTally(): Tally {
  return { objects: 0, bytes: 0, noncurrent: 0, noncurrentBytes: 0, isUncertain: false };
}

const emptyTally: Readonly<Tally> = createTally();

/** Sets the tally to zero, or to an earlier copy of it. */
export function resetTally(tally: Tally, to: Readonly<Tally> = emptyTally): void {
  tally.objects = to.objects;
  tally.bytes = to.bytes;
  tally.noncurrent = to.noncurrent;
  tally.noncurrentBytes = to.noncurrentBytes;
  tally.isUncertain = to.isUncertain;
}

export function createTotalsUpdate(database: Database): (tally: Tally) => void {
  const add = database.prepare("UPDATE bucket SET objects = objects + ?, bytes = bytes + ?");
  const addNoncurrent = database.prepare(
    "UPDATE bucket SET noncurrent = noncurrent + ?, noncurrent_bytes = noncurrent_bytes + ?",
  );
  const count = database.prepare(
    "UPDATE bucket SET (objects, bytes) = (SELECT count(*), coalesce(sum(size), 0) FROM objects), " +
      "(noncurrent, noncurrent_bytes) = (SELECT count(*), coalesce(sum(size), 0) FROM history)",
  );
  return ({ objects, bytes, noncurrent, noncurrentBytes, isUncertain }) => {
    if (isUncertain) {
      count.run();
      return;
    }
    if (objects !== 0 || bytes !== 0) add.run(objects, bytes);
    if (noncurrent !== 0 || noncurrentBytes !== 0) addNoncurrent.run(noncurrent, noncurrentBytes);
  };
}
