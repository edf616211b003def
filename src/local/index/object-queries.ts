// Queries of a bucket's database. Statements are prepared once; checksums of records are verified.
import { decodeManifest, decodeObject } from "../../engine/codec/record-codec.ts";
import type { Body, BodyPart, GarbageEntry, ObjectWithBody, Totals } from "../../engine/records.ts";
import { type BucketSettings, type SettingName, settingNames } from "../../model/bucket.ts";
import { keyBytes } from "../../model/key.ts";
import { collectPage, type Page, type Position, type Scan } from "../../model/listing.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { blobContext, damagedError, verifyBytes, verifyText } from "./checksum.ts";
import { garbageBlobChecksum, garbageManifestChecksum } from "./checksummed-rows.ts";
import { existenceKey, inSnapshot, lostError, unindexedError } from "./existence-index.ts";
import { matchesRecord } from "./object-row.ts";
import { createOutboxQueries, type OutboxQueries } from "./outbox-queries.ts";
import { emptyBody, noSetting, parseDeletedMark } from "./schema.ts";
import { createSegmentQueries, type SegmentQueries } from "./segment-queries.ts";
import { type Database, prepareArrays } from "./sqlite.ts";
import { afterAllKeys, createUploadQueries, successor, type UploadQueries } from "./upload-queries.ts";

export interface Queries extends UploadQueries, OutboxQueries, SegmentQueries {
  isDeleted(): boolean;
  totals(): Totals;
  /** Returns undefined if the bucket was deleted. */
  settings(): BucketSettings | undefined;
  object(key: string): ObjectRecord | undefined;
  objectWithBody(key: string): ObjectWithBody | undefined;
  objects(scan: Scan): Page<ObjectRecord>;
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
type BodyRow = readonly [
  record: string,
  blob: string | null,
  stored: number | null,
  inline: number | null,
  bytes: Uint8Array | null,
  manifest: string | null,
];
type SettingsRow = readonly [deleted: unknown, ...settings: unknown[]];
type GarbageRow = readonly [
  entry: number,
  blob: string | null,
  checksum: string,
  manifest: number | null,
  parts: string | null,
];

/** Number of rows in the first batch of a scan, and below, in its largest batch. */
const firstBatchRows = 4;
const maxBatchRows = 1001;

export function createQueries(database: Database): Queries {
  const sql = prepareStatements(database);

  /** Reads in growing batches: skipping a folder reads few rows, a long run needs few queries. */
  function* seek(prefix: string, after: Position, batch: number): Iterable<ObjectRecord> {
    const start = keyBytes(prefix);
    const end = successor(start) ?? afterAllKeys;
    let from = Buffer.compare(startAfter(after), start) > 0 ? startAfter(after) : start;
    for (let limit = batch; ; limit = Math.min(limit * 8, maxBatchRows)) {
      const rows = sql.scan.all(from, end, limit);
      for (const row of rows) {
        const [text, blob, stored, key] = row;
        const record = decodeObject(verifyText(text, "a listed record", blobContext(blob, stored)));
        if (Buffer.compare(keyBytes(record.key), key) !== 0)
          throw damagedError(`the key of "${record.key}" in the index`);
        // Rows out of order are damage. A listing that goes back could also loop forever.
        if (Buffer.compare(key, from) < 0) throw damagedError("the order of the index");
        from = Buffer.concat([key, nul]);
        yield record;
      }
      if (rows.length < limit) return;
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

  return {
    ...createUploadQueries(database),
    ...createOutboxQueries(database),
    ...createSegmentQueries(database),
    isDeleted() {
      return isMarkedDeleted(sql.bucket.get()?.[0]);
    },
    settings() {
      const [deleted, ...settings] = sql.settings.get()!;
      if (isMarkedDeleted(deleted)) return undefined;
      return settings.every((text, i) => text === unset[i]) ? noSettings : parseSettings(settings);
    },
    totals() {
      const [objects, bytes] = sql.totals.get()!;
      return { objects, bytes };
    },
    object(key) {
      const row = sql.object.get(keyBytes(key));
      if (row !== undefined) return toObject(key, row);
      throwIfLost(key, (bytes) => sql.object.get(bytes));
      return undefined;
    },
    objectWithBody(key) {
      const row = sql.objectWithBody.get(keyBytes(key));
      if (row === undefined) {
        throwIfLost(key, (bytes) => sql.object.get(bytes));
        return undefined;
      }
      const record = toObject(key, row);
      return { record, body: toBody(record, row) };
    },
    objects(scan) {
      const batch = scan.delimiter === "" ? Math.min(scan.limit + 1, maxBatchRows) : firstBatchRows;
      // One snapshot and one lock for the whole page instead of one per seek.
      return inSnapshot(database, () => collectPage((prefix, after) => seek(prefix, after, batch), scan));
    },
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
        return { record, body: toBody(record, row) };
      });
    },
    garbage(after, limit) {
      return sql.garbage.all(after, limit).map(toGarbageEntry);
    },
    referencesBlob: (id) =>
      sql.blob.get(id) !== undefined || sql.existence.get(existenceKey.blob(id)) !== undefined,
  };
}

