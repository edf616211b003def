// Queries of the versions of one key: the current object and the rows of the history. Both tables
// are read in one snapshot, because a commit moves versions between them.
import { decodeObject } from "../../../engine/codec/record-codec.ts";
import type { InspectedVersion, ObjectWithBody, StoredVersion } from "../../../engine/records.ts";
import { keyBytes } from "../../../model/key.ts";
import { isDeleteMarker, isVersionNamed, nullVersion, type Version } from "../../../model/version.ts";
import { blobContext, damagedError, verifyText } from "../../rows/checksum.ts";
import { decodeHistoryRow } from "../../rows/history-row.ts";
import { isLater } from "../../rows/object-row.ts";
import { type BodyRow, type ReadParts, toBody } from "../../rows/stored-body.ts";
import {
  existenceKey,
  inSnapshot,
  lostError,
  parseExistenceKey,
  unindexedError,
} from "../existence-index.ts";
import type { PartLists } from "../part-lists.ts";
import { type Database, prepareArrays } from "../sqlite.ts";

export interface HistoryQueries {
  version(key: string, id: string): StoredVersion | undefined;
  newestVersion(key: string): Version | undefined;
  objectAt(key: string, time: number): ObjectWithBody | undefined;
  /** Returns the next entries of the history after `after`. */
  historyEntries(after: number): number[];
  /** Verifies a row of the history. Undefined if the entry does not exist. */
  inspectEntry(entry: number): Extract<InspectedVersion["found"], { version: Version }> | undefined;
  /** Whether several versions have the blob as their body or as a part of it. */
  isShared(blob: string): boolean;
  /** Returns the key of an entry, not verified. */
  entryKey(entry: number): string;
}

type VersionColumns = readonly [
  ...BodyRow,
  entry: number,
  version: string,
  versioned: number,
  since: number,
  until: number,
  size: number,
  untilChecksum: string,
];
type HistoryBodyRow = readonly [...VersionColumns, key: Uint8Array];
/** A version and the current object of the same key. Without such a version, its columns are null. */
type VersionAndCurrent = readonly [
  ...VersionColumns,
  currentRecord: string,
  currentBlob: string | null,
  currentStored: number | null,
];

