// Queries of the versions of one key: the current object and the rows of the history. Both tables
// are read in one snapshot, because a commit moves versions between them.
import { Buffer } from "node:buffer";
import { decodeObject } from "../../../engine/codec/record-codec.ts";
import type { InspectedVersion, ObjectWithBody, StoredVersion } from "../../../engine/records.ts";
import { keyBytes } from "../../../model/key.ts";
import { isDeleteMarker, isVersionNamed, nullVersion, type Version } from "../../../model/version.ts";
import { blobContext, damagedError, verifyText } from "../../rows/checksum.ts";
import { decodeHistoryRow } from "../../rows/history-row.ts";
import { type BodyRow, type ReadParts, toBody } from "../../rows/stored-body.ts";
import { existenceKey, inSnapshot, lostError, unindexedError } from "../existence-index.ts";
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
  shownUntil: number,
  isOldest: number,
  orderChecksum: string,
  size: number,
];
type HistoryBodyRow = readonly [...VersionColumns, key: Uint8Array];

export function createHistoryQueries(database: Database, partLists: PartLists): HistoryQueries {
  const sql = prepareStatements(database);
  let indexes: IndexChecks | undefined;

  function current(key: string, bytes: Uint8Array): ObjectWithBody | undefined {
    const row = sql.object.get(bytes);
    return row && toCurrent(key, row, partLists.get);
  }

  /** Throws if the existence index has the key's object, which was not found: its row was lost. */
  function throwIfObjectLost(key: string, bytes: Uint8Array): void {
    if (sql.existence.get(existenceKey.object(bytes)) !== undefined)
      throw lostError(`the record of "${key}"`);
  }

  /** Throws if the history has the version, which was not found. */
  function throwIfVersionLost(key: string, bytes: Uint8Array, id: string): void {
    if (sql.existence.get(existenceKey.version(bytes, id)) !== undefined)
      throw lostError(`a version of "${key}"`);
    if (id === nullVersion && sql.existence.get(existenceKey.nullVersion(bytes)) !== undefined)
      throw lostError(`the null version of "${key}"`);
  }

  /** Throws if the history has any version of the key, none of which was found. */
  function throwIfHistoryLost(key: string, bytes: Uint8Array): void {
    if (sql.anyIndexed.get(...existenceKey.versionsOf(bytes)) !== undefined)
      throw damagedError(`the index of the versions of "${key}"`);
  }

  /** Like `objectAt`, and detects a lost row and a damaged index. */
  function objectAtChecked(key: string, bytes: Uint8Array, time: number): ObjectWithBody | undefined {
    return inSnapshot(database, () => {
      const newest = current(key, bytes);
      if (newest !== undefined && newest.record.uploaded <= time) return newest;
      if (newest === undefined) throwIfObjectLost(key, bytes);
      const row = sql.historyAt.get(bytes, time);
      if (row !== undefined) return toObjectAt(row, bytes, time, partLists.get);
      // Any older version would be shown until the current one, and a current marker until infinity.
      throwIfHistoryLost(key, bytes);
      return undefined;
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
        if (row !== undefined) return toStoredVersion(row, bytes, partLists.get);
        if (newest === undefined) throwIfObjectLost(key, bytes);
        throwIfVersionLost(key, bytes, id);
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
        throwIfObjectLost(key, bytes);
        throwIfHistoryLost(key, bytes);
        return undefined;
      });
    },
    objectAt(key, time) {
      const bytes = keyBytes(key);
      // A row of the history shows by itself that it is right. A list of parts needs a snapshot.
      const row = sql.historyAt.get(bytes, time);
      const isCommon = row !== undefined && row[5] === null;
      return isCommon ? toObjectAt(row, bytes, time, partLists.get) : objectAtChecked(key, bytes, time);
    },
    historyEntries: (after) => sql.entries.all(after).map(([entry]) => entry),
    inspectEntry(entry) {
      return inSnapshot(database, () => {
        const row = sql.byEntry.get(entry);
        if (row === undefined) return undefined;
        const { version, body } = toStoredVersion(row, row[15], partLists.inspect);
        const isNull = version.isVersioned !== true;
        if (
          sql.existence.get(existenceKey.version(row[15], version.version)) === undefined ||
          (isNull && sql.existence.get(existenceKey.nullVersion(row[15])) === undefined)
        )
          throw unindexedError(`a version of "${version.key}"`);
        indexes ??= prepareIndexChecks(database);
        if (!indexes.areSound(row)) throw damagedError(`the index of the versions of "${version.key}"`);
        return { version, body };
      });
    },
    isShared: (blob) => sql.shared.get(blob) !== undefined,
    entryKey(entry) {
      const key: unknown = sql.byEntry.get(entry)?.[15];
      return key instanceof Uint8Array ? Buffer.from(key).toString() : "";
    },
  };
}

