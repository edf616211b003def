// The reads of a bucket's database: prepared once, answered with records whose checksums were verified.
import { decodeManifest, decodeObject, decodePart, decodeUpload, encodedWeight } from "../engine/encoding.ts";
import type { Body, BuriedBody, ObjectWithBody, StoredUpload, UploadScan } from "../engine/records.ts";
import { invariant } from "../model/errors.ts";
import { keyBytes } from "../model/key.ts";
import { collectPage, type Page, type Position, type Scan, type ScanRow } from "../model/listing.ts";
import type { ObjectRecord } from "../model/object.ts";
import type { PartRecord, UploadRecord } from "../model/upload.ts";
import { verified } from "./checked.ts";
import type { Database } from "./database.ts";

export interface Queries {
  isDeleted(): boolean;
  object(key: string): ObjectRecord | undefined;
  objectWithBody(key: string): ObjectWithBody | undefined;
  objects(scan: Scan): Page<ObjectRecord>;
  upload(key: string, id: string): StoredUpload | undefined;
  uploads(scan: UploadScan): UploadRecord[];
  dueUploads(now: number, limit: number): UploadRecord[];
  parts(uploadId: string): PartRecord[];
  buried(after: number, limit: number): BuriedBody[];
  /** Whether a commit has named this blob and no sweep has removed it. */
  knowsBlob(id: string): boolean;
}

interface RecordRow {
  readonly record: Uint8Array;
}

interface BodyRow extends RecordRow {
  readonly version: Uint8Array;
  readonly blob: string | null;
  readonly stored: number | null;
  readonly bytes: Uint8Array | null;
  readonly parts: Uint8Array | null;
}

interface KeyedRow extends RecordRow {
  readonly key: Uint8Array;
}

interface UploadRow extends KeyedRow {
  readonly id: string;
  readonly revision: number;
}

export function createQueries(database: Database): Queries {
  const sql = prepare(database);

  function rows(prefix: Uint8Array, end: Uint8Array | null, from: Uint8Array): Iterable<KeyedRow> {
    const start = Buffer.compare(from, prefix) > 0 ? from : prefix;
    const found = end === null ? sql.scan.iterate(start) : sql.scanUntil.iterate(start, end);
    return found as unknown as Iterable<KeyedRow>;
  }

  function* seek(prefix: string, after: Position): Iterable<ScanRow<ObjectRecord>> {
    const bytes = keyBytes(prefix);
    for (const { key, record } of rows(bytes, successor(bytes), behind(after))) {
      const text = textOf(key);
      yield {
        key: text,
        metadataBytes: encodedWeight(record),
        record: () => decodeObject(text, verified(key, record, `the record of "${text}"`)),
      };
    }
  }

  return {
    isDeleted: () => (sql.bucket.get() as { deleted: number }).deleted === 1,
    object(key) {
      const bytes = keyBytes(key);
      const row = sql.object.get(bytes) as unknown as RecordRow | undefined;
      return row === undefined
        ? undefined
        : decodeObject(key, verified(bytes, row.record, `the record of "${key}"`));
    },
    objectWithBody(key) {
      const bytes = keyBytes(key);
      const row = sql.objectWithBody.get(bytes) as unknown as BodyRow | undefined;
      if (row === undefined) return undefined;
      const record = decodeObject(key, verified(bytes, row.record, `the record of "${key}"`));
      return { record, body: bodyOf(key, row, record) };
    },
    objects(scan) {
      // One snapshot for the whole page, and one lock instead of one a seek.
      database.exec("BEGIN");
      try {
        return collectPage(seek, scan);
      } finally {
        database.exec("COMMIT");
      }
    },
    upload(key, id) {
      const row = sql.upload.get(keyBytes(key), id) as unknown as UploadRow | undefined;
      return row === undefined ? undefined : { record: uploadOf(row), revision: row.revision };
    },
    uploads({ prefix, after, limit }) {
      const bytes = keyBytes(prefix);
      const from = after === undefined ? null : keyBytes(after.key);
      // Behind every id of the key when none is given: ids are shorter than this.
      const id = after === undefined ? "" : (after.id ?? "\u{10ffff}");
      const found = sql.uploads.all(
        bytes,
        successor(bytes) ?? Buffer.alloc(1, 0xff),
        from ?? bytes,
        from === null ? "" : id,
        from === null ? 1 : 0,
        limit,
      );
      return (found as unknown as UploadRow[]).map(uploadOf);
    },
    dueUploads(now, limit) {
      return (sql.dueUploads.all(now, limit) as unknown as UploadRow[]).map(uploadOf);
    },
    parts(uploadId) {
      const found = sql.parts.all(uploadId) as unknown as {
        number: number;
        blob: string;
        record: Uint8Array;
      }[];
      return found.map(({ number, blob, record }) =>
        decodePart(
          number,
          blob,
          verified(keyBytes(uploadId), record, `part ${number} of upload "${uploadId}"`),
        ),
      );
    },
    buried(after, limit) {
      const found = sql.buried.all(after, limit) as unknown as {
        entry: number;
        blob: string | null;
        parts: Uint8Array | null;
      }[];
      return found.map(({ entry, blob, parts }) => ({
        entry,
        blobs: blob === null ? manifestBlobs(parts) : [blob],
      }));
    },
    knowsBlob: (id) => sql.blob.get(id) !== undefined,
  };
}