export function createHistoryQueries(database: Database, partLists: PartLists): HistoryQueries {
  const sql = prepareStatements(database);
  let indexes: IndexChecks | undefined;

  function current(key: string, bytes: Uint8Array): ObjectWithBody | undefined {
    const row = sql.object.get(bytes);
    return row && toCurrent(key, row, partLists.get);
  }

  /**
   * Throws if the existence index has a version of the key that was not found: its row was lost. With
   * "null", also if the key has a null version, which its own index did not find; with "newest", also
   * if it has any version, which the index of keys did not find.
   */
  function throwIfLost(key: string, bytes: Uint8Array, wanted: "any" | "null" | "newest" = "any"): void {
    if (sql.existence.get(existenceKey.object(bytes)) !== undefined && sql.object.get(bytes) === undefined)
      throw lostError(`the record of "${key}"`);
    for (const [indexKey] of sql.indexed.all(...existenceKey.versionsOf(bytes))) {
      const entry = parseExistenceKey(indexKey);
      const isOther = entry?.kind === "version" && Buffer.compare(entry.key, bytes) !== 0;
      if (isOther) continue;
      const row = entry?.kind === "version" ? sql.exists.get(entry.version, bytes) : undefined;
      if (row === undefined) throw lostError(`a version of "${key}"`);
      if (wanted === "null" && row[0] === 0) throw lostError(`the null version of "${key}"`);
      if (wanted === "newest") throw damagedError(`the index of the versions of "${key}"`);
    }
  }

  /** Throws if a version after this entry existed at the time: the index did not find it. */
  function checkNewer(key: string, entry: number, time: number): void {
    const bytes = keyBytes(key);
    // Found by their ids, because damage in one place can hide several versions in the index of keys.
    for (const [indexKey] of sql.indexed.all(...existenceKey.versionsOf(bytes))) {
      const indexed = parseExistenceKey(indexKey);
      if (indexed?.kind !== "version" || Buffer.compare(indexed.key, bytes) !== 0) continue;
      const row = sql.byVersion.get(indexed.version, bytes);
      if (row === undefined) throw lostError(`a version of "${key}"`);
      if (row[6] > entry && toStoredVersion(row, bytes, partLists.get).version.uploaded <= time)
        throw damagedError(`the index of the versions of "${key}"`);
    }
  }

  /** Like `objectAt`, and detects a lost row and a damaged index of times. */
  function objectAtChecked(key: string, bytes: Uint8Array, time: number): ObjectWithBody | undefined {
    return inSnapshot(database, () => {
      const newest = current(key, bytes);
      if (newest !== undefined && newest.record.uploaded <= time) return newest;
      if (newest === undefined && sql.existence.get(existenceKey.object(bytes)) !== undefined)
        throw lostError(`the record of "${key}"`);
      const row = sql.historyAt.get(bytes, time);
      if (row === undefined) {
        throwIfLost(key, bytes);
        checkNewer(key, 0, time);
        return undefined;
      }
      const { version, body } = toStoredVersion(row, row[13], partLists.get);
      if (version.uploaded > time) throw damagedError(`the index of the versions of "${key}"`);
      if (row[10] <= time) checkNewer(key, row[6], time);
      return isDeleteMarker(version) ? undefined : { record: version, body: body! };
    });
  }

  function findInHistory(bytes: Uint8Array, id: string): HistoryBodyRow | undefined {
    return sql.byVersion.get(id, bytes) ?? (id === nullVersion ? sql.byNull.get(bytes) : undefined);
  }

  return {
    version(key, id) {
      const bytes = keyBytes(key);
      return inSnapshot(database, () => {
        const newest = current(key, bytes);
        if (newest !== undefined && isVersionNamed(newest.record, id))
          return { version: newest.record, body: newest.body, isCurrent: true };
        const row = findInHistory(bytes, id);
        if (row !== undefined) return toStoredVersion(row, row[13], partLists.get);
        if (id === nullVersion || sql.existence.get(existenceKey.version(bytes, id)) !== undefined)
          throwIfLost(key, bytes, id === nullVersion ? "null" : "any");
        else if (newest === undefined && sql.existence.get(existenceKey.object(bytes)) !== undefined)
          throw lostError(`the record of "${key}"`);
        return undefined;
      });
    },
    newestVersion(key) {
      const bytes = keyBytes(key);
      return inSnapshot(database, () => {
        const newest = current(key, bytes);
        if (newest !== undefined) return newest.record;
        const row = sql.newest.get(bytes);
        if (row !== undefined && row[10] === Number.POSITIVE_INFINITY)
          return toStoredVersion(row, bytes, partLists.get).version;
        // Without a current object, the newest version is a delete marker.
        if (row !== undefined) throw lostError(`the newest version of "${key}"`);
        throwIfLost(key, bytes, "newest");
        return undefined;
      });
    },
    objectAt(key, time) {
      const bytes = keyBytes(key);
      // One statement reads both tables in one snapshot. Anything unusual is read again and checked.
      const row = sql.at.get(bytes, time);
      const isCommon = row !== undefined && row[5] === null && isReplacedAfter(key, row, time);
      return isCommon ? toObjectAt(key, row, time, partLists.get) : objectAtChecked(key, bytes, time);
    },
    historyEntries: (after) => sql.entries.all(after).map(([entry]) => entry),
    inspectEntry(entry) {
      return inSnapshot(database, () => {
        const row = sql.byEntry.get(entry);
        if (row === undefined) return undefined;
        const { version, body } = toStoredVersion(row, row[13], partLists.inspect);
        if (sql.existence.get(existenceKey.version(row[13], version.version)) === undefined)
          throw unindexedError(`a version of "${version.key}"`);
        indexes ??= prepareIndexChecks(database);
        if (!indexes.areSound(row)) throw damagedError(`the index of the versions of "${version.key}"`);
        return { version, body };
      });
    },
    isShared: (blob) => sql.shared.get(blob) !== undefined,
    entryKey(entry) {
      const key: unknown = sql.byEntry.get(entry)?.[13];
      return key instanceof Uint8Array ? Buffer.from(key).toString() : "";
    },
  };
}

/** Returns undefined for a delete marker. Throws if the index has led to a later version. */
function toObjectAt(
  key: string,
  row: VersionAndCurrent,
  time: number,
  readParts: ReadParts,
): ObjectWithBody | undefined {
  const { version, body } = toStoredVersion(row, keyBytes(key), readParts);
  if (version.uploaded > time) throw damagedError(`the index of the versions of "${key}"`);
  return isDeleteMarker(version) ? undefined : { record: version, body: body! };
}

/** Whether the version was replaced after the time, and the current object written after it too. */
function isReplacedAfter(key: string, row: VersionAndCurrent, time: number): boolean {
  const { 10: until, 13: record, 14: blob, 15: stored } = row;
  // Null if no version existed at the time.
  if (!(until > time)) return false;
  return isLater(verifyText(record, `the record of "${key}"`, blobContext(blob, stored)), time);
}

