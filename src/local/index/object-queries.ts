// The reads of a bucket's database: prepared once, answered with records whose checksums were verified.
import { decodeManifest, decodeObject } from "../../engine/codec/record-codec.ts";
import type { Body, BodyPart, BuriedBody, ObjectWithBody, Totals } from "../../engine/records.ts";
import { type BucketSettings, type SettingName, settingNames } from "../../model/bucket.ts";
import { keyBytes } from "../../model/key.ts";
import { collectPage, type Page, type Position, type Scan } from "../../model/listing.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { blobPlace, damaged, verified, verifiedText } from "./checksum.ts";
import { buriedBlobChecksum, buriedManifestChecksum } from "./checksummed-rows.ts";
import { inSnapshot, lost, unwitnessed, witnessPlace } from "./existence-index.ts";
import { saysTheSame } from "./object-row.ts";
import { createOutboxQueries, type OutboxQueries } from "./outbox-queries.ts";
import { emptyBody, isEnded, noSetting } from "./schema.ts";
import { createSegmentQueries, type SegmentQueries } from "./segment-queries.ts";
import type { Database } from "./sqlite.ts";
import { behindEverything, createUploadQueries, successor, type UploadQueries } from "./upload-queries.ts";

export interface Queries extends UploadQueries, OutboxQueries, SegmentQueries {
  isDeleted(): boolean;
  totals(): Totals;
  /** Undefined for a bucket that was deleted. */
  settings(): BucketSettings | undefined;
  object(key: string): ObjectRecord | undefined;
  objectWithBody(key: string): ObjectWithBody | undefined;
  objects(scan: Scan): Page<ObjectRecord>;
  /** A batch of the keys behind the given one, as the index has them; damaged, one may be no key at all. */
  keys(after: Uint8Array | undefined): unknown[];
  /** Throws when the version beside a record is not the record's. */
  tied(key: Uint8Array): void;
  /** One of them with everything that ties it to its place; undefined when it is gone, by both witnesses. */
  inspected(key: Uint8Array): ObjectWithBody | undefined;
  buried(after: number, limit: number): BuriedBody[];
  /** Whether a commit has named this blob and no sweep has removed it. */
  knowsBlob(id: string): boolean;
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
type BuriedRow = readonly [
  entry: number,
  blob: string | null,
  checksum: string,
  manifest: number | null,
  parts: string | null,
];

/** How many rows a scan fetches at first, and at most, in one go. */
const fewRows = 4;
const manyRows = 1001;

export function createQueries(database: Database): Queries {
  const sql = prepare(database);

  /** Rows in growing batches: a folder that is skipped costs a few, a long run of keys one fetch. */
  function* seek(prefix: string, after: Position, batch: number): Iterable<ObjectRecord> {
    const start = keyBytes(prefix);
    const end = successor(start) ?? behindEverything;
    let from = Buffer.compare(behind(after), start) > 0 ? behind(after) : start;
    for (let limit = batch; ; limit = Math.min(limit * 8, manyRows)) {
      const rows = sql.scan.all(from, end, limit) as unknown as ListedRow[];
      for (const row of rows) {
        const [text, blob, stored, key] = row;
        const record = decodeObject(verifiedText(text, "a listed record", blobPlace(blob, stored)));
        if (Buffer.compare(keyBytes(record.key), key) !== 0)
          throw damaged(`the key under which "${record.key}" stands in the index`);
        // Rows out of order are not all of them, and a listing that goes back would never end.
        if (Buffer.compare(key, from) < 0) throw damaged("the order of the index");
        from = Buffer.concat([key, nul]);
        yield record;
      }
      if (rows.length < limit) return;
    }
  }

  /** For a row that was not found: silent when there is none, by both witnesses. */
  function tellIfLost(key: string, find: (key: Uint8Array) => unknown): void {
    const bytes = keyBytes(key);
    const place = witnessPlace.object(bytes);
    if (sql.witnessed.get(place) === undefined) return;
    // The two looks may have stood astride a commit: once more, at one instant.
    inSnapshot(database, () => {
      if (find(bytes) === undefined && sql.witnessed.get(place) !== undefined)
        throw lost(`the record of "${key}"`);
    });
  }

  return {
    ...createUploadQueries(database),
    ...createOutboxQueries(database),
    ...createSegmentQueries(database),
    isDeleted() {
      const row = sql.bucket.get() as unknown as [unknown] | undefined;
      return isMarkedDeleted(row?.[0]);
    },
    settings() {
      const [deleted, ...settings] = sql.settings.get() as unknown as SettingsRow;
      if (isMarkedDeleted(deleted)) return undefined;
      return settings.every((text, i) => text === unset[i]) ? noSettings : settingsOf(settings);
    },
    totals() {
      const [objects, bytes] = sql.totals.get() as unknown as [number, number];
      return { objects, bytes };
    },
    object(key) {
      const row = sql.object.get(keyBytes(key)) as unknown as RecordRow | undefined;
      if (row !== undefined) return objectOf(key, row);
      tellIfLost(key, (bytes) => sql.object.get(bytes));
      return undefined;
    },
    objectWithBody(key) {
      const row = sql.objectWithBody.get(keyBytes(key)) as unknown as BodyRow | undefined;
      if (row === undefined) {
        tellIfLost(key, (bytes) => sql.object.get(bytes));
        return undefined;
      }
      const record = objectOf(key, row);
      return { record, body: bodyOf(record, row) };
    },
    objects(scan) {
      const batch = scan.delimiter === "" ? Math.min(scan.limit + 1, manyRows) : fewRows;
      // One snapshot for the whole page, and one lock instead of one a seek.
      return inSnapshot(database, () => collectPage((prefix, after) => seek(prefix, after, batch), scan));
    },
    keys(after) {
      const rows = after === undefined ? sql.firstKeys.all() : sql.keys.all(after);
      return (rows as unknown as [unknown][]).map(([key]) => key);
    },
    tied(key) {
      inSnapshot(database, () => {
        const tie = sql.tie.get(key) as unknown as readonly [version: string, size: number] | undefined;
        if (tie === undefined) return;
        const text = Buffer.from(key).toString();
        const record = objectOf(text, sql.object.get(key) as unknown as RecordRow);
        if (record.version !== tie[0]) throw damaged(`what the index says beside the record of "${text}"`);
      });
    },
    inspected(key) {
      return inSnapshot(database, () => {
        const tie = sql.tie.get(key) as unknown as readonly [version: string, size: number] | undefined;
        const isWitnessed = sql.witnessed.get(witnessPlace.object(key)) !== undefined;
        const text = Buffer.from(key).toString();
        if (tie === undefined && !isWitnessed) return undefined;
        if (tie === undefined) throw lost(`the record of "${text}"`);
        const row = sql.objectWithBody.get(key) as unknown as BodyRow;
        const record = objectOf(text, row);
        if (!saysTheSame(key, { version: tie[0], size: tie[1] }, record))
          throw damaged(`what the index says beside the record of "${text}"`);
        if (!isWitnessed) throw unwitnessed(`"${text}"`);
        return { record, body: bodyOf(record, row) };
      });
    },
    buried(after, limit) {
      const rows = sql.buried.all(after, limit) as unknown as BuriedRow[];
      return rows.map(buriedOf);
    },
    knowsBlob: (id) =>
      sql.blob.get(id) !== undefined || sql.witnessed.get(witnessPlace.blob(id)) !== undefined,
  };
}

const nul = Buffer.alloc(1);

function isMarkedDeleted(mark: unknown): boolean {
  const isDeleted = isEnded(mark);
  if (isDeleted === undefined) throw damaged("the mark that tells whether the bucket was deleted");
  return isDeleted;
}

const noSettings: BucketSettings = {};
const unset = settingNames.map(noSetting);

function settingsOf(settings: readonly unknown[]): BucketSettings {
  return Object.assign({}, ...settingNames.map((name, i) => setting(name, settings[i])));
}

function setting(name: SettingName, checked: unknown): BucketSettings {
  const text = verifiedText(checked, `the bucket's setting "${name}"`, name);
  return text === "" ? noSettings : { [name]: JSON.parse(text) };
}

function objectOf(key: string, [checked, blob, stored]: RecordRow | BodyRow): ObjectRecord {
  const place = blobPlace(blob, stored);
  const record = decodeObject(verifiedText(checked, `the record of "${key}"`, place));
  if (record.key !== key) throw damaged(`the record of "${key}", which is that of "${record.key}",`);
  return record;
}

function bodyOf(record: ObjectRecord, [, blob, stored, inline, bytes, manifest]: BodyRow): Body {
  const { key, version } = record;
  if (blob !== null) return { home: "blob", blob: { id: blob, size: stored! } };
  if (manifest !== null) {
    const [owner, parts] = ownedParts(manifest, `the list of parts of "${key}"`);
    if (owner !== version) throw damaged(`the list of parts of "${key}", which is another's,`);
    return { home: "parts", parts };
  }
  if (inline === emptyBody && record.size === 0 && record.encryption === undefined)
    return { home: "inline", bytes: new Uint8Array() };
  return { home: "inline", bytes: verified(version, bytes, `the body of "${key}"`) };
}

/** A list of parts begins with the version it belongs to. */
function ownedParts(manifest: string, what: string): [version: string, parts: BodyPart[]] {
  const text = verifiedText(manifest, what);
  return [text.slice(0, versionDigits), decodeManifest(text.slice(versionDigits))];
}

const versionDigits = 32;

/** What a damaged entry names may be another's: it names nothing, and verify tells of it. */
function buriedOf([entry, blob, checksum, manifest, parts]: BuriedRow): BuriedBody {
  try {
    if (blob !== null) {
      if (checksum !== buriedBlobChecksum(blob)) throw damaged("a buried blob");
      return { entry, blobs: [blob] };
    }
    const [owner, list] = ownedParts(parts ?? "", "the list of parts of a buried body");
    if (checksum !== buriedManifestChecksum(Number(manifest), owner)) throw damaged("a buried body");
    return { entry, blobs: list.map(({ blob }) => blob.id) };
  } catch {
    return { entry, blobs: [], isDamaged: true };
  }
}

/** The first possible key behind a position. */
function behind({ behind, value }: Position): Uint8Array {
  const bytes = keyBytes(value);
  if (behind === "key") return Buffer.concat([bytes, Buffer.alloc(1)]);
  return behind === "prefix" ? (successor(bytes) ?? bytes) : bytes;
}

function prepare(database: Database) {
  const sql = (text: string) => {
    const statement = database.prepare(text);
    // Rows as arrays: naming the columns of each row costs more than reading them.
    statement.setReturnArrays(true);
    return statement;
  };
  return {
    bucket: sql("SELECT deleted FROM bucket"),
    settings: sql(`SELECT deleted, ${settingNames.join(", ")} FROM bucket`),
    totals: sql("SELECT objects, bytes FROM bucket"),
    object: sql("SELECT record, blob, stored FROM objects WHERE key = ?"),
    objectWithBody: sql(
      "SELECT record, blob, stored, inline, bytes, parts FROM objects " +
        "LEFT JOIN bodies ON bodies.id = inline LEFT JOIN manifests ON manifests.id = manifest WHERE key = ?",
    ),
    scan: sql(
      "SELECT record, blob, stored, key FROM objects WHERE key >= ? AND key < ? ORDER BY key LIMIT ?",
    ),
    tie: sql("SELECT version, size FROM objects WHERE key = ?"),
    witnessed: sql("SELECT 1 FROM witness WHERE place = ?"),
    firstKeys: sql("SELECT key FROM objects ORDER BY key LIMIT 256"),
    keys: sql("SELECT key FROM objects WHERE key > ? ORDER BY key LIMIT 256"),
    buried: sql(
      "SELECT entry, blob, checksum, manifest, parts FROM buried LEFT JOIN manifests ON manifests.id = manifest " +
        "WHERE entry > ? ORDER BY entry LIMIT ?",
    ),
    blob: sql("SELECT 1 FROM blobs WHERE id = ?"),
  };
}
