// Queries of uploads and their parts in a bucket's database.
import { Buffer } from "node:buffer";
import { decodePart, decodeUpload } from "../../../engine/codec/record-codec.ts";
import type { StoredUpload, UploadScan } from "../../../engine/records.ts";
import { compareKeys, keyBytes } from "../../../model/key.ts";
import type { PartRecord, UploadRecord } from "../../../model/upload.ts";
import { damagedError, partContext, verifyText } from "../../rows/checksum.ts";
import { existenceKey, inSnapshot, lostError } from "../existence-index.ts";
import { type Database, prepareArrays } from "../sqlite.ts";

export interface UploadQueries {
  upload(key: string, id: string): StoredUpload | undefined;
  uploads(scan: UploadScan): UploadRecord[];
  dueUploads(now: number, limit: number): UploadRecord[];
  parts(uploadId: string): PartRecord[];
}

type UploadRow = readonly [
  record: string,
  revision: number,
  key: Uint8Array,
  id: string,
  active: number,
  due: number,
];
type PartRow = readonly [number: number, blob: string, record: string];

export function createUploadQueries(database: Database): UploadQueries {
  const sql = prepareStatements(database);
  return {
    upload(key, id) {
      const bytes = keyBytes(key);
      const find = () => sql.upload.get(bytes, id);
      const row = find();
      if (row !== undefined) return { record: toUpload(row), revision: row[1] };
      const indexKey = existenceKey.upload(bytes, id);
      if (sql.existence.get(indexKey) === undefined) return undefined;
      // A commit may have happened between the two reads, so read again in one snapshot.
      return inSnapshot(database, () => {
        const again = find();
        if (again !== undefined) return { record: toUpload(again), revision: again[1] };
        if (sql.existence.get(indexKey) !== undefined) throw lostError(`an upload of "${key}"`);
        return undefined;
      });
    },
    uploads({ prefix, after, limit }) {
      const start = keyBytes(prefix);
      const end = successor(start) ?? afterAllKeys;
      const key = after === undefined ? start : keyBytes(after.key);
      // Without an id, start after all uploads of the key: ids are hex digits, which sort before
      // "~".
      const isAtStart = after === undefined || Buffer.compare(key, start) < 0;
      const from = isAtStart ? ([start, ""] as const) : ([key, after.id ?? "~"] as const);
      const uploads = sql.uploads.all(...from, end, limit).map(toUpload);
      for (const [i, upload] of uploads.entries()) {
        const before = i === 0 ? after : uploads[i - 1];
        if (before !== undefined && !isAfter(upload, before)) throw damagedError("the order of the uploads");
      }
      return uploads;
    },
    dueUploads(now, limit) {
      const rows = sql.dueUploads.all(now, limit);
      // The index by time may be damaged, so check the time in the record.
      return rows.map(toUpload).filter(({ due }) => due <= now);
    },
    parts(uploadId) {
      const range = [existenceKey.part(uploadId, 0), existenceKey.afterParts(uploadId)];
      const { rows, indexed } = inSnapshot(database, () => ({
        rows: sql.parts.all(uploadId),
        indexed: sql.indexedPartCount.get(...range)![0],
      }));
      if (rows.length < indexed) throw lostError(`a part of upload "${uploadId}"`);
      return rows.map((row) => toPart(uploadId, row));
    },
  };
}

/** Whether the upload sorts after the position. Without an id, uploads of the key itself do not. */
function isAfter(upload: UploadRecord, { key, id }: { key: string; id?: string }): boolean {
  const order = compareKeys(upload.key, key);
  return order > 0 || (order === 0 && id !== undefined && upload.id > id);
}

function toUpload([text, , key, id, active, due]: UploadRow): UploadRecord {
  const record = decodeUpload(verifyText(text, "the record of an upload"));
  const isSame =
    Buffer.compare(keyBytes(record.key), key) === 0 &&
    record.id === id &&
    record.due === due &&
    active === (record.state === "active" ? 1 : 0);
  if (!isSame) throw damagedError(`the index entry of an upload of "${record.key}"`);
  return record;
}

function toPart(uploadId: string, [number, blob, record]: PartRow): PartRecord {
  const text = verifyText(
    record,
    `part ${number} of upload "${uploadId}"`,
    partContext(uploadId, number, blob),
  );
  return decodePart(number, blob, text);
}

/**
 * Returns the first byte string after all strings with this prefix. Null if the prefix is empty.
 * The last byte cannot overflow, because UTF-8 has no byte 0xff.
 */
export function successor(prefix: Uint8Array): Uint8Array | null {
  if (prefix.length === 0) return null;
  const end = Uint8Array.from(prefix);
  end[end.length - 1]!++;
  return end;
}

/** A key that sorts after every other key, because UTF-8 has no byte 0xff. */
export const afterAllKeys = Uint8Array.of(0xff);

function prepareStatements(database: Database) {
  const sql = <Row extends readonly unknown[]>(text: string) => prepareArrays<Row>(database, text);
  const columns = "SELECT record, revision, key, id, active, due FROM uploads";
  return {
    upload: sql<UploadRow>(`${columns} WHERE key = ? AND id = ?`),
    // With a second lower limit, SQLite would start every page at the first upload.
    uploads: sql<UploadRow>(`${columns} WHERE (key, id) > (?, ?) AND key < ? ORDER BY key, id LIMIT ?`),
    dueUploads: sql<UploadRow>(`${columns} WHERE due <= ? ORDER BY due LIMIT ?`),
    parts: sql<PartRow>("SELECT number, blob, record FROM parts WHERE upload = ? ORDER BY number"),
    existence: sql("SELECT 1 FROM witness WHERE place = ?"),
    indexedPartCount: sql<[count: number]>("SELECT count(*) FROM witness WHERE place >= ? AND place < ?"),
  };
}
