// Queries of a bucket's database. Statements are prepared once; checksums of records are verified.
import { Buffer } from "node:buffer";
import { decodeObject } from "../../../engine/codec/record-codec.ts";
import type { GarbageEntry, ObjectWithBody, Totals } from "../../../engine/records.ts";
import type { BucketSettings } from "../../../model/bucket.ts";
import { keyBytes } from "../../../model/key.ts";
import type { KeyMatches, KeySearch } from "../../../model/key-search.ts";
import { collectPage, type Page, type Position, type Scan } from "../../../model/listing.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import { blobContext, damagedError, verifyText } from "../../rows/checksum.ts";
import { garbageBlobChecksum, garbageManifestChecksum } from "../../rows/checksummed-rows.ts";
import { matchesRecord } from "../../rows/object-row.ts";
import { type BodyRow, ownedParts, toBody } from "../../rows/stored-body.ts";
import { existenceKey, inSnapshot, lostError, unindexedError } from "../existence-index.ts";
import { createPartLists, type PartListOptions } from "../part-lists.ts";
import { parseDeletedMark } from "../schema.ts";
import { type Database, prepareArrays } from "../sqlite.ts";
import { createHistoryQueries, type HistoryQueries } from "./history-queries.ts";
import { firstBatch, keyAfter, keyRange, nextBatch } from "./key-range.ts";
import { createKeySearch } from "./key-search.ts";
import { createOutboxQueries, type OutboxQueries } from "./outbox-queries.ts";
import { createSegmentQueries, type SegmentQueries } from "./segment-queries.ts";
import { createSettingsReader } from "./settings-reader.ts";
import { createUploadQueries, type UploadQueries } from "./upload-queries.ts";
import { createVersionListing, type VersionListing } from "./version-listing.ts";

export interface Queries
  extends UploadQueries,
    OutboxQueries,
    SegmentQueries,
    HistoryQueries,
    Pick<VersionListing, "versions"> {
  isDeleted(): boolean;
  totals(): Totals;
  /** Returns undefined if the bucket was deleted. */
  settings(): BucketSettings | undefined;
  object(key: string): ObjectRecord | undefined;
  objectWithBody(key: string): ObjectWithBody | undefined;
  objects(scan: Scan): Page<ObjectRecord>;
  findKeys(search: KeySearch): KeyMatches;
  /** Returns the next keys after `after`, not verified: a damaged key may have any type. */
  keys(after: Uint8Array | undefined): unknown[];
  /** Throws if the version column does not match the record. */
  checkVersion(key: Uint8Array): void;
  /** Verifies record, columns and existence index. Undefined if neither table has the key. */
  inspect(key: Uint8Array): ObjectWithBody | undefined;
  garbage(after: number, limit: number): GarbageEntry[];
  /** Whether a commit has referenced this blob and no sweep has removed it since then. */
  referencesBlob(id: string): boolean;
}

type RecordRow = readonly [record: string, blob: string | null, stored: number | null];
type ListedRow = readonly [...RecordRow, key: Uint8Array];
type GarbageRow = readonly [
  entry: number,
  blob: string | null,
  checksum: string,
  manifest: number | null,
  parts: string | null,
];

