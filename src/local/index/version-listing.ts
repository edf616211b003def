// Listings that also read the history: the objects as of an instant, and all versions. Each merges
// an ordered scan of the objects with an ordered scan of the history, in batches.
import { decodeObject } from "../../engine/codec/record-codec.ts";
import { decodeVersion } from "../../engine/codec/version-codec.ts";
import type { ListedVersion, VersionPage, VersionScan } from "../../engine/records.ts";
import { keyBytes } from "../../model/key.ts";
import {
  collectPage,
  collectVersionPage,
  type Page,
  type Position,
  type Scan,
  type VersionPosition,
} from "../../model/listing.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { isDeleteMarker, isVersionNamed, nullVersion, type Version } from "../../model/version.ts";
import { blobContext, damagedError, verifyText } from "../rows/checksum.ts";
import { inSnapshot } from "./existence-index.ts";
import { firstBatch, keyAfter, keyRange, nextBatch } from "./key-range.ts";
import { type Database, prepareArrays } from "./sqlite.ts";

export interface VersionListing {
  objectsAt(scan: Scan, time: number): Page<ObjectRecord>;
  versions(scan: VersionScan): VersionPage;
}

type ObjectRow = readonly [record: string, blob: string | null, stored: number | null, key: Uint8Array];
type PastRow = readonly [...ObjectRow, isMarker: number];
type HistoryRow = readonly [...PastRow, until: number, entry: number];

export function createVersionListing(database: Database): VersionListing {
  const sql = prepareStatements(database);

  function* seekAt(prefix: string, after: Position, time: number, batch: number): Iterable<ObjectRecord> {
    let [from, end] = keyRange(prefix, after);
    for (let limit = batch; ; limit = nextBatch(limit)) {
      const objects = sql.objects.all(from, end, limit);
      const past = sql.historyAt.all(from, end, time, limit);
      const last = lastWholeKey(lastKey(objects, limit), lastKey(past, limit));
      for (const { object, history } of mergeByKey(objects, past, from, last)) {
        const record = (object && toObjectAt(object, time)) ?? (history[0] && toVersionAt(history[0], time));
        if (record !== undefined) yield record;
      }
      if (last === undefined) return;
      from = keyAfter(last);
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
      if (last === lastPast) yield* restOfKey(last, past.at(-1)![6], limit);
      from = keyAfter(last);
    }
  }

  /** Yields the versions of a key before an entry of the history, the newest first. */
  function* restOfKey(key: Uint8Array, before: number, batch: number): Iterable<ListedVersion> {
    let entry = before;
    for (let limit = batch; ; limit = nextBatch(limit)) {
      const rows = sql.historyOfKey.all(key, entry, limit);
      for (const row of rows) yield toListed(row);
      if (rows.length < limit) return;
      entry = rows.at(-1)![6];
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
    objectsAt: (scan, time) =>
      inSnapshot(database, () =>
        collectPage((prefix, after) => seekAt(prefix, after, time, firstBatch(scan)), scan),
      ),
    versions: (scan) =>
      inSnapshot(database, () =>
        collectVersionPage((prefix, after) => seekVersions(prefix, after, firstBatch(scan)), scan),
      ),
  };
}

/** Returns the last key of a full batch. Undefined if the batch reached the end of the range. */
function lastKey(
  rows: readonly (readonly [...ObjectRow, ...unknown[]])[],
  limit: number,
): Uint8Array | undefined {
  return rows.length < limit ? undefined : rows.at(-1)?.[3];
}

/** Returns the last key up to which both batches are complete. Undefined if both are at the end. */
function lastWholeKey(a: Uint8Array | undefined, b: Uint8Array | undefined): Uint8Array | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Buffer.compare(a, b) < 0 ? a : b;
}

interface KeyRows<Row> {
  readonly object: ObjectRow | undefined;
  readonly history: readonly Row[];
}

