// The reads of a bucket's database: prepared once, answered with records whose checksums were verified.
import { decodeManifest, decodeObject, decodePart, decodeUpload } from "../engine/encoding.ts";
import type {
  Body,
  BodyPart,
  BuriedBody,
  ObjectWithBody,
  StoredUpload,
  Totals,
  UploadScan,
} from "../engine/records.ts";
import type { BucketSettings } from "../model/bucket.ts";
import { invariant } from "../model/errors.ts";
import { keyBytes } from "../model/key.ts";
import { collectPage, type Page, type Position, type Scan } from "../model/listing.ts";
import type { ObjectRecord } from "../model/object.ts";
import type { PartRecord, UploadRecord } from "../model/upload.ts";
import { blobPlace, damaged, partPlace, verified, verifiedText } from "./checked.ts";
import type { Database } from "./database.ts";
import { emptyBody } from "./schema.ts";

export interface Queries {
  isDeleted(): boolean;
  totals(): Totals;
  /** Undefined for a bucket that was deleted. */
  settings(): BucketSettings | undefined;
  object(key: string): ObjectRecord | undefined;
  objectWithBody(key: string): ObjectWithBody | undefined;
  objects(scan: Scan): Page<ObjectRecord>;
  /** A batch of the keys behind the given one, as the index has them. */
  keys(after: Uint8Array | undefined): Uint8Array[];
  upload(key: string, id: string): StoredUpload | undefined;
  uploads(scan: UploadScan): UploadRecord[];
  dueUploads(now: number, limit: number): UploadRecord[];
  parts(uploadId: string): PartRecord[];
  buried(after: number, limit: number): BuriedBody[];
  /** Whether a commit has named this blob and no sweep has removed it. */
  knowsBlob(id: string): boolean;
}

type RecordRow = readonly [record: string, blob: string | null, stored: number | null];
type BodyRow = readonly [
  record: string,
  blob: string | null,
  stored: number | null,
  inline: number | null,
  bytes: Uint8Array | null,
  manifest: string | null,
];
type SettingsRow = readonly [deleted: number, cors: string | null, lifecycle: string | null];
type UploadRow = readonly [record: string, revision: number];
type PartRow = readonly [number: number, blob: string, record: string];
type BuriedRow = readonly [entry: number, blob: string | null, manifest: string | null];

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
      const rows = sql.scan.all(from, end, limit) as unknown as RecordRow[];
      let last: ObjectRecord | undefined;
      for (const [record, blob, stored] of rows) {
        last = decodeObject(verifiedText(record, "a listed record", blobPlace(blob, stored)));
        yield last;
      }
      if (last === undefined || rows.length < limit) return;
      from = behind({ behind: "key", value: last.key });
    }
  }

  return {
    isDeleted: () => (sql.bucket.get() as unknown as [number])[0] === 1,
    settings() {
      const [deleted, cors, lifecycle] = sql.settings.get() as unknown as SettingsRow;
      if (deleted === 1) return undefined;
      return cors === null && lifecycle === null ? noSettings : settingsOf(cors, lifecycle);
    },
    totals() {
      const [objects, bytes] = sql.totals.get() as unknown as [number, number];
      return { objects, bytes };
    },
    object(key) {
      const row = sql.object.get(keyBytes(key)) as unknown as RecordRow | undefined;
      return row === undefined ? undefined : objectOf(key, row);
    },
    objectWithBody(key) {
      const row = sql.objectWithBody.get(keyBytes(key)) as unknown as BodyRow | undefined;
      if (row === undefined) return undefined;
      const record = objectOf(key, row);
      return { record, body: bodyOf(record, row) };
    },
    objects(scan) {
      const batch = scan.delimiter === "" ? Math.min(scan.limit + 1, manyRows) : fewRows;
      // One snapshot for the whole page, and one lock instead of one a seek.
      database.exec("BEGIN");
      try {
        return collectPage((prefix, after) => seek(prefix, after, batch), scan);
      } finally {
        database.exec("COMMIT");
      }
    },
    keys(after) {
      const rows = after === undefined ? sql.firstKeys.all() : sql.keys.all(after);
      return (rows as unknown as [Uint8Array][]).map(([key]) => key);
    },
    upload(key, id) {
      const row = sql.upload.get(keyBytes(key), id) as unknown as UploadRow | undefined;
      return row === undefined ? undefined : { record: uploadOf(row), revision: row[1] };
    },
    uploads({ prefix, after, limit }) {
      const start = keyBytes(prefix);
      const end = successor(start) ?? behindEverything;
      // A key without an id stands for all of its uploads: ids are hex, so this is behind each of them.
      const [key, id] = after === undefined ? [new Uint8Array(), ""] : [keyBytes(after.key), after.id ?? "~"];
      return (sql.uploads.all(start, end, key, id, limit) as unknown as UploadRow[]).map(uploadOf);
    },
    dueUploads(now, limit) {
      return (sql.dueUploads.all(now, limit) as unknown as UploadRow[]).map(uploadOf);
    },
    parts(uploadId) {
      const rows = sql.parts.all(uploadId) as unknown as PartRow[];
      return rows.map(([number, blob, record]) =>
        decodePart(
          number,
          blob,
          verifiedText(record, `part ${number} of upload "${uploadId}"`, partPlace(uploadId, number, blob)),
        ),
      );
    },
    buried(after, limit) {
      const rows = sql.buried.all(after, limit) as unknown as BuriedRow[];
      return rows.map(([entry, blob, manifest]) => ({
        entry,
        blobs: blob === null ? manifestBlobs(manifest) : [blob],
      }));
    },
    knowsBlob: (id) => sql.blob.get(id) !== undefined,
  };
}