export function createQueries(database: Database, cachedLists?: PartListOptions): Queries {
  const sql = prepareStatements(database);
  const partLists = createPartLists(database, cachedLists);
  const listing = createVersionListing(database);
  const readSettings = createSettingsReader(database);

  /** Reads in growing batches: skipping a folder reads few rows, a long run needs few queries. */
  function* seek(prefix: string, after: Position, batch: number): Iterable<ObjectRecord> {
    let [from, end] = keyRange(prefix, after);
    for (let limit = batch; ; limit = nextBatch(limit)) {
      const rows = sql.scan.all(from, end, limit);
      let last: Uint8Array | undefined;
      for (const row of rows) {
        const [text, blob, stored, key] = row;
        const record = decodeObject(verifyText(text, "a listed record", blobContext(blob, stored)));
        if (Buffer.compare(keyBytes(record.key), key) !== 0)
          throw damagedError(`the key of "${record.key}" in the index`);
        // Rows out of order are damage. A listing that goes back could also loop forever.
        const isInOrder = last === undefined ? Buffer.compare(key, from) >= 0 : Buffer.compare(key, last) > 0;
        if (!isInOrder) throw damagedError("the order of the index");
        last = key;
        yield record;
      }
      if (last === undefined || rows.length < limit) return;
      from = keyAfter(last);
    }
  }

  /** Throws if the existence index has the key of a row that was not found: the row was lost. */
  function throwIfLost(key: string, find: (key: Uint8Array) => unknown): void {
    const bytes = keyBytes(key);
    const indexKey = existenceKey.object(bytes);
    if (sql.existence.get(indexKey) === undefined) return;
    // A commit may have happened between the two reads, so read again in one snapshot.
    inSnapshot(database, () => {
      if (find(bytes) === undefined && sql.existence.get(indexKey) !== undefined)
        throw lostError(`the record of "${key}"`);
    });
  }

  /** Returns undefined if the list of parts is not cached. */
  function withCachedParts(key: string, row: BodyRow): ObjectWithBody | undefined {
    const record = toObject(key, row);
    const manifest = row[5];
    if (manifest === null) return { record, body: toBody(record, row, partLists.get) };
    const body = partLists.find(manifest, record);
    return body && { record, body };
  }

  /** Reads the object again, in one snapshot with its list of parts. */
  function readWithParts(key: string): ObjectWithBody | undefined {
    return inSnapshot(database, () => {
      const row = sql.objectWithBody.get(keyBytes(key));
      if (row === undefined) return undefined;
      const record = toObject(key, row);
      return { record, body: toBody(record, row, partLists.get) };
    });
  }

  return {
    ...createUploadQueries(database),
    ...createOutboxQueries(database),
    ...createSegmentQueries(database),
    ...createHistoryQueries(database, partLists),
    versions: listing.versions,
    isDeleted() {
      return isMarkedDeleted(sql.bucket.get()?.[0]);
    },
    settings() {
      const { deleted, settings } = readSettings();
      return isMarkedDeleted(deleted) ? undefined : settings;
    },
    totals() {
      const [objects, bytes, noncurrentVersions, noncurrentBytes] = sql.totals.get()!;
      return { objects, bytes, noncurrentVersions, noncurrentBytes };
    },
    object(key) {
      const row = sql.object.get(keyBytes(key));
      if (row !== undefined) return toObject(key, row);
      throwIfLost(key, (bytes) => sql.object.get(bytes));
      return undefined;
    },
    objectWithBody(key) {
      const row = sql.objectWithBody.get(keyBytes(key));
      const found = row && (withCachedParts(key, row) ?? readWithParts(key));
      if (found === undefined) throwIfLost(key, (bytes) => sql.object.get(bytes));
      return found;
    },
    objects(scan) {
      if (scan.time !== undefined) return listing.objectsAt(scan, scan.time);
      const batch = firstBatch(scan);
      // One snapshot and one lock for the whole page instead of one per seek.
      return inSnapshot(database, () => collectPage((prefix, after) => seek(prefix, after, batch), scan));
    },
    findKeys: createKeySearch(database),
    keys(after) {
      const rows = after === undefined ? sql.firstKeys.all() : sql.keys.all(after);
      return rows.map(([key]) => key);
    },
    checkVersion(key) {
      inSnapshot(database, () => {
        const versionAndSize = sql.versionAndSize.get(key);
        if (versionAndSize === undefined) return;
        const text = Buffer.from(key).toString();
        const record = toObject(text, sql.object.get(key)!);
        if (record.version !== versionAndSize[0]) throw damagedError(`the index entry of "${text}"`);
      });
    },
    inspect(key) {
      return inSnapshot(database, () => {
        const versionAndSize = sql.versionAndSize.get(key);
        const isIndexed = sql.existence.get(existenceKey.object(key)) !== undefined;
        const text = Buffer.from(key).toString();
        if (versionAndSize === undefined && !isIndexed) return undefined;
        if (versionAndSize === undefined) throw lostError(`the record of "${text}"`);
        const row = sql.objectWithBody.get(key)!;
        const record = toObject(text, row);
        if (!matchesRecord(key, { version: versionAndSize[0], size: versionAndSize[1] }, record))
          throw damagedError(`the index entry of "${text}"`);
        if (!isIndexed) throw unindexedError(`"${text}"`);
        return { record, body: toBody(record, row, partLists.inspect) };
      });
    },
    garbage(after, limit) {
      return sql.garbage.all(after, limit).map(toGarbageEntry);
    },
    referencesBlob: (id) =>
      sql.blob.get(id) !== undefined || sql.existence.get(existenceKey.blob(id)) !== undefined,
  };
}

