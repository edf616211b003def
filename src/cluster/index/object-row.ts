// Decodes the rows of objects with their bodies.
import type { Buffer } from "node:buffer";
import { decodeManifest, decodeObject } from "../../engine/codec/record-codec.ts";
import type { Body, InspectedObject, ObjectWithBody } from "../../engine/records.ts";
import { StoreError } from "../../model/errors.ts";
import type { Key } from "../../model/key.ts";
import type { Row } from "../postgres/connection.ts";

/** Decodes the columns record, inline, blob, stored and parts. */
export function toObjectWithBody([record, inline, blob, stored, parts]: Row): ObjectWithBody {
  return { record: decodeObject(record as string), body: toBody(inline, blob, stored, parts) };
}

export function toBody(inline: unknown, blob: unknown, stored: unknown, parts: unknown): Body {
  if (inline !== null) return { storage: "inline", bytes: inline as Buffer };
  if (blob !== null) return { storage: "blob", blob: { id: String(blob), size: Number(stored) } };
  if (parts !== null) return { storage: "parts", parts: decodeManifest(parts as string) };
  throw new StoreError("Damaged", { detail: "The stored data is damaged: an object has no body." });
}

/** Decodes the key and the columns of `toObjectWithBody`. Returns damage as an error. */
export function toInspectedObject([bytes, ...row]: Row): InspectedObject {
  const key = (bytes as Buffer).toString();
  return {
    key,
    found: inspectRow(key, () => {
      const found = toObjectWithBody(row);
      return { key: found.record.key, found };
    }),
  };
}

/** Decodes a row that is stored under this key. Returns damage as an error. */
export function inspectRow<T>(
  key: Key,
  decode: () => { readonly key: Key; readonly found: T },
): T | StoreError {
  try {
    const decoded = decode();
    if (decoded.key === key) return decoded.found;
    const detail = "The stored data is damaged: a record is stored under another key.";
    return new StoreError("Damaged", { detail });
  } catch (error) {
    if (error instanceof StoreError) return error;
    const detail = "The stored data is damaged: a record cannot be read.";
    return new StoreError("Damaged", { detail, cause: error });
  }
}
