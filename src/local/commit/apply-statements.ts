// The prepared statements of apply.ts.
import { type SettingName, settingNames } from "../../model/bucket.ts";
import { type Database, prepareArrays } from "../index/sqlite.ts";
import type { PartRow } from "../rows/object-row.ts";
import type { EventRow } from "../rows/stored-event.ts";

/** An object's row with its inline body: a second query for the body would double the cost. */
type FoundRow = readonly [
  version: string,
  size: number,
  inline: number | null,
  blob: string | null,
  stored: number | null,
  manifest: number | null,
  record: string,
  bytes: unknown,
];

interface BucketState {
  readonly deleted: unknown;
  readonly versioning: unknown;
  readonly lockRules: unknown;
  readonly quota: unknown;
}

export function prepareApplyStatements(database: Database) {
  const sql = <Row = unknown>(text: string) => database.prepare<Row>(text);
  return {
    bucket: sql<BucketState>("SELECT deleted, versioning, lockRules, quota FROM bucket"),
    totals: prepareArrays<[objects: number, bytes: number]>(
      database,
      "SELECT objects + noncurrent, bytes + noncurrent_bytes FROM bucket",
    ),
    savepoint: sql("SAVEPOINT change"),
    releaseSavepoint: sql("RELEASE change"),
    undoToSavepoint: sql("ROLLBACK TO change"),
    insertExistence: sql("INSERT OR IGNORE INTO witness (place) VALUES (?)"),
    deleteExistence: sql("DELETE FROM witness WHERE place = ?"),
    deletePartsExistence: sql("DELETE FROM witness WHERE place >= ? AND place < ?"),
    findExistence: sql("SELECT 1 FROM witness WHERE place = ?"),
    findVersion: sql<{ version: unknown }>("SELECT version FROM objects WHERE key = ?"),
    findObject: prepareArrays<FoundRow>(
      database,
      "SELECT version, size, inline, blob, stored, manifest, record, bytes FROM objects " +
        "LEFT JOIN bodies ON bodies.id = inline WHERE key = ?",
    ),
    insertObject: sql(
      "INSERT INTO objects (key, version, size, inline, blob, stored, manifest, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    updateObject: sql(
      "UPDATE objects SET version = ?, size = ?, inline = ?, blob = ?, stored = ?, manifest = ?, record = ? WHERE key = ?",
    ),
    moveBody: sql("UPDATE objects SET blob = ?, record = ? WHERE key = ?"),
    restateObject: sql("UPDATE objects SET record = ? WHERE key = ?"),
    findSetting: perSetting((name) => sql<{ text: unknown }>(`SELECT ${name} AS text FROM bucket`)),
    putSetting: perSetting((name) => sql(`UPDATE bucket SET ${name} = ?`)),
    insertEvent: sql("INSERT INTO outbox (rule, event) VALUES (?, ?)"),
    insertEventIfObject: sql(
      "INSERT INTO outbox (rule, event) SELECT ?, ? WHERE EXISTS (SELECT 1 FROM objects WHERE key = ?)",
    ),
    findEvent: sql<EventRow>("SELECT rule, event FROM outbox WHERE entry = ?"),
    updateEvent: sql("UPDATE outbox SET rule = ?, event = ? WHERE entry = ?"),
    deleteEvent: sql("DELETE FROM outbox WHERE entry = ?"),
    deleteObject: sql("DELETE FROM objects WHERE key = ?"),
    insertBody: sql("INSERT INTO bodies (bytes) VALUES (?)"),
    updateBody: sql("UPDATE bodies SET bytes = ? WHERE id = ?"),
    deleteBody: sql("DELETE FROM bodies WHERE id = ?"),
    insertManifest: sql("INSERT INTO manifests (parts) VALUES (?)"),
    insertBlob: sql("INSERT INTO blobs (id, key) VALUES (?, ?)"),
    deleteBlob: sql("DELETE FROM blobs WHERE id = ?"),
    insertGarbage: sql("INSERT INTO buried (blob, manifest, checksum) VALUES (?, ?, ?)"),
    deleteGarbage: sql("DELETE FROM buried WHERE entry = ?"),
    deleteGarbageManifest: sql(
      "DELETE FROM manifests WHERE id = (SELECT manifest FROM buried WHERE entry = ?)",
    ),
    findUpload: sql<{ active: number; revision: number }>(
      "SELECT active, revision FROM uploads WHERE key = ? AND id = ?",
    ),
    putUpload: sql(
      "INSERT INTO uploads (key, id, active, due, revision, record) VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT (key, id) " +
        "DO UPDATE SET active = excluded.active, due = excluded.due, revision = revision + 1, record = excluded.record",
    ),
    touchUpload: sql("UPDATE uploads SET revision = revision + 1 WHERE id = ?"),
    deleteUpload: sql("DELETE FROM uploads WHERE key = ? AND id = ?"),
    findPart: sql<PartRow>("SELECT number, blob, record FROM parts WHERE upload = ? AND number = ?"),
    putPart: sql("REPLACE INTO parts (upload, number, blob, record) VALUES (?, ?, ?, ?)"),
    listParts: sql<PartRow>("SELECT number, blob, record FROM parts WHERE upload = ?"),
    deleteParts: sql("DELETE FROM parts WHERE upload = ?"),
  };
}

export type ApplyStatements = ReturnType<typeof prepareApplyStatements>;

function perSetting<T>(make: (name: SettingName) => T): Record<SettingName, T> {
  return Object.fromEntries(settingNames.map((name) => [name, make(name)])) as Record<SettingName, T>;
}
