// Migrates databases of earlier schemas when they are opened, each in one transaction. If several
// processes open a database at the same time, the first process migrates it.
import { dirname } from "node:path";
import type { SettingName } from "../../model/bucket.ts";
import { tightenBucket } from "../disk/private-files.ts";
import { verifyText } from "../rows/checksum.ts";
import {
  type BucketRow,
  bucketChecksum,
  type DocumentRow,
  documentText,
  garbageBlobChecksum,
  garbageManifestChecksum,
  settingText,
} from "../rows/checksummed-rows.ts";
import { existenceKey } from "./existence-index.ts";
import {
  checkSchemaVersion,
  deletedMark,
  existenceTable,
  historyTables,
  historyTotals,
  noSetting,
  outboxTable,
  registryExistenceTable,
  schemaVersion,
} from "./schema.ts";
import { type Database, type DatabaseOptions, inTransaction, openDatabase, pragma } from "./sqlite.ts";

/** The first step migrates a bucket from schema 1 to 2, the second from 2 to 3, and so on. */
const bucketSteps: readonly ((database: Database) => void)[] = [
  addExistenceIndex,
  addOutbox,
  addBlobKeys,
  addHistory,
  addAccessSettings,
];
const registrySteps: readonly ((registry: Database) => void)[] = [
  addRegistryExistenceIndex,
  () => {},
  () => {},
  () => {},
  () => {},
];

/** Returns the steps from the database's version to the current version; none if it is unknown. */
function pendingSteps<T>(steps: readonly T[], database: Database): readonly T[] {
  const found = Number(pragma(database, "user_version"));
  return found >= 1 && found < schemaVersion ? steps.slice(found - 1) : [];
}

/** Opens a bucket's database and migrates it to the current schema. */
export function openBucketDatabase(path: string, role: DatabaseOptions["role"]): Database {
  tightenBucket(dirname(path));
  const database = openDatabase(path, { role });
  try {
    if (pendingSteps(bucketSteps, database).length > 0) upgradeBucket(path);
    checkSchemaVersion(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function upgradeBucket(path: string): void {
  const database = openDatabase(path, { role: "writer" });
  try {
    inTransaction(database, () => {
      for (const step of pendingSteps(bucketSteps, database)) step(database);
      database.exec(`PRAGMA user_version = ${schemaVersion}`);
    });
  } finally {
    database.close();
  }
}

function addOutbox(database: Database): void {
  database.exec(outboxTable);
  addSettings(database, ["notifications", "publication"]);
}

function addSettings(database: Database, names: readonly SettingName[]): void {
  for (const name of names) {
    database.exec(`ALTER TABLE bucket ADD COLUMN ${name} TEXT`);
    database.prepare(`UPDATE bucket SET ${name} = ?`).run(noSetting(name));
  }
}

function addBlobKeys(database: Database): void {
  database.exec("ALTER TABLE blobs ADD COLUMN key BLOB");
}

/** Rewrites no object: the table of objects has only current versions, as before. */
function addHistory(database: Database): void {
  database.exec(historyTables);
  for (const name of historyTotals)
    database.exec(`ALTER TABLE bucket ADD COLUMN ${name} INTEGER NOT NULL DEFAULT 0`);
  addSettings(database, ["versioning", "objectLock", "lockRules", "tags"]);
}

function addAccessSettings(database: Database): void {
  addSettings(database, ["quota", "policy", "publicAccessBlock", "encryption", "ownership", "region"]);
}

function addExistenceIndex(database: Database): void {
  database.exec(`${existenceTable}; ALTER TABLE buried ADD COLUMN checksum TEXT`);
  upgradeBucketRow(database);
  indexRows(database);
  addGarbageChecksums(database);
}

function upgradeBucketRow(database: Database): void {
  const row = database
    .prepare<{ deleted: number; cors: string | null; lifecycle: string | null }>(
      "SELECT deleted, cors, lifecycle FROM bucket",
    )
    .get()!;
  const text = (name: "cors" | "lifecycle") =>
    row[name] === null ? noSetting(name) : settingText(name, row[name]);
  database
    .prepare("UPDATE bucket SET deleted = ?, cors = ?, lifecycle = ?")
    .run(row.deleted === 0 ? 0 : deletedMark, text("cors"), text("lifecycle"));
}

function indexRows(database: Database): void {
  const insertExistence = database.prepare("INSERT OR IGNORE INTO witness (place) VALUES (?)");
  const rows = <Row>(sql: string) => database.prepare<Row>(sql).iterate();
  for (const { key } of rows<{ key: Uint8Array }>("SELECT key FROM objects")) {
    insertExistence.run(existenceKey.object(key));
  }
  for (const { key, id } of rows<{ key: Uint8Array; id: string }>("SELECT key, id FROM uploads")) {
    insertExistence.run(existenceKey.upload(key, id));
  }
  for (const { upload, number } of rows<{ upload: string; number: number }>(
    "SELECT upload, number FROM parts",
  )) {
    insertExistence.run(existenceKey.part(upload, number));
  }
  for (const { id } of rows<{ id: string }>("SELECT id FROM blobs"))
    insertExistence.run(existenceKey.blob(id));
}

function addGarbageChecksums(database: Database): void {
  const rows = database
    .prepare<{ entry: number; blob: string | null; manifest: number | null; parts: string }>(
      "SELECT entry, blob, manifest, parts FROM buried LEFT JOIN manifests ON manifests.id = manifest",
    )
    .all();
  const setChecksum = database.prepare("UPDATE buried SET checksum = ? WHERE entry = ?");
  for (const { entry, blob, manifest, parts } of rows) {
    if (blob !== null) setChecksum.run(garbageBlobChecksum(blob), entry);
    else {
      const version = verifyText(parts, "a list of parts in the garbage queue").slice(0, 32);
      setChecksum.run(garbageManifestChecksum(manifest!, version), entry);
    }
  }
}

/** Runs inside the caller's transaction, which also checks whether the registry exists. */
export function upgradeRegistry(registry: Database): void {
  const steps = pendingSteps(registrySteps, registry);
  for (const step of steps) step(registry);
  if (steps.length > 0) registry.exec(`PRAGMA user_version = ${schemaVersion}`);
}

function addRegistryExistenceIndex(registry: Database): void {
  registry.exec(
    `${registryExistenceTable}; ALTER TABLE buckets ADD COLUMN checksum TEXT NOT NULL DEFAULT ''`,
  );
  registry.prepare("UPDATE buckets SET deleting = ? WHERE deleting <> 0").run(deletedMark);
  const insertExistence = registry.prepare("INSERT INTO witness (place, id) VALUES (?, ?)");
  const buckets = registry.prepare<BucketRow>(
    "SELECT name, id, created, storage_class, account FROM buckets",
  );
  const setChecksum = registry.prepare("UPDATE buckets SET checksum = ? WHERE name = ?");
  for (const row of buckets.all()) {
    setChecksum.run(bucketChecksum(row), row.name);
    insertExistence.run(existenceKey.bucket(row.name), row.id);
  }
  const setText = registry.prepare("UPDATE documents SET text = ? WHERE kind = ? AND name = ?");
  const documents = registry.prepare<DocumentRow>("SELECT kind, name, text, revision FROM documents");
  for (const row of documents.all()) {
    setText.run(documentText(row), row.kind, row.name);
    insertExistence.run(existenceKey.document(row.kind, row.name), "");
  }
}