const nul = Buffer.alloc(1);

function isMarkedDeleted(mark: unknown): boolean {
  const isDeleted = parseDeletedMark(mark);
  if (isDeleted === undefined) throw damagedError("the deletion mark of the bucket");
  return isDeleted;
}

const noSettings: BucketSettings = {};
const unset = settingNames.map(noSetting);

function parseSettings(settings: readonly unknown[]): BucketSettings {
  return Object.assign({}, ...settingNames.map((name, i) => parseSetting(name, settings[i])));
}

function parseSetting(name: SettingName, checked: unknown): BucketSettings {
  const text = verifyText(checked, `the bucket's setting "${name}"`, name);
  return text === "" ? noSettings : { [name]: JSON.parse(text) };
}

function toObject(key: string, [checked, blob, stored]: RecordRow | BodyRow): ObjectRecord {
  const context = blobContext(blob, stored);
  const record = decodeObject(verifyText(checked, `the record of "${key}"`, context));
  if (record.key !== key) throw damagedError(`the record of "${key}", which is that of "${record.key}",`);
  return record;
}

function toBody(record: ObjectRecord, [, blob, stored, inline, bytes, manifest]: BodyRow): Body {
  const { key, version } = record;
  if (blob !== null) return { storage: "blob", blob: { id: blob, size: stored! } };
  if (manifest !== null) {
    const [owner, parts] = ownedParts(manifest, `the list of parts of "${key}"`);
    if (owner !== version)
      throw damagedError(`the list of parts of "${key}", which belongs to another object,`);
    return { storage: "parts", parts };
  }
  if (inline === emptyBody && record.size === 0 && record.encryption === undefined)
    return { storage: "inline", bytes: new Uint8Array() };
  return { storage: "inline", bytes: verifyBytes(version, bytes, `the body of "${key}"`) };
}

/** Parses a stored list of parts, which starts with the version of the object that owns it. */
function ownedParts(manifest: string, what: string): [version: string, parts: BodyPart[]] {
  const text = verifyText(manifest, what);
  return [text.slice(0, versionDigits), decodeManifest(text.slice(versionDigits))];
}

const versionDigits = 32;

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

/** Returns the first possible key after a position. */
function startAfter({ kind, value }: Position): Uint8Array {
  const bytes = keyBytes(value);
  if (kind === "key") return Buffer.concat([bytes, Buffer.alloc(1)]);
  return kind === "prefix" ? (successor(bytes) ?? bytes) : bytes;
}

function prepareStatements(database: Database) {
  const sql = <Row extends readonly unknown[]>(text: string) => prepareArrays<Row>(database, text);
  return {
    bucket: sql<[deleted: unknown]>("SELECT deleted FROM bucket"),
    settings: sql<SettingsRow>(`SELECT deleted, ${settingNames.join(", ")} FROM bucket`),
    totals: sql<[objects: number, bytes: number]>("SELECT objects, bytes FROM bucket"),
    object: sql<RecordRow>("SELECT record, blob, stored FROM objects WHERE key = ?"),
    objectWithBody: sql<BodyRow>(
      "SELECT record, blob, stored, inline, bytes, parts FROM objects " +
        "LEFT JOIN bodies ON bodies.id = inline LEFT JOIN manifests ON manifests.id = manifest WHERE key = ?",
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
