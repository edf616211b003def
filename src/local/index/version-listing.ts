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
import { blobContext, damagedError, verifyText } from "./checksum.ts";
import { inSnapshot } from "./existence-index.ts";
import { untilChecksum } from "./history-row.ts";
import { firstBatch, keyAfter, keyRange, nextBatch } from "./key-range.ts";
import { type Database, prepareArrays } from "./sqlite.ts";

export interface VersionListing {
  objectsAt(scan: Scan, time: number): Page<ObjectRecord>;
  versions(scan: VersionScan): VersionPage;
}

type ObjectRow = readonly [record: string, blob: string | null, stored: number | null, key: Uint8Array];
/** `body` is null for a delete marker. */
type HistoryRow = readonly [
  ...ObjectRow,
  body: unknown,
  since: number,
  until: number,
  entry: number,
  version: string,
  untilChecksum: string,
];

export function createVersionListing(database: Database): VersionListing {
  const sql = prepareStatements(database);

  function* seekAt(prefix: string, after: Position, time: number, batch: number): Iterable<ObjectRecord> {
    let [from, end] = keyRange(prefix, after);
    for (let limit = batch; ; limit = nextBatch(limit)) {
      const objects = sql.objects.all(from, end, limit);
      const past = sql.historyAt.all(from, end, time, limit);
      const last = lastWholeKey(lastKey(objects, limit), lastKey(past, limit));
      for (const { key, object, history } of mergeByKey(objects, past, from, last)) {
        const record = object && toObject(object);
        if (record !== undefined && record.uploaded <= time) yield record;
        else if (history[0] !== undefined) {
          const { version, until } = toListed(history[0]);
          if (version.uploaded > time || until <= time) checkNewer(history[0], time, object);
          if (!isDeleteMarker(version)) yield version;
        }
        from = keyAfter(key);
      }
      if (last === undefined) return;
    }
  }

  /** Throws if a version that is newer than the row existed at the time: the index is damaged. */
  function checkNewer(row: HistoryRow, time: number, object: ObjectRow | undefined): void {
    const rows = [row, ...sql.newer.all(row[3], row[7])];
    // Without a current object, the newest version is a current delete marker.
    if (object === undefined && !rows.some((one) => one[6] === Number.POSITIVE_INFINITY))
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
      for (const { key, object, history } of mergeByKey(objects, past, from, last)) {
        if (object !== undefined)
          yield { version: toObject(object), isCurrent: true, until: Number.POSITIVE_INFINITY };
        for (const row of history) yield toListed(row);
        from = keyAfter(key);
      }
      if (last === undefined) return;
      // The batch may end within the versions of a key.
      if (last === lastPast) yield* restOfKey(last, past.at(-1)![7], limit);
    }
  }

  /** Yields the versions of a key before an entry of the history, the newest first. */
  function* restOfKey(key: Uint8Array, before: number, batch: number): Iterable<ListedVersion> {
    let entry = before;
    for (let limit = batch; ; limit = nextBatch(limit)) {
      const rows = sql.historyOfKey.all(key, entry, limit);
      for (const row of rows) yield toListed(row);
      if (rows.length < limit) return;
      entry = rows.at(-1)![7];
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
function lastKey(rows: readonly ObjectRow[] | readonly HistoryRow[], limit: number): Uint8Array | undefined {
  return rows.length < limit ? undefined : rows.at(-1)?.[3];
}

/** Returns the last key up to which both batches are complete. Undefined if both are at the end. */
function lastWholeKey(a: Uint8Array | undefined, b: Uint8Array | undefined): Uint8Array | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Buffer.compare(a, b) < 0 ? a : b;
}

interface KeyRows {
  readonly key: Uint8Array;
  readonly object: ObjectRow | undefined;
  readonly history: readonly HistoryRow[];
}

/** Yields the rows of each key from `from` up to and including `last`, in key order. */
function* mergeByKey(
  objects: readonly ObjectRow[],
  past: readonly HistoryRow[],
  from: Uint8Array,
  last: Uint8Array | undefined,
): Iterable<KeyRows> {
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
    yield { key, object: order <= 0 ? object : undefined, history: past.slice(start, atPast) };
    previous = key;
  }
}

function toObject([text, blob, stored, key]: ObjectRow): ObjectRecord {
  const record = decodeObject(verifyText(text, "a listed record", blobContext(blob, stored)));
  checkKey(record, key);
  return record;
}

function toVersion([text, blob, stored, key, body, since]: HistoryRow): Version {
  const checked = verifyText(text, "a listed version", blobContext(blob, stored));
  const version = decodeVersion(checked, body === null);
  checkKey(version, key);
  if (version.uploaded !== since) throw damagedError(`the time of a version of "${version.key}"`);
  return version;
}

function checkKey(version: Version, key: Uint8Array): void {
  if (Buffer.compare(keyBytes(version.key), key) !== 0)
    throw damagedError(`the key of "${version.key}" in the index`);
}

function toListed(row: HistoryRow): ListedVersion {
  const version = toVersion(row);
  const until = row[6];
  if (untilChecksum(version.version, until) !== row[9]) throw damagedError(`a version of "${version.key}"`);
  return { version, isCurrent: until === Number.POSITIVE_INFINITY, until };
}

function prepareStatements(database: Database) {
  const sql = <Row extends readonly unknown[]>(text: string) => prepareArrays<Row>(database, text);
  const columns =
    "record, blob, stored, key, coalesce(inline, blob, manifest), since, until, entry, version, until_checksum";
  const range = "WHERE key >= ? AND key < ?";
  return {
    objects: sql<ObjectRow>(`SELECT record, blob, stored, key FROM objects ${range} ORDER BY key LIMIT ?`),
    history: sql<HistoryRow>(`SELECT ${columns} FROM history ${range} ORDER BY key, entry DESC LIMIT ?`),
    historyOfKey: sql<HistoryRow>(
      `SELECT ${columns} FROM history WHERE key = ? AND entry < ? ORDER BY entry DESC LIMIT ?`,
    ),
    newer: sql<HistoryRow>(`SELECT ${columns} FROM history WHERE key = ? AND entry > ?`),
    // The inner query reads only the index, in key order.
    historyAt: sql<HistoryRow>(
      `SELECT ${columns} FROM (SELECT max(entry) AS newest FROM history ${range} AND since <= ? ` +
        "GROUP BY key LIMIT ?) CROSS JOIN history ON entry = newest",
    ),
    entry: sql<[entry: number]>("SELECT entry FROM history WHERE version = ? AND key = ?"),
    nullEntry: sql<[entry: number]>("SELECT entry FROM history WHERE key = ? AND versioned = 0"),
  };
}
