// Decodes the location of a body from the columns of a row, in the tables of objects and of history.
import type { PartsBody } from "../../engine/codec/parts-body.ts";
import { decodeManifest } from "../../engine/codec/record-codec.ts";
import type { Body, BodyPart } from "../../engine/records.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { verifyBytes, verifyText } from "./checksum.ts";

/** The value of `inline` for an empty body, which has no row in `bodies`. */
export const emptyBody = 0;

/** The record and the columns that locate the body. `manifest` is the row of a list of parts. */
export type BodyRow = readonly [
  record: string,
  blob: string | null,
  stored: number | null,
  inline: number | null,
  bytes: Uint8Array | null,
  manifest: number | null,
];

/** Returns the body whose list of parts is in the row `manifest`, which must belong to the record. */
export type ReadParts = (manifest: number, record: ObjectRecord) => PartsBody;

export function toBody(
  record: ObjectRecord,
  row: readonly [...BodyRow, ...unknown[]],
  readParts: ReadParts,
): Body {
  const [, blob, stored, inline, bytes, manifest] = row;
  const { key, version } = record;
  if (blob !== null) return { storage: "blob", blob: { id: blob, size: stored! } };
  if (manifest !== null) return readParts(manifest, record);
  if (inline === emptyBody && record.size === 0 && record.encryption === undefined)
    return { storage: "inline", bytes: new Uint8Array() };
  return { storage: "inline", bytes: verifyBytes(version, bytes, `the body of "${key}"`) };
}

/** Parses a stored list of parts, which starts with the version of the object that owns it. */
export function ownedParts(manifest: string, what: string): [version: string, parts: BodyPart[]] {
  const [version, text] = ownedText(manifest, what);
  return [version, decodeManifest(text)];
}

/** Verifies a stored list of parts and returns it encoded. */
export function ownedText(manifest: string, what: string): [version: string, text: string] {
  const text = verifyText(manifest, what);
  return [text.slice(0, versionDigits), text.slice(versionDigits)];
}

const versionDigits = 32;