function toCurrent(key: string, row: BodyRow, readParts: ReadParts): ObjectWithBody {
  const [checked, blob, stored] = row;
  const record = decodeObject(verifyText(checked, `the record of "${key}"`, blobContext(blob, stored)));
  if (record.key !== key) throw damagedError(`the record of "${key}", which is that of "${record.key}",`);
  return { record, body: toBody(record, row, readParts) };
}

function toStoredVersion(
  row: readonly [...VersionColumns, ...unknown[]],
  key: Uint8Array,
  readParts: ReadParts,
): StoredVersion {
  const [record, blob, stored, inline, , manifest, entry, version, versioned, since, until, size] = row;
  const until_checksum = row[12];
  const columns = {
    entry,
    key,
    version,
    versioned,
    since,
    until,
    until_checksum,
    size,
    inline,
    blob,
    stored,
    manifest,
    record,
  };
  const decoded = decodeHistoryRow(columns);
  const isCurrent = until === Number.POSITIVE_INFINITY;
  if (isDeleteMarker(decoded)) return { version: decoded, body: undefined, isCurrent };
  return { version: decoded, body: toBody(decoded, row, readParts), isCurrent };
}

interface IndexChecks {
  /** Whether the indexes that find a version by its key lead to the row. */
  areSound(row: HistoryBodyRow): boolean;
}

/** Prepared only for verification: the statements need the indexes, which damage may have renamed. */
function prepareIndexChecks(database: Database): IndexChecks {
  const check = (index: string, conditions: string) =>
    prepareArrays(database, `SELECT 1 FROM history INDEXED BY ${index} WHERE ${conditions}`);
  const byKey = check("history_key", "key = ? AND entry = ? AND since = ?");
  const byNull = check("history_null", "key = ? AND versioned = 0 AND entry = ?");
  return {
    areSound({ 6: entry, 8: versioned, 9: since, 13: key }) {
      const isNullFound = versioned !== 0 || byNull.get(key, entry) !== undefined;
      return isNullFound && byKey.get(key, entry, since) !== undefined;
    },
  };
}

function prepareStatements(database: Database) {
  const sql = <Row extends readonly unknown[]>(text: string) => prepareArrays<Row>(database, text);
  const joins = "LEFT JOIN bodies ON bodies.id = inline";
  const columns = "inline, bytes, manifest, entry, version, versioned, since, until, size, until_checksum";
  const select = `SELECT record, blob, stored, ${columns}, key FROM history ${joins}`;
  return {
    object: sql<BodyRow>(
      `SELECT record, blob, stored, inline, bytes, manifest FROM objects ${joins} WHERE key = ?`,
    ),
    byVersion: sql<HistoryBodyRow>(`${select} WHERE version = ? AND key = ?`),
    byNull: sql<HistoryBodyRow>(`${select} WHERE key = ? AND versioned = 0`),
    byEntry: sql<HistoryBodyRow>(`${select} WHERE entry = ?`),
    newest: sql<HistoryBodyRow>(`${select} WHERE key = ? ORDER BY entry DESC LIMIT 1`),
    historyAt: sql<HistoryBodyRow>(`${select} WHERE key = ? AND since <= ? ORDER BY entry DESC LIMIT 1`),
    at: sql<VersionAndCurrent>(
      "SELECT h.record, h.blob, h.stored, h.inline, bytes, h.manifest, h.entry, h.version, h.versioned, " +
        "h.since, h.until, h.size, h.until_checksum, o.record, o.blob, o.stored " +
        "FROM objects o LEFT JOIN history h ON h.entry = " +
        "(SELECT entry FROM history WHERE key = o.key AND since <= ?2 ORDER BY entry DESC LIMIT 1) " +
        "LEFT JOIN bodies ON bodies.id = h.inline " +
        "WHERE o.key = ?1",
    ),
    entries: sql<[entry: number]>("SELECT entry FROM history WHERE entry > ? ORDER BY entry LIMIT 256"),
    shared: sql("SELECT 1 FROM shared WHERE blob = ?"),
    exists: sql<[versioned: number]>("SELECT versioned FROM history WHERE version = ? AND key = ?"),
    existence: sql("SELECT 1 FROM witness WHERE place = ?"),
    indexed: sql<[indexKey: Uint8Array]>("SELECT place FROM witness WHERE place >= ? AND place < ?"),
  };
}
