// When two records, bodies or settings are the same on both sides, whatever their blobs are called there.

import { encodeManifest, encodeObject, encodePart, encodeUpload } from "../engine/codec/record-codec.ts";
import type { Body, BodyPart } from "../engine/records.ts";
import type { BucketRecord, BucketSettings } from "../model/bucket.ts";
import type { HttpMetadata, ObjectRecord } from "../model/object.ts";
import type { PartRecord, UploadRecord } from "../model/upload.ts";

export function isSameObject(a: ObjectRecord, b: ObjectRecord): boolean {
  return encodeObject(inOrder(a)) === encodeObject(inOrder(b));
}

export function isSameUpload(a: UploadRecord, b: UploadRecord): boolean {
  return encodeUpload(inOrder(a)) === encodeUpload(inOrder(b));
}

export function isSamePart(a: PartRecord, b: PartRecord): boolean {
  return a.number === b.number && encodePart(a) === encodePart(b);
}

export function isSameBucket(a: BucketRecord, b: BucketRecord): boolean {
  return a.created === b.created && a.storageClass === b.storageClass && a.account === b.account;
}

export function isSameSetting(a: BucketSettings[keyof BucketSettings], b: typeof a): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

/** Where the bytes are, without the names they have there. */
export function shapeOf(body: Body): string {
  if (body.home === "inline") return `${body.bytes.length} bytes beside the record`;
  if (body.home === "blob") return `${body.blob.size} bytes`;
  return `parts ${encodeManifest(body.parts.map(nameless))}`;
}

function nameless(part: BodyPart): BodyPart {
  return { ...part, blob: { ...part.blob, id: "" } };
}

/** What a database hands back may have its fields in another order. */
function inOrder<T extends { readonly httpMetadata: HttpMetadata }>(record: T): T {
  return { ...record, httpMetadata: sorted(record.httpMetadata) as HttpMetadata };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, sorted(v)]));
}