/** Yields the rows of each key from `from` up to and including `last`, in key order. */
function* mergeByKey<Row extends PastRow | HistoryRow>(
  objects: readonly ObjectRow[],
  past: readonly Row[],
  from: Uint8Array,
  last: Uint8Array | undefined,
): Iterable<KeyRows<Row>> {
  let [atObject, atPast] = [0, 0];
  let previous: Uint8Array | undefined;
  for (;;) {
    const [object, first] = [objects[atObject], past[atPast]];
    if (object === undefined && first === undefined) return;
    const order = object === undefined ? 1 : first === undefined ? -1 : Buffer.compare(object[3], first[3]);
    const key = order <= 0 ? object![3] : first![3];
    // Rows out of order are damage. A listing that goes back could also loop forever.
    const isInOrder =
      previous === undefined ? Buffer.compare(key, from) >= 0 : Buffer.compare(key, previous) > 0;
    if (!isInOrder) throw damagedError("the order of the index");
    if (last !== undefined && Buffer.compare(key, last) > 0) return;
    if (order <= 0) atObject++;
    const start = atPast;
    if (order >= 0) while (atPast < past.length && Buffer.compare(past[atPast]![3], key) === 0) atPast++;
    yield { object: order <= 0 ? object : undefined, history: past.slice(start, atPast) };
    previous = key;
  }
}

function toObject([text, blob, stored, key]: ObjectRow): ObjectRecord {
  const record = decodeObject(verifyText(text, "a listed record", blobContext(blob, stored)));
  checkKey(record, key);
  return record;
}

/** Returns the object if it was written at or before the time. */
function toObjectAt([text, blob, stored, key]: ObjectRow, time: number): ObjectRecord | undefined {
  const checked = verifyText(text, "a listed record", blobContext(blob, stored));
  // Decoding the records that are not listed would take a quarter of the page's time.
  const found = uploadedField.exec(checked);
  if (found !== null && Number(found[1]) > time) return undefined;
  const record = decodeObject(checked);
  checkKey(record, key);
  return record.uploaded <= time ? record : undefined;
}

/** The time in an object's record, after its format, key, version and size. */
const uploadedField = /^\[1,"(?:[^"\\]|\\.)*","[^"\\]*",\d+,(\d+),/;

/** Returns the object that the history has for the time. Undefined if it is a delete marker. */
function toVersionAt(row: PastRow, time: number): ObjectRecord | undefined {
  const version = toVersion(row);
  if (version.uploaded > time) throw damagedError(`the time of a version of "${version.key}"`);
  return isDeleteMarker(version) ? undefined : version;
}

function toVersion([text, blob, stored, key, isMarker]: PastRow | HistoryRow): Version {
  const checked = verifyText(text, "a listed version", blobContext(blob, stored));
  const version = decodeVersion(checked, isMarker === 1);
  checkKey(version, key);
  return version;
}

function checkKey(version: Version, key: Uint8Array): void {
  if (Buffer.compare(keyBytes(version.key), key) !== 0)
    throw damagedError(`the key of "${version.key}" in the index`);
}

function toListed(row: HistoryRow): ListedVersion {
  const until = row[5];
  return { version: toVersion(row), isCurrent: until === Number.POSITIVE_INFINITY, until };
}

function prepareStatements(database: Database) {
  const sql = <Row extends readonly unknown[]>(text: string) => prepareArrays<Row>(database, text);
  // Every column costs as much as a tenth of its row.
  const pastColumns = "record, blob, stored, key, inline IS NULL AND blob IS NULL AND manifest IS NULL";
  const columns = `${pastColumns}, until, entry`;
  const range = "WHERE key >= ? AND key < ?";
  return {
    objects: sql<ObjectRow>(`SELECT record, blob, stored, key FROM objects ${range} ORDER BY key LIMIT ?`),
    history: sql<HistoryRow>(`SELECT ${columns} FROM history ${range} ORDER BY key, entry DESC LIMIT ?`),
    historyOfKey: sql<HistoryRow>(
      `SELECT ${columns} FROM history WHERE key = ? AND entry < ? ORDER BY entry DESC LIMIT ?`,
    ),
    // The inner query reads only the index, in key order.
    historyAt: sql<PastRow>(
      `SELECT ${pastColumns} FROM (SELECT max(entry) AS newest FROM history ${range} AND since <= ? ` +
        "GROUP BY key LIMIT ?) CROSS JOIN history ON entry = newest",
    ),
    entry: sql<[entry: number]>("SELECT entry FROM history WHERE version = ? AND key = ?"),
    nullEntry: sql<[entry: number]>("SELECT entry FROM history WHERE key = ? AND versioned = 0"),
  };
}
