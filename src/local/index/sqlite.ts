// Opens SQLite databases with the settings that durability and speed were measured with.
import { pathToFileURL } from "node:url";
import { DatabaseSync } from "@photostructure/sqlite";
import { invariant, StoreError } from "../../model/errors.ts";
import { createPrivateFile } from "../disk/private-files.ts";

type SqlValue = string | number | bigint | Uint8Array | null;

/** A prepared statement. `Row` is what its SQL text selects; this interface alone asserts that. */
export interface Statement<Row> {
  get(...values: readonly SqlValue[]): Row | undefined;
  all(...values: readonly SqlValue[]): Row[];
  iterate(...values: readonly SqlValue[]): Iterable<Row>;
  run(...values: readonly SqlValue[]): { changes: number; lastInsertRowid: number | bigint };
  setReturnArrays(areArrays: boolean): void;
}

export type Database = { prepare<Row = unknown>(sql: string): Statement<Row> } & InstanceType<
  typeof DatabaseSync
>;

/** Rows as arrays: naming the columns of each row costs more than reading them. */
export function prepareArrays<Row extends readonly unknown[]>(
  database: Database,
  sql: string,
): Statement<Row> {
  const statement = database.prepare<Row>(sql);
  statement.setReturnArrays(true);
  return statement;
}

export interface DatabaseOptions {
  /** Who uses it: readers serve, the writer commits for its process. */
  readonly role: "reader" | "writer";
  /** Make the file when there is none; else a missing file is an error. */
  readonly create?: "when missing";
}

export const busyMilliseconds = 30_000;

export function openDatabase(path: string, { role, create }: DatabaseOptions): Database {
  if (create !== undefined) createPrivateFile(path);
  const url = pathToFileURL(path);
  url.searchParams.set("mode", create === undefined ? "rw" : "rwc");
  const database = new DatabaseSync(url, { timeout: busyMilliseconds });
  try {
    if (create !== undefined) {
      // Must come before the first table. Freed pages are given back in small steps.
      database.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL");
    }
    // In WAL mode this build would sync only at checkpoints, and lose acknowledged commits in a power cut. It
    // would also make checkpoints by itself and tell nobody of a sync that failed there: see createCheckpoint.
    database.exec(
      "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864",
    );
    // The map is as large as this build allows: reads of the index then copy no pages.
    database.exec(
      `PRAGMA mmap_size = 2147418112; PRAGMA cache_size = ${role === "writer" ? -65536 : -16384}`,
    );
    if (role === "reader") database.exec("PRAGMA query_only = 1");
    invariant(pragma(database, "synchronous") === 2, "SQLite syncs every commit");
    invariant(pragma(database, "journal_mode") === "wal", "SQLite keeps a write-ahead log");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

export function pragma(database: Database, name: string): unknown {
  return database.prepare<Record<string, unknown>>(`PRAGMA ${name}`).get()?.[name];
}

const retryMilliseconds = 0.2;
const sleepBuffer = new Int32Array(new SharedArrayBuffer(4));

/** SQLite waits for the lock of another process by sleeping ever longer; a commit is over sooner than that. */
function takeWriteLock(database: Database, maxMilliseconds: number): void {
  const end = performance.now() + maxMilliseconds;
  database.exec("PRAGMA busy_timeout = 0");
  try {
    for (;;) {
      try {
        database.exec("BEGIN IMMEDIATE");
        return;
      } catch (error) {
        if (sqliteCode(error) !== sqliteBusy || performance.now() > end) throw error;
        Atomics.wait(sleepBuffer, 0, 0, retryMilliseconds);
      }
    }
  } finally {
    database.exec(`PRAGMA busy_timeout = ${busyMilliseconds}`);
  }
}

export interface TransactionOptions {
  /** Called with how long the sync at its end took. */
  readonly onSynced?: (seconds: number) => void;
  /** How long it waits for the write lock of another process. */
  readonly busyMilliseconds?: number;
}

/** Runs the work in one transaction that holds the write lock from its start. */
export function inTransaction<T>(database: Database, work: () => T, options: TransactionOptions = {}): T {
  takeWriteLock(database, options.busyMilliseconds ?? busyMilliseconds);
  try {
    const result = work();
    const begin = performance.now();
    database.exec("COMMIT");
    options.onSynced?.((performance.now() - begin) / 1000);
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** Pages in a log before it is folded into its database: longer ones make rare puts wait long. */
const longLogPages = 1000;

/** Folds the log into the database when it has become long. Throws what the disk refuses, but for want of room. */
export function createCheckpoint(database: Database): () => void {
  const readLogSize = database.prepare<{ log: number }>("PRAGMA wal_checkpoint(NOOP)");
  const runCheckpoint = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  return () => {
    if (readLogSize.get()!.log < longLogPages) return;
    try {
      runCheckpoint.get();
    } catch (error) {
      // Then the log stays as it is, and grows: it is the next to meet the full disk.
      const code = sqliteCode(error);
      if (code !== sqliteFull && code !== sqliteBusy) throw error;
    }
  };
}

/** The primary SQLite result code of an error, if it is one. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("errcode" in error) return Number(error.errcode) & 0xff;
  // Reads of several rows tell only in words what went wrong.
  if (!("code" in error) || error.code !== "ERR_SQLITE_ERROR") return undefined;
  return codesByMessage.find(([words]) => error.message.includes(words))?.[1] ?? sqliteError;
}

/** What a failed read is told as: damage, or a disk that cannot be read. Other errors pass as they are. */
export function toReadError(error: unknown, what: string): unknown {
  const code = sqliteCode(error);
  if (code === undefined) return error;
  if (isDamage(code) || code === sqliteError) {
    return new StoreError("InternalError", { detail: `The stored data is damaged: ${what}.`, cause: error });
  }
  const detail = `${what} could not be read.`;
  return new StoreError("ServiceUnavailable", { detail, cause: error, notDone: true });
}

/** The same for reads of rows alone, where whatever else goes wrong is a row that cannot be one. */
export function toDamageError(error: unknown, what: string): StoreError {
  const mapped = toReadError(error, what);
  if (mapped instanceof StoreError) return mapped;
  return new StoreError("InternalError", { detail: `The stored data is damaged: ${what}.`, cause: mapped });
}

/** What SQLite also calls a database that the disk refuses to read. */
export function isDamage(code: number | undefined): boolean {
  return code === sqliteCorrupt || code === sqliteNotADatabase;
}

/** Damage found by ourselves, told the way SQLite tells its own. */
export function corruptionError(what: string): Error {
  return Object.assign(new Error(`${what} is damaged`), { errcode: sqliteCorrupt });
}

const sqliteError = 1;
export const sqliteCorrupt = 11;
const sqliteNotADatabase = 26;
export const sqliteBusy = 5;
export const sqliteIoError = 10;
export const sqliteFull = 13;
export const sqliteCannotOpen = 14;

const codesByMessage: readonly (readonly [words: string, code: number])[] = [
  ["disk image is malformed", sqliteCorrupt],
  ["file is not a database", sqliteNotADatabase],
  ["disk I/O error", sqliteIoError],
  ["database is locked", sqliteBusy],
  ["database or disk is full", sqliteFull],
  ["unable to open database file", sqliteCannotOpen],
];
