// Listings that also read the history: the objects as of an instant, and all versions. Each merges
// an ordered scan of the objects with an ordered scan of the history, in batches.
import { decodeObject } from "../../../engine/codec/record-codec.ts";
import { decodeVersion } from "../../../engine/codec/version-codec.ts";
import type { ListedVersion, VersionPage, VersionScan } from "../../../engine/records.ts";
import { compareKeys, keyBytes } from "../../../model/key.ts";
import {
  collectPage,
  collectVersionPage,
  type Page,
  type Position,
  type Scan,
  type VersionPosition,
} from "../../../model/listing.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import { isDeleteMarker, isVersionNamed, nullVersion, type Version } from "../../../model/version.ts";
import { damagedError, verifyText } from "../../rows/checksum.ts";
import { untilChecksum } from "../../rows/history-row.ts";
import { isLater } from "../../rows/object-row.ts";
import { inSnapshot } from "../existence-index.ts";
import { type Database, prepareArrays } from "../sqlite.ts";
import { firstBatch, keyAfter, keyRange, nextBatch } from "./key-range.ts";

export interface VersionListing {
  objectsAt(scan: Scan, time: number): Page<ObjectRecord>;
  versions(scan: VersionScan): VersionPage;
}

/** The context is that of the record's checksum. It is null for a delete marker. */
type ListedRow = readonly [record: string, context: string | null, key: ListedKey];
type PastRow = readonly [...ListedRow, until: number, entry: number];
type HistoryRow = readonly [...PastRow, untilChecksum: string];
/** A key as text, which the driver reads three times faster than bytes but cuts off at NUL. */
type ListedKey = string | Uint8Array;

interface PastScan {
  readonly time: number;
  readonly batch: number;
  /** Number of keys without an object at the time. */
  skipped: number;
  /** The last key that was read, if the scan ended early. */
  stoppedAt: string | undefined;
}

/** A page ends after this many keys without an object, so that it does not block other requests. */
const maxSkipped = 10_000;

