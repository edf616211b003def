// The tables and their schema version. Older versions are migrated; newer versions are refused.
import { settingNames } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import { withTextChecksum } from "../rows/checksum.ts";
import type { Database } from "./sqlite.ts";
import { pragma } from "./sqlite.ts";

export const schemaVersion = 6;

/** Marks a deleted bucket. It differs from 0 in many bits, so one flipped bit cannot set it. */
export const deletedMark = 0x6f9a_3c5d_71;

/** Whether the bucket was deleted. Undefined if the mark is damaged. */
export function parseDeletedMark(mark: unknown): boolean | undefined {
  if (mark === 0) return false;
  return mark === deletedMark ? true : undefined;
}

/** The existence index (existence-index.ts). */
export const existenceTable = "CREATE TABLE witness (place BLOB PRIMARY KEY) WITHOUT ROWID";
export const registryExistenceTable =
  "CREATE TABLE witness (place BLOB PRIMARY KEY, id TEXT NOT NULL) WITHOUT ROWID";

/** Entry numbers are never reused, so that later events of a key differ from earlier events. */
export const outboxTable = `
  CREATE TABLE outbox (entry INTEGER PRIMARY KEY AUTOINCREMENT, rule TEXT NOT NULL, event TEXT NOT NULL);
  CREATE INDEX outbox_rule ON outbox (rule)`;

/** Entry numbers are never reused: they order the versions of a key. */
export const historyTables = `
  CREATE TABLE history (
    entry INTEGER PRIMARY KEY AUTOINCREMENT,
    key BLOB NOT NULL,
    version TEXT NOT NULL,
    versioned INTEGER NOT NULL,
    since REAL NOT NULL,
    until REAL NOT NULL,
    shown_until REAL NOT NULL,
    is_oldest INTEGER NOT NULL,
    order_checksum TEXT NOT NULL,
    size INTEGER NOT NULL,
    inline INTEGER,
    blob TEXT,
    stored INTEGER,
    manifest INTEGER,
    record TEXT NOT NULL
  );
  CREATE INDEX history_key ON history (key, shown_until DESC, entry DESC);
  CREATE INDEX history_version ON history (version);
  CREATE INDEX history_null ON history (key) WHERE versioned = 0;
  CREATE INDEX history_blob ON history (blob) WHERE blob IS NOT NULL;
  CREATE TABLE shared (blob TEXT PRIMARY KEY, count TEXT NOT NULL) WITHOUT ROWID`;

/** Columns of the table `bucket` with the number and size of the rows in `history`. */
export const historyTotals = ["noncurrent", "noncurrent_bytes"] as const;

/** Almost always empty. Without it, creating a bucket would read the rows of all buckets. */
export const registryIndexes =
  "CREATE INDEX IF NOT EXISTS buckets_deleting ON buckets (deleting) WHERE deleting <> 0";

export const registrySchema = `
  CREATE TABLE buckets (
    name TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    created REAL NOT NULL,
    storage_class TEXT NOT NULL,
    account TEXT NOT NULL,
    deleting INTEGER NOT NULL DEFAULT 0,
    checksum TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE documents (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    revision INTEGER NOT NULL UNIQUE,
    text TEXT NOT NULL,
    PRIMARY KEY (kind, name)
  ) WITHOUT ROWID;
  CREATE TABLE revisions (last INTEGER NOT NULL);
  INSERT INTO revisions VALUES (0);
  ${registryExistenceTable};
  PRAGMA user_version = ${schemaVersion};
`;

/** Text stored for a setting that is not set, because an empty column could also be damage. */
export function noSetting(name: string): string {
  return withTextChecksum("", name);
}

// objects: one of inline, blob and manifest locates the body.
// blobs: every blob that a commit has referenced and no sweep has removed; other files are orphans.
//   The key is that of the object whose whole body the blob was at that commit.
// buried: the garbage queue, bodies without a record whose bytes are still to be removed.
// history: the versions that are not current, and all delete markers, which have no body. `since` and
//   `until` are the times at which the version and its successor were written. `shown_until` is the
//   least `since` of all newer versions, so a time shows the version with since <= time < shown_until,
//   and it has the order of the entries. Records do not have `until`, `shown_until` and `is_oldest`,
//   so these have a checksum of their own.
// shared: blobs that several versions of a key have as their body or as a part of it, with the
//   number of references beyond the first.
// outbox: events for notification rules that are still to be delivered.
export const bucketSchema = `
  CREATE TABLE bucket (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    deleted INTEGER NOT NULL DEFAULT 0,
    objects INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    ${historyTotals.map((name) => `${name} INTEGER NOT NULL DEFAULT 0`).join(", ")},
    ${settingNames.map((name) => `${name} TEXT`).join(", ")}
  );
  INSERT INTO bucket (only_row, ${settingNames.join(", ")})
    VALUES (1, ${settingNames.map((name) => `'${noSetting(name)}'`).join(", ")});
  CREATE TABLE objects (
    key BLOB PRIMARY KEY,
    version TEXT NOT NULL,
    size INTEGER NOT NULL,
    inline INTEGER,
    blob TEXT,
    stored INTEGER,
    manifest INTEGER,
    record TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE bodies (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE manifests (id INTEGER PRIMARY KEY, parts TEXT NOT NULL);
  CREATE TABLE uploads (
    key BLOB NOT NULL,
    id TEXT NOT NULL UNIQUE,
    active INTEGER NOT NULL,
    due REAL NOT NULL,
    revision INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (key, id)
  ) WITHOUT ROWID;
  CREATE INDEX uploads_due ON uploads (due);
  CREATE TABLE parts (
    upload TEXT NOT NULL,
    number INTEGER NOT NULL,
    blob TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (upload, number)
  ) WITHOUT ROWID;
  CREATE TABLE blobs (id TEXT PRIMARY KEY, key BLOB) WITHOUT ROWID;
  CREATE TABLE buried (entry INTEGER PRIMARY KEY AUTOINCREMENT, blob TEXT, manifest INTEGER, checksum TEXT);
  ${existenceTable};
  ${outboxTable};
  ${historyTables};
  PRAGMA user_version = ${schemaVersion};
`;

export function checkSchemaVersion(database: Database, path: string): void {
  const found = pragma(database, "user_version");
  if (found === schemaVersion) return;
  const mismatch = `"${path}" has schema version ${String(found)}, this Store knows ${schemaVersion}`;
  // Older versions were already migrated, so any other number is damage.
  const advice = Number(found) > schemaVersion ? "Use a newer Store" : "It is damaged";
  throw new StoreError("InternalError", { detail: `${mismatch}. ${advice}.` });
}
