// Compares records, bodies and settings of both sides, ignoring blob ids.
import { encodeManifest, encodeObject, encodePart, encodeUpload } from "../engine/codec/record-codec.ts";
import { encodeVersion } from "../engine/codec/version-codec.ts";
import type { Body } from "../engine/records.ts";
import type { BucketRecord, BucketSettings } from "../model/bucket.ts";
import type { HttpMetadata, ObjectRecord } from "../model/object.ts";
import type { PartRecord, UploadRecord } from "../model/upload.ts";
import { isDeleteMarker, type Version } from "../model/version.ts";

export function isSameObject(a: ObjectRecord, b: ObjectRecord): boolean {
  return encodeObject(withSortedMetadata(a)) === encodeObject(withSortedMetadata(b));
}

export function isSameVersion(a: Version, b: Version): boolean {
  if (isDeleteMarker(a) || isDeleteMarker(b)) return encodeVersion(a) === encodeVersion(b);
  return isSameObject(a, b);
}

export function isSameUpload(a: UploadRecord, b: UploadRecord): boolean {
  return encodeUpload(withSortedMetadata(a)) === encodeUpload(withSortedMetadata(b));
}

export function isSamePart(a: PartRecord, b: PartRecord): boolean {
  return a.number === b.number && encodePart(a) === encodePart(b);
}

export function isSameBucket(a: BucketRecord, b: BucketRecord): boolean {
  return a.created === b.created && a.storageClass === b.storageClass && a.account === b.account;
}

export function isSameSetting(a: BucketSettings[keyof BucketSettings], b: typeof a): boolean {
  return JSON.stringify(sortFields(a)) === JSON.stringify(sortFields(b));
}

/** Describes the structure of a body without its blob ids. */
export function describeBody(body: Body): string {
  if (body.storage === "inline") return `${body.bytes.length} bytes beside the record`;
  if (body.storage === "blob") return `${body.blob.size} bytes`;
  return `parts ${encodeManifest(body.parts.map((part) => ({ ...part, blob: { ...part.blob, id: "" } })))}`;
}

/** Sorts the fields, because a database may return them in another order. */
function withSortedMetadata<T extends { readonly httpMetadata: HttpMetadata }>(record: T): T {
  return { ...record, httpMetadata: sortFields(record.httpMetadata) as HttpMetadata };
}

function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, sortFields(v)]));
}
