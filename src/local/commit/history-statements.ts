// Rows of the history inside the writer's transaction, and their order: the times until which they
// are shown, and which one is the oldest of its key.
import type { Database } from "../index/sqlite.ts";
import { type HistoryRow, orderChecksum } from "../rows/history-row.ts";

export type FoundHistoryRow = HistoryRow & { readonly bytes: unknown };

/** A position in the order of a key's versions. */
type OrderPosition = Pick<HistoryRow, "shown_until" | "entry">;
type OrderedRow = Pick<HistoryRow, "entry" | "version" | "since" | "until" | "shown_until" | "is_oldest">;

export interface VersionOrder {
  /** Whether the key has no row. */
  isEmpty(key: Uint8Array): boolean;
  /** Shows the versions of a key until a time at most: that of a new version. */
  endOlder(key: Uint8Array, time: number): void;
  /** The version at this position is gone: an older one is shown until the earliest time of the others. */
  showOlder(key: Uint8Array, gone: OrderPosition, until: number): void;
  /** The oldest version of a key is gone: the next one is the oldest. */
  markOldest(key: Uint8Array): void;
  setUntil(row: OrderedRow, until: number, shownUntil?: number): void;
}

/** Stands for a current object among the entries of the history: it is newer than all of them. */
export const newestEntry = Number.MAX_SAFE_INTEGER;

const columns =
  "entry, key, version, versioned, since, until, shown_until, is_oldest, order_checksum, " +
  "size, inline, blob, stored, manifest, record, bytes";
const select = `SELECT ${columns} FROM history LEFT JOIN bodies ON bodies.id = inline`;
const selectOrder = "SELECT entry, version, since, until, shown_until, is_oldest FROM history";
const newestFirst = "ORDER BY shown_until DESC, entry DESC";

export function prepareHistoryStatements(database: Database) {
  const sql = <Row = unknown>(text: string) => database.prepare<Row>(text);
  return {
    find: sql<FoundHistoryRow>(`${select} WHERE version = ? AND key = ?`),
    findNull: sql<FoundHistoryRow>(`${select} WHERE key = ? AND versioned = 0`),
    newest: sql<FoundHistoryRow>(`${select} WHERE key = ? ${newestFirst} LIMIT 1`),
    withBlob: sql<FoundHistoryRow>(`${select} WHERE blob = ? AND key = ?`),
    insert: sql(
      "INSERT INTO history (key, version, versioned, since, until, shown_until, is_oldest, order_checksum, " +
        "size, inline, blob, stored, manifest, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    delete: sql("DELETE FROM history WHERE entry = ?"),
    restate: sql("UPDATE history SET record = ? WHERE entry = ?"),
    replaceBody: sql(
      "UPDATE history SET inline = ?, blob = ?, stored = ?, manifest = ?, record = ? WHERE entry = ?",
    ),
    moveBody: sql("UPDATE history SET blob = ?, record = ? WHERE entry = ?"),
  };
}

export function createVersionOrder(database: Database): VersionOrder {
  const newest = database.prepare<OrderPosition>(
    `SELECT shown_until, entry FROM history WHERE key = ? ${newestFirst} LIMIT 1`,
  );
  const oldest = database.prepare<OrderedRow>(
    `${selectOrder} WHERE key = ? ORDER BY shown_until, entry LIMIT 1`,
  );
  const shownAfter = database.prepare<OrderedRow>(`${selectOrder} WHERE key = ? AND shown_until > ?`);
  const nextOlder = database.prepare<OrderedRow>(
    `${selectOrder} WHERE key = ? AND (shown_until, entry) < (?, ?) ${newestFirst} LIMIT 1`,
  );
  const update = database.prepare(
    "UPDATE history SET until = ?, shown_until = ?, is_oldest = ?, order_checksum = ? WHERE entry = ?",
  );

  function change(row: OrderedRow, changes: Partial<OrderedRow>): void {
    const { entry, version, until, shown_until: shownUntil, is_oldest: isOldest } = { ...row, ...changes };
    const checksum = orderChecksum({ version, until, shownUntil, isOldest });
    update.run(until, shownUntil, isOldest, checksum, entry);
  }

  return {
    isEmpty: (key) => newest.get(key) === undefined,
    endOlder(key, time) {
      const end = newest.get(key)?.shown_until;
      if (end === undefined || end <= time) return;
      // More than one row only if a clock went back.
      for (const row of shownAfter.all(key, time)) change(row, { shown_until: time });
    },
    showOlder(key, gone, until) {
      let position = gone;
      for (let earliest = until; ; ) {
        const row = nextOlder.get(key, position.shown_until, position.entry);
        if (row === undefined || row.shown_until === earliest) return;
        change(row, { shown_until: earliest });
        position = row;
        earliest = Math.min(earliest, row.since);
      }
    },
    markOldest(key) {
      const row = oldest.get(key);
      if (row !== undefined) change(row, { is_oldest: 1 });
    },
    setUntil: (row, until, shownUntil = row.shown_until) => change(row, { until, shown_until: shownUntil }),
  };
}