/**
 * Returns what the row shows at the time, undefined for a delete marker or before the oldest version.
 * Throws if the index has led to another row.
 */
function toObjectAt(
  row: HistoryBodyRow,
  key: Uint8Array,
  time: number,
  readParts: ReadParts,
): ObjectWithBody | undefined {
  const { version, body } = toStoredVersion(row, key, readParts);
  const isShown = version.uploaded <= time;
  const isFound = row[11] > time && (isShown || row[12] !== 0);
  if (!isFound) throw damagedError(`the index of the versions of "${version.key}"`);
  return isShown && !isDeleteMarker(version) ? { record: version, body: body! } : undefined;
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
  const [record, blob, stored, inline, , manifest, entry, version, versioned, since, until] = row;
  const { 11: shown_until, 12: is_oldest, 13: order_checksum, 14: size } = row;
  const decoded = decodeHistoryRow({
    entry,
    key,
    version,
    versioned,
    since,
    until,
    shown_until,
    is_oldest,
    order_checksum,
    size,
    inline,
    blob,
    stored,
    manifest,
    record,
  });
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
  const byKey = check("history_key", "key = ? AND shown_until = ? AND entry = ?");
  const byNull = check("history_null", "key = ? AND versioned = 0 AND entry = ?");
  return {
    areSound({ 6: entry, 8: versioned, 11: shownUntil, 15: key }) {
      const isNullFound = versioned !== 0 || byNull.get(key, entry) !== undefined;
      return isNullFound && byKey.get(key, shownUntil, entry) !== undefined;
    },
  };
}

function prepareStatements(database: Database) {
  const sql = <Row extends readonly unknown[]>(text: string) => prepareArrays<Row>(database, text);
  const joins = "LEFT JOIN bodies ON bodies.id = inline";
  const order = "since, until, shown_until, is_oldest, order_checksum";
  const columns = `inline, bytes, manifest, entry, version, versioned, ${order}, size`;
  const select = `SELECT record, blob, stored, ${columns}, key FROM history ${joins}`;
  return {
    object: sql<BodyRow>(
      `SELECT record, blob, stored, inline, bytes, manifest FROM objects ${joins} WHERE key = ?`,
    ),
    byVersion: sql<HistoryBodyRow>(`${select} WHERE version = ? AND key = ?`),
    byNull: sql<HistoryBodyRow>(`${select} WHERE key = ? AND versioned = 0`),
    byEntry: sql<HistoryBodyRow>(`${select} WHERE entry = ?`),
    newest: sql<HistoryBodyRow>(`${select} WHERE key = ? ORDER BY shown_until DESC, entry DESC LIMIT 1`),
    // The oldest version that is shown after the time.
    historyAt: sql<HistoryBodyRow>(
      `${select} WHERE key = ? AND shown_until > ? ORDER BY shown_until, entry LIMIT 1`,
    ),
    entries: sql<[entry: number]>("SELECT entry FROM history WHERE entry > ? ORDER BY entry LIMIT 256"),
    shared: sql("SELECT 1 FROM shared WHERE blob = ?"),
    existence: sql("SELECT 1 FROM witness WHERE place = ?"),
    anyIndexed: sql("SELECT 1 FROM witness WHERE place >= ? AND place < ? LIMIT 1"),
  };
}