function bodyOf(key: string, row: BodyRow, record: ObjectRecord): Body {
  if (row.blob !== null) return { home: "blob", blob: { id: row.blob, size: row.stored! } };
  if (row.parts !== null) {
    return {
      home: "parts",
      parts: decodeManifest(verified(row.version, row.parts, `the parts of "${key}"`)),
    };
  }
  if (row.bytes !== null)
    return { home: "inline", bytes: verified(row.version, row.bytes, `the body of "${key}"`) };
  invariant(record.size === 0, `"${key}" of ${record.size} bytes has a body`);
  return { home: "inline", bytes: new Uint8Array() };
}

/** The manifest of a buried body: its object's version is gone with the object, so only its form is checked. */
function manifestBlobs(parts: Uint8Array | null): string[] {
  invariant(parts !== null, "a buried body names its blobs");
  return decodeManifest(parts).map(({ blob }) => blob.id);
}

function uploadOf({ key, id, record }: UploadRow): UploadRecord {
  const text = textOf(key);
  return decodeUpload(text, id, verified(key, record, `upload "${id}" of "${text}"`));
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
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

function prepare(database: Database) {
  const sql = (text: string) => database.prepare(text);
  return {
    bucket: sql("SELECT deleted FROM bucket"),
    object: sql("SELECT record FROM objects WHERE key = ?"),
    objectWithBody: sql(
      "SELECT record, version, blob, stored, bytes, parts FROM objects " +
        "LEFT JOIN bodies ON bodies.id = inline LEFT JOIN manifests ON manifests.id = manifest WHERE key = ?",
    ),
    scan: sql("SELECT key, record FROM objects WHERE key >= ? ORDER BY key"),
    scanUntil: sql("SELECT key, record FROM objects WHERE key >= ? AND key < ? ORDER BY key"),
    upload: sql("SELECT key, id, revision, record FROM uploads WHERE key = ? AND id = ?"),
    uploads: sql(
      "SELECT key, id, revision, record FROM uploads WHERE key >= ?1 AND key < ?2 " +
        "AND key >= ?3 AND (?5 OR (key, id) > (?3, ?4)) ORDER BY key, id LIMIT ?6",
    ),
    dueUploads: sql("SELECT key, id, revision, record FROM uploads WHERE due <= ? ORDER BY due LIMIT ?"),
    parts: sql("SELECT number, blob, record FROM parts WHERE upload = ? ORDER BY number"),
    buried: sql(
      "SELECT entry, blob, parts FROM buried LEFT JOIN manifests ON manifests.id = manifest " +
        "WHERE entry > ? ORDER BY entry LIMIT ?",
    ),
    blob: sql("SELECT 1 FROM blobs WHERE id = ?"),
  };
}