function isMarkedDeleted(mark: unknown): boolean {
  const isDeleted = parseDeletedMark(mark);
  if (isDeleted === undefined) throw damagedError("the deletion mark of the bucket");
  return isDeleted;
}

function toObject(key: string, [checked, blob, stored]: RecordRow | BodyRow): ObjectRecord {
  const context = blobContext(blob, stored);
  const record = decodeObject(verifyText(checked, `the record of "${key}"`, context));
  if (record.key !== key) throw damagedError(`the record of "${key}", which is that of "${record.key}",`);
  return record;
}

/** A damaged entry may name the blob of another object, so return no blobs; `verify` reports it. */
function toGarbageEntry([entry, blob, checksum, manifest, parts]: GarbageRow): GarbageEntry {
  try {
    if (blob !== null) {
      if (checksum !== garbageBlobChecksum(blob)) throw damagedError("a blob in the garbage queue");
      return { entry, blobs: [blob] };
    }
    const [owner, list] = ownedParts(parts ?? "", "a list of parts in the garbage queue");
    if (checksum !== garbageManifestChecksum(Number(manifest), owner))
      throw damagedError("a body in the garbage queue");
    return { entry, blobs: list.map(({ blob }) => blob.id) };
  } catch {
    return { entry, blobs: [], isDamaged: true };
  }
}

function prepareStatements(database: Database) {
  const sql = <Row extends readonly unknown[]>(text: string) => prepareArrays<Row>(database, text);
  return {
    bucket: sql<[deleted: unknown]>("SELECT deleted FROM bucket"),
    totals: sql<[objects: number, bytes: number, noncurrent: number, noncurrentBytes: number]>(
      "SELECT objects, bytes, noncurrent, noncurrent_bytes FROM bucket",
    ),
    object: sql<RecordRow>("SELECT record, blob, stored FROM objects WHERE key = ?"),
    objectWithBody: sql<BodyRow>(
      "SELECT record, blob, stored, inline, bytes, manifest FROM objects " +
        "LEFT JOIN bodies ON bodies.id = inline WHERE key = ?",
    ),
    scan: sql<ListedRow>(
      "SELECT record, blob, stored, key FROM objects WHERE key >= ? AND key < ? ORDER BY key LIMIT ?",
    ),
    versionAndSize: sql<[version: string, size: number]>("SELECT version, size FROM objects WHERE key = ?"),
    existence: sql("SELECT 1 FROM witness WHERE place = ?"),
    firstKeys: sql<[key: unknown]>("SELECT key FROM objects ORDER BY key LIMIT 256"),
    keys: sql<[key: unknown]>("SELECT key FROM objects WHERE key > ? ORDER BY key LIMIT 256"),
    garbage: sql<GarbageRow>(
      "SELECT entry, blob, checksum, manifest, parts FROM buried LEFT JOIN manifests ON manifests.id = manifest " +
        "WHERE entry > ? ORDER BY entry LIMIT ?",
    ),
    blob: sql("SELECT 1 FROM blobs WHERE id = ?"),
  };
}