export function createVersionListing(database: Database): VersionListing {
  const sql = prepareStatements(database);

  /** Ends early after many keys that were not current at the time, and reports where. */
  function* seekAt(prefix: string, after: Position, scan: PastScan): Iterable<ObjectRecord> {
    const { time } = scan;
    let [from, end] = keyRange(prefix, after);
    for (let limit = scan.batch; ; limit = nextBatch(limit)) {
      const objects = sql.objects.all(from, end, limit);
      const past = sql.historyAt.all(from, end, time, limit);
      const last = lastWholeKey(lastKey(objects, limit), lastKey(past, limit));
      for (const { object, history } of mergeByKey(objects, past, from, last)) {
        const record = (object && toObjectAt(object, time)) ?? toVersionAt(history[0], time, object);
        if (record !== undefined) yield record;
        else scan.skipped++;
      }
      if (last === undefined) return;
      if (scan.skipped > maxSkipped) {
        scan.stoppedAt = last;
        return;
      }
      from = keyAfter(keyBytes(last));
    }
  }

  /** Returns the object that the history has for the time. Undefined if it is a delete marker. */
  function toVersionAt(
    row: PastRow | undefined,
    time: number,
    object: ListedRow | undefined,
  ): ObjectRecord | undefined {
    if (row === undefined) return undefined;
    const version = toVersion(row);
    if (version.uploaded > time || row[3] <= time) checkNewer(row, time, object);
    return isDeleteMarker(version) ? undefined : version;
  }

  /** Throws if a version that is newer than the row existed at the time: the index is damaged. */
  function checkNewer(row: PastRow, time: number, object: ListedRow | undefined): void {
    const rows = [row, ...sql.newer.all(keyBytes(keyText(row[2])), row[4])];
    // Without a current object, the newest version is a current delete marker.
    if (object === undefined && !rows.some((one) => one[3] === Number.POSITIVE_INFINITY))
      throw damagedError("the newest version of a key");
    for (const newer of rows) {
      const { key, uploaded } = toVersion(newer);
      if (newer === row ? uploaded > time : uploaded <= time)
        throw damagedError(`the index of the versions of "${key}"`);
    }
  }

  function* seekVersions(prefix: string, after: VersionPosition, batch: number): Iterable<ListedVersion> {
    let [from, end] = keyRange(prefix, after);
    const resumed = after.kind === "key" && after.version !== undefined ? keyBytes(after.value) : undefined;
    if (resumed !== undefined && after.value.startsWith(prefix)) {
      const entry = findEntry(resumed, after.version!);
      if (entry === undefined) from = resumed;
      else yield* restOfKey(resumed, entry, batch);
    }
    for (let limit = batch; ; limit = nextBatch(limit)) {
      const objects = sql.objects.all(from, end, limit);
      const past = sql.history.all(from, end, limit);
      const lastPast = lastKey(past, limit);
      const last = lastWholeKey(lastKey(objects, limit), lastPast);
      for (const { object, history } of mergeByKey(objects, past, from, last)) {
        if (object !== undefined)
          yield { version: toObject(object), isCurrent: true, until: Number.POSITIVE_INFINITY };
        for (const row of history) yield toListed(row);
      }
      if (last === undefined) return;
      // The batch may end within the versions of a key.
      const bytes = keyBytes(last);
      if (last === lastPast) yield* restOfKey(bytes, past.at(-1)![4], limit);
      from = keyAfter(bytes);
    }
  }

  /** Yields the versions of a key before an entry of the history, the newest first. */
  function* restOfKey(key: Uint8Array, before: number, batch: number): Iterable<ListedVersion> {
    let entry = before;
    for (let limit = batch; ; limit = nextBatch(limit)) {
      const rows = sql.historyOfKey.all(key, entry, limit);
      for (const row of rows) yield toListed(row);
      if (rows.length < limit) return;
      entry = rows.at(-1)![4];
    }
  }

  /** Returns the entry after which older versions follow. Undefined if the version is gone. */
  function findEntry(key: Uint8Array, id: string): number | undefined {
    const [object] = sql.objects.all(key, keyAfter(key), 1);
    if (object !== undefined && isVersionNamed(toObject(object), id)) return Number.MAX_SAFE_INTEGER;
    return (sql.entry.get(id, key) ?? (id === nullVersion ? sql.nullEntry.get(key) : undefined))?.[0];
  }

  // One snapshot and one lock for the whole page instead of one per seek.
  return {
    objectsAt(scan, time) {
      const past: PastScan = { time, batch: firstBatch(scan), skipped: 0, stoppedAt: undefined };
      const page = inSnapshot(database, () =>
        collectPage((prefix, after) => seekAt(prefix, after, past), scan),
      );
      if (past.stoppedAt === undefined || page.next !== undefined) return page;
      return { entries: page.entries, next: { kind: "key", value: past.stoppedAt } };
    },
    versions: (scan) =>
      inSnapshot(database, () =>
        collectVersionPage((prefix, after) => seekVersions(prefix, after, firstBatch(scan)), scan),
      ),
  };
}

/** Returns the last key of a full batch. Undefined if the batch reached the end of the range. */
function lastKey(rows: readonly (ListedRow | PastRow | HistoryRow)[], limit: number): string | undefined {
  return rows.length < limit || rows.length === 0 ? undefined : keyText(rows.at(-1)![2]);
}

function keyText(key: ListedKey): string {
  return typeof key === "string" ? key : Buffer.from(key).toString();
}

/** Returns the last key up to which both batches are complete. Undefined if both are at the end. */
function lastWholeKey(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareKeys(a, b) < 0 ? a : b;
}

interface KeyRows<Row> {
  readonly object: ListedRow | undefined;
  readonly history: readonly Row[];
}

