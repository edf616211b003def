// The prepared statements of apply-history.ts.

import type { Database } from "../index/sqlite.ts";
import type { HistoryRow } from "../rows/history-row.ts";

export type FoundHistoryRow = HistoryRow & { readonly bytes: unknown };

const select =
  "SELECT entry, key, version, versioned, since, until, until_checksum, size, inline, blob, stored, manifest, record, bytes " +
  "FROM history LEFT JOIN bodies ON bodies.id = inline";

export function prepareHistoryStatements(database: Database) {
  const sql = <Row = unknown>(text: string) => database.prepare<Row>(text);
  return {
    find: sql<FoundHistoryRow>(`${select} WHERE version = ? AND key = ?`),
    findNull: sql<FoundHistoryRow>(`${select} WHERE key = ? AND versioned = 0`),
    newest: sql<FoundHistoryRow>(`${select} WHERE key = ? ORDER BY entry DESC LIMIT 1`),
    withBlob: sql<FoundHistoryRow>(`${select} WHERE blob = ? AND key = ?`),
    insert: sql(
      "INSERT INTO history (key, version, versioned, since, until, until_checksum, size, inline, blob, stored, manifest, record) " +
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    delete: sql("DELETE FROM history WHERE entry = ?"),
    setUntil: sql("UPDATE history SET until = ?, until_checksum = ? WHERE entry = ?"),
    restate: sql("UPDATE history SET record = ?, since = ? WHERE entry = ?"),
    replaceBody: sql(
      "UPDATE history SET inline = ?, blob = ?, stored = ?, manifest = ?, record = ? WHERE entry = ?",
    ),
    moveBody: sql("UPDATE history SET blob = ?, record = ? WHERE entry = ?"),
  };
}