const noSettings: BucketSettings = {};

function settingsOf(cors: string | null, lifecycle: string | null): BucketSettings {
  return {
    ...(cors === null ? {} : { cors: JSON.parse(cors) }),
    ...(lifecycle === null ? {} : { lifecycle: JSON.parse(lifecycle) }),
  };
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

function manifestBlobs(manifest: string | null): string[] {
  invariant(manifest !== null, "a buried body names its blobs");
  return ownedParts(manifest, "the list of parts of a buried body")[1].map(({ blob }) => blob.id);
}

function uploadOf([record]: UploadRow): UploadRecord {
  return decodeUpload(verifiedText(record, "the record of an upload"));
}

/** The first possible key behind a position. */
function behind({ behind, value }: Position): Uint8Array {
  const bytes = keyBytes(value);
  if (behind === "key") return Buffer.concat([bytes, Buffer.alloc(1)]);
  return behind === "prefix" ? (successor(bytes) ?? bytes) : bytes;
}

/** The first byte string behind everything that begins with the prefix; UTF-8 has no byte 0xff to overflow. */
function successor(prefix: Uint8Array): Uint8Array | null {
  if (prefix.length === 0) return null;
  const end = Uint8Array.from(prefix);
  end[end.length - 1]!++;
  return end;
}

/** Keys are UTF-8, which has no such byte. */
const behindEverything = Uint8Array.of(0xff);

function prepare(database: Database) {
  const sql = (text: string) => {
    const statement = database.prepare(text);
    // Rows as arrays: naming the columns of each row costs more than reading them.
    statement.setReturnArrays(true);
    return statement;
  };
  return {
    bucket: sql("SELECT deleted FROM bucket"),
    settings: sql("SELECT deleted, cors, lifecycle FROM bucket"),
    totals: sql("SELECT objects, bytes FROM bucket"),
    object: sql("SELECT record, blob, stored FROM objects WHERE key = ?"),
    objectWithBody: sql(
      "SELECT record, blob, stored, inline, bytes, parts FROM objects " +
        "LEFT JOIN bodies ON bodies.id = inline LEFT JOIN manifests ON manifests.id = manifest WHERE key = ?",
    ),
    scan: sql("SELECT record, blob, stored FROM objects WHERE key >= ? AND key < ? ORDER BY key LIMIT ?"),
    firstKeys: sql("SELECT key FROM objects ORDER BY key LIMIT 256"),
    keys: sql("SELECT key FROM objects WHERE key > ? ORDER BY key LIMIT 256"),
    upload: sql("SELECT record, revision FROM uploads WHERE key = ? AND id = ?"),
    uploads: sql(
      "SELECT record, revision FROM uploads WHERE key >= ? AND key < ? AND (key, id) > (?, ?) ORDER BY key, id LIMIT ?",
    ),
    dueUploads: sql("SELECT record, revision FROM uploads WHERE due <= ? ORDER BY due LIMIT ?"),
    parts: sql("SELECT number, blob, record FROM parts WHERE upload = ? ORDER BY number"),
    buried: sql(
      "SELECT entry, blob, parts FROM buried LEFT JOIN manifests ON manifests.id = manifest " +
        "WHERE entry > ? ORDER BY entry LIMIT ?",
    ),
    blob: sql("SELECT 1 FROM blobs WHERE id = ?"),
  };
}
