// Listings that also read the history: the objects as of an instant, and all versions. Each merges
// an ordered scan of the objects with an ordered scan of the history, in batches.
import { Buffer } from "node:buffer";
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
import { isSoundOrder } from "../../rows/history-row.ts";
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
type HistoryRow = readonly [
  ...ListedRow,
  until: number,
  entry: number,
  shownUntil: number,
  isOldest: number,
  orderChecksum: string,
];
/** A key of the history without a version that is shown after the time. */
type EndedRow = readonly [record: null, context: null, key: ListedKey];
/** A key as text, which the driver reads three times faster than bytes but cuts off at NUL. */
type ListedKey = string | Uint8Array;

/** A position in the order of a key's versions. */
type OrderPosition = readonly [shownUntil: number, entry: number];
const newestPosition: OrderPosition = [Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER];

interface PastScan {
  readonly time: number;
  readonly batch: number;
  /** Number of keys without an object at the time. */
  skipped: number;
  /** The last key that was read, if the scan ended early. */
  stoppedAt: string | undefined;
}

/** A page ends after this many keys without an object, so that it does not block other requests. */
export const maxSkipped = 10_000;

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
        const record = (object && toObjectAt(object, time)) ?? toVersionAt(history[0], time);
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

  function* seekVersions(prefix: string, after: VersionPosition, batch: number): Iterable<ListedVersion> {
    let [from, end] = keyRange(prefix, after);
    const resumed = after.kind === "key" && after.version !== undefined ? keyBytes(after.value) : undefined;
    if (resumed !== undefined && after.value.startsWith(prefix)) {
      const position = findPosition(resumed, after.version!);
      if (position === undefined) from = resumed;
      else yield* restOfKey(resumed, position, batch);
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
      if (last === lastPast) yield* restOfKey(bytes, toPosition(past.at(-1)!), limit);
      from = keyAfter(bytes);
    }
  }

  /** Yields the versions of a key that are older than a position, the newest first. */
  function* restOfKey(key: Uint8Array, before: OrderPosition, batch: number): Iterable<ListedVersion> {
    let position = before;
    for (let limit = batch; ; limit = nextBatch(limit)) {
      const rows = sql.historyOfKey.all(key, ...position, limit);
      for (const row of rows) yield toListed(row);
      if (rows.length < limit) return;
      position = toPosition(rows.at(-1)!);
    }
  }

  /** Returns the position after which older versions follow. Undefined if the version is gone. */
  function findPosition(key: Uint8Array, id: string): OrderPosition | undefined {
    const [object] = sql.objects.all(key, keyAfter(key), 1);
    if (object !== undefined && isVersionNamed(toObject(object), id)) return newestPosition;
    return sql.position.get(id, key) ?? (id === nullVersion ? sql.nullPosition.get(key) : undefined);
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
function lastKey(rows: readonly (ListedRow | HistoryRow | EndedRow)[], limit: number): string | undefined {
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

function toPosition({ 4: entry, 5: shownUntil }: HistoryRow): OrderPosition {
  return [shownUntil, entry];
}

interface KeyRows<Row> {
  readonly object: ListedRow | undefined;
  readonly history: readonly Row[];
}

/** Yields the rows of each key from `from` up to and including `last`, in key order. */
function* mergeByKey<Row extends HistoryRow | EndedRow>(
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
function compareRows(a: ListedRow | undefined, b: HistoryRow | EndedRow | undefined): number {
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

function toVersion(row: HistoryRow): Version {
  const [text, context, key, until, , shown_until, is_oldest, order_checksum] = row;
  const checked = verifyText(text, "a listed version", context ?? "");
  const decoded = decodeVersion(checked, context === null);
  checkKey(decoded, key);
  const { version } = decoded;
  if (!isSoundOrder({ version, until, shown_until, is_oldest, order_checksum }))
    throw damagedError(`a version of "${decoded.key}"`);
  return decoded;
}

/** Returns the object that the row shows at the time. Throws if the index has led to another row. */
function toVersionAt(row: HistoryRow | EndedRow | undefined, time: number): ObjectRecord | undefined {
  if (row === undefined) return undefined;
  // All versions have ended, but the current object is newer.
  if (row[0] === null) throw damagedError(`the index of the versions of "${keyText(row[2])}"`);
  const version = toVersion(row);
  const { 5: shownUntil, 6: isOldest } = row;
  const isShown = version.uploaded <= time;
  if (shownUntil <= time || (!isShown && isOldest === 0))
    throw damagedError(`the index of the versions of "${version.key}"`);
  return isShown && !isDeleteMarker(version) ? version : undefined;
}

function checkKey(version: Version, key: ListedKey): void {
  if (version.key !== keyText(key)) throw damagedError(`the key of "${version.key}" in the index`);
}

function toListed(row: HistoryRow): ListedVersion {
  const until = row[3];
  return { version: toVersion(row), isCurrent: until === Number.POSITIVE_INFINITY, until };
}

function prepareStatements(database: Database) {
  const sql = <Row extends readonly unknown[]>(text: string) => prepareArrays<Row>(database, text);
  // Few columns, because each takes about a tenth of the time of its row.
  const key = (name: string) =>
    `CASE WHEN instr(${name}, x'00') > 0 THEN ${name} ELSE CAST(${name} AS TEXT) END`;
  const context = "blob || ' ' || stored";
  const noBlob = "CASE WHEN inline IS NULL AND manifest IS NULL THEN NULL ELSE '' END";
  const order = "until, entry, shown_until, is_oldest, order_checksum";
  const shownContext = `coalesce(${context}, ${noBlob})`;
  const columns = `record, ${shownContext}, ${key("key")}, ${order}`;
  const range = "WHERE key >= ? AND key < ?";
  const newestFirst = "shown_until DESC, entry DESC";
  const position = "SELECT shown_until, entry FROM history";
  return {
    objects: sql<ListedRow>(
      `SELECT record, ${context}, ${key("key")} FROM objects ${range} ORDER BY objects.key LIMIT ?`,
    ),
    history: sql<HistoryRow>(
      `SELECT ${columns} FROM history ${range} ORDER BY history.key, ${newestFirst} LIMIT ?`,
    ),
    historyOfKey: sql<HistoryRow>(
      `SELECT ${columns} FROM history WHERE key = ? AND (shown_until, entry) < (?, ?) ORDER BY ${newestFirst} LIMIT ?`,
    ),
    // Of each key, the oldest version that is shown after the time. One lookup in the index finds the
    // next key, and one its version, however many versions the keys have.
    historyAt: sql<HistoryRow | EndedRow>(
      "WITH RECURSIVE keys (next) AS (SELECT min(key) FROM history WHERE key >= ?1 AND key < ?2 UNION ALL " +
        "SELECT (SELECT min(key) FROM history WHERE key > next AND key < ?2) FROM keys WHERE next IS NOT NULL LIMIT ?4) " +
        `SELECT record, ${shownContext}, ${key("next")}, ${order} FROM keys LEFT JOIN history ON entry = ` +
        "(SELECT shown.entry FROM history AS shown WHERE shown.key = next AND shown.shown_until > ?3 " +
        "ORDER BY shown.shown_until, shown.entry LIMIT 1) WHERE next IS NOT NULL",
    ),
    position: sql<OrderPosition>(`${position} WHERE version = ? AND key = ?`),
    nullPosition: sql<OrderPosition>(`${position} WHERE key = ? AND versioned = 0`),
  };
}
