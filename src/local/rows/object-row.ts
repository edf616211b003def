// Checks the columns of rows of objects and parts against their records.
import { Buffer } from "node:buffer";
import { beginsAsObject, decodeObject } from "../../engine/codec/record-codec.ts";
import { keyBytes } from "../../model/key.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { blobContext, partContext, verifyText } from "./checksum.ts";

export interface ObjectRow {
  readonly version: string;
  readonly size: number;
  readonly inline: number | null;
  readonly blob: string | null;
  readonly stored: number | null;
  readonly manifest: number | null;
  readonly record: string;
}

/** Whether the row is undamaged and was written under this key. */
export function isSoundRow(key: Uint8Array, row: ObjectRow): boolean {
  try {
    const text = verifyText(row.record, "", blobContext(row.blob, row.stored));
    const { version, size } = row;
    return beginsAsObject(text, keyText(key), version, size) || matchesRecord(key, row, decodeObject(text));
  } catch {
    return false;
  }
}

function keyText(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString();
}

export interface PartRow {
  readonly number: number;
  readonly blob: string;
  readonly record: string;
}

export function isSoundPart(uploadId: string, { number, blob, record }: PartRow): boolean {
  try {
    verifyText(record, "", partContext(uploadId, number, blob));
    return true;
  } catch {
    return false;
  }
}

export function matchesRecord(
  key: Uint8Array,
  { version, size }: Pick<ObjectRow, "version" | "size">,
  record: ObjectRecord,
): boolean {
  return (
    record.version === version && record.size === size && Buffer.compare(keyBytes(record.key), key) === 0
  );
}

/** The time in an object's record, after its format, key, version and size. */
const uploadedField = /^\[1,"(?:[^"\\]|\\.)*","[^"\\]*",\d+,(\d+),/;

/** Whether the record was written after the time, without decoding it. False if it is not known. */
export function isLater(record: string, time: number): boolean {
  const found = uploadedField.exec(record);
  return found !== null && Number(found[1]) > time;
}
