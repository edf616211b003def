// Opens SQLite databases with the settings needed for durability and speed.
import { existsSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import { DatabaseSync } from "@photostructure/sqlite";
import { invariant, StoreError } from "../../model/errors.ts";
import { createPrivateFile } from "../disk/private-files.ts";

type SqlValue = string | number | bigint | Uint8Array | null;

/** A prepared statement. `Row` is the type of a selected row; it is not checked at run time. */
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

/**
 * Prepares a statement that returns rows as arrays, which are faster to create than objects. It is
 * prepared when it is first used: preparing all statements of a bucket takes most of its opening.
 */
export function prepareArrays<Row extends readonly unknown[]>(
  database: Database,
  sql: string,
): ArrayStatement<Row> {
  const lazy: ArrayStatement<Row> = {
    get: (...values) => prepare().get(...values),
    all: (...values) => prepare().all(...values),
    iterate: (...values) => prepare().iterate(...values),
  };
  /** Later calls reach the statement directly: passing on the values is a measurable part of a read. */
  function prepare(): ArrayStatement<Row> {
    const statement = database.prepare<Row>(sql);
    statement.setReturnArrays(true);
    lazy.get = statement.get.bind(statement);
    lazy.all = statement.all.bind(statement);
    lazy.iterate = statement.iterate.bind(statement);
    return lazy;
  }
  return lazy;
}

export type ArrayStatement<Row> = Pick<Statement<Row>, "get" | "all" | "iterate">;

export interface DatabaseOptions {
  /** Readers serve requests; the writer commits. */
  readonly role: "reader" | "writer";
  /** Whether to create a missing file. Default: a missing file is an error. */
  readonly create?: "when missing";
}

export const busyMilliseconds = 30_000;

/**
 * A closed database keeps its files and its memory until its statements are collected, and the
 * collector does not see that memory. So each database owns a buffer of that size, which is never
 * touched: a process that opens thousands of buckets in turn then collects in time.
 */
const nativeMemory = new WeakMap<Database, ArrayBuffer>();
const nativeBytes = 256 * 1024;

export function openDatabase(path: string, { role, create }: DatabaseOptions): Database {
  if (create !== undefined) createPrivateFile(path);
  const url = pathToFileURL(path);
  url.searchParams.set("mode", create === undefined ? "rw" : "rwc");
  const database = new DatabaseSync(url, { timeout: busyMilliseconds });
  nativeMemory.set(database, new ArrayBuffer(nativeBytes));
  try {
    if (create !== undefined) {
      // `auto_vacuum` must be set before the first table is created. vacuum.ts needs it.
      database.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL");
    }
    // By default, this build of SQLite syncs only at checkpoints, so a power cut would lose
    // commits. `createCheckpoint` replaces automatic checkpoints, because they hide a failed sync.
    database.exec(
      "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864",
    );
    // The largest memory map that this build of SQLite allows, so that reads copy no pages.
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

/** Polls for the lock: the pauses of SQLite's own wait get longer than most commits take. */
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
  /** Called after COMMIT, which syncs, with its duration. */
  readonly onSynced?: (seconds: number) => void;
  /** Maximum time to wait for the write lock of another process. */
  readonly busyMilliseconds?: number;
}

/** Runs `work` in one transaction that holds the write lock from its start. */
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

/** A checkpoint runs when the log has this many pages. A longer log would delay some puts. */
const longLogPages = 1000;

/** Runs a checkpoint if the log is long. Throws errors of the disk, except for a full disk. */
export function createCheckpoint(database: Database): () => void {
  const readLogSize = database.prepare<{ log: number }>("PRAGMA wal_checkpoint(NOOP)");
  const runCheckpoint = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  return () => {
    if (readLogSize.get()!.log < longLogPages) return;
    try {
      runCheckpoint.get();
    } catch (error) {
      // The log stays and grows. If the disk is full, the next commit reports it.
      const code = sqliteCode(error);
      if (code !== sqliteFull && code !== sqliteBusy) throw error;
    }
  };
}

/** The primary SQLite result code; undefined if the error is not from SQLite. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("errcode" in error) return Number(error.errcode) & 0xff;
  // Errors thrown by `all` and `iterate` have a message but no result code.
  if (!("code" in error) || error.code !== "ERR_SQLITE_ERROR") return undefined;
  return codesByMessage.find(([words]) => error.message.includes(words))?.[1] ?? sqliteError;
}

/** Maps a failed read to a damage error or a disk error. Other errors are returned unchanged. */
export function toReadError(error: unknown, what: string): unknown {
  const code = sqliteCode(error);
  if (code === undefined) return error;
  if (isDamage(code) || code === sqliteError) {
    return new StoreError("Damaged", { detail: `The stored data is damaged: ${what}.`, cause: error });
  }
  const detail = `${what} could not be read.`;
  return new StoreError("ServiceUnavailable", { detail, cause: error, notDone: true });
}

/** Like `toReadError`, but maps every other error to a damage error: the row cannot be decoded. */
export function toDamageError(error: unknown, what: string): StoreError {
  const mapped = toReadError(error, what);
  if (mapped instanceof StoreError) return mapped;
  return new StoreError("Damaged", { detail: `The stored data is damaged: ${what}.`, cause: mapped });
}

/** Whether the code means damage. SQLite also uses these codes if the disk fails to read. */
export function isDamage(code: number | undefined): boolean {
  return code === sqliteCorrupt || code === sqliteNotADatabase;
}

/** Creates an error like SQLite's for damage that Store's own checks have found. */
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

/** Reads the schema version of a database without changing it; undefined if it does not exist. */
export function readUserVersion(path: string): number | undefined {
  if (!existsSync(path)) return undefined;
  const url = pathToFileURL(path);
  url.searchParams.set("mode", "ro");
  const database = new DatabaseSync(url, { timeout: busyMilliseconds }) as Database;
  try {
    return Number(pragma(database, "user_version"));
  } finally {
    database.close();
  }
}