/** Yields the rows of each key from `from` up to and including `last`, in key order. */
function* mergeByKey<Row extends PastRow | HistoryRow>(
  objects: readonly ListedRow[],
  past: readonly Row[],
  from: Uint8Array,
  last: string | undefined,
): Iterable<KeyRows<Row>> {
  let [atObject, atPast] = [0, 0];
  let previous: string | undefined;
  for (;;) {
    const [object, first] = [objects[atObject], past[atPast]];
    if (object === undefined && first === undefined) return;
    const order = compareRows(object, first);
    const key = keyText(order <= 0 ? object![2] : first![2]);
    // Rows out of order are damage. A listing that goes back could also loop forever.
    const isInOrder =
      previous === undefined ? Buffer.compare(keyBytes(key), from) >= 0 : compareKeys(key, previous) > 0;
    if (!isInOrder) throw damagedError("the order of the index");
    if (last !== undefined && previous === last) return;
    if (order <= 0) atObject++;
    const start = atPast;
    if (order >= 0) while (atPast < past.length && keyText(past[atPast]![2]) === key) atPast++;
    yield { object: order <= 0 ? object : undefined, history: past.slice(start, atPast) };
    previous = key;
  }
}

/** Orders two rows by key. A missing row sorts last. */
function compareRows(a: ListedRow | undefined, b: PastRow | HistoryRow | undefined): number {
  if (a === undefined) return 1;
  return b === undefined ? -1 : compareKeys(keyText(a[2]), keyText(b[2]));
}

function toObject([text, context, key]: ListedRow): ObjectRecord {
  const record = decodeObject(verifyText(text, "a listed record", context ?? ""));
  checkKey(record, key);
  return record;
}

/** Returns the object if it was written at or before the time. */
function toObjectAt([text, context, key]: ListedRow, time: number): ObjectRecord | undefined {
  const checked = verifyText(text, "a listed record", context ?? "");
  // Decoding the records that are not listed would take a quarter of the page's time.
  if (isLater(checked, time)) return undefined;
  const record = decodeObject(checked);
  checkKey(record, key);
  return record.uploaded <= time ? record : undefined;
}

function toVersion([text, context, key]: PastRow | HistoryRow): Version {
  const checked = verifyText(text, "a listed version", context ?? "");
  const version = decodeVersion(checked, context === null);
  checkKey(version, key);
  return version;
}

function checkKey(version: Version, key: ListedKey): void {
  if (version.key !== keyText(key)) throw damagedError(`the key of "${version.key}" in the index`);
}

function toListed(row: HistoryRow): ListedVersion {
  const version = toVersion(row);
  const until = row[3];
  if (untilChecksum(version.version, until) !== row[5]) throw damagedError(`a version of "${version.key}"`);
  return { version, isCurrent: until === Number.POSITIVE_INFINITY, until };
}

function prepareStatements(database: Database) {
  const sql = <Row extends readonly unknown[]>(text: string) => prepareArrays<Row>(database, text);
  // Few columns, because each takes about a tenth of the time of its row.
  const key = "CASE WHEN instr(key, x'00') > 0 THEN key ELSE CAST(key AS TEXT) END";
  const context = "blob || ' ' || stored";
  const noBlob = "CASE WHEN inline IS NULL AND manifest IS NULL THEN NULL ELSE '' END";
  const pastColumns = `record, coalesce(${context}, ${noBlob}), ${key}`;
  const columns = `${pastColumns}, until, entry, until_checksum`;
  const range = "WHERE key >= ? AND key < ?";
  return {
    objects: sql<ListedRow>(
      `SELECT record, ${context}, ${key} FROM objects ${range} ORDER BY objects.key LIMIT ?`,
    ),
    history: sql<HistoryRow>(`SELECT ${columns} FROM history ${range} ORDER BY key, entry DESC LIMIT ?`),
    historyOfKey: sql<HistoryRow>(
      `SELECT ${columns} FROM history WHERE key = ? AND entry < ? ORDER BY entry DESC LIMIT ?`,
    ),
    newer: sql<HistoryRow>(`SELECT ${columns} FROM history WHERE key = ? AND entry > ?`),
    // The inner query reads only the index, in key order.
    historyAt: sql<PastRow>(
      `SELECT ${pastColumns}, until, entry FROM (SELECT max(entry) AS newest FROM history ${range} AND since <= ? ` +
        "GROUP BY key LIMIT ?) CROSS JOIN history ON entry = newest",
    ),
    entry: sql<[entry: number]>("SELECT entry FROM history WHERE version = ? AND key = ?"),
    nullEntry: sql<[entry: number]>("SELECT entry FROM history WHERE key = ? AND versioned = 0"),
  };
}
