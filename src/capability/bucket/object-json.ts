// Writes objects in the JSON of the protocol. 64-bit numbers are strings, as in its schema.
import { checksumAlgorithms, hex } from "../../model/checksums/checksum.ts";
import type { CustomMetadata, HttpMetadata, ObjectRecord } from "../../model/object.ts";
import type { ByteRange } from "../../model/range.ts";

export interface IncludedFields {
  readonly http: boolean;
  readonly custom: boolean;
}

export const allFields: IncludedFields = { http: true, custom: true };

export function toObjectJson(record: ObjectRecord, { http, custom }: IncludedFields, range?: ByteRange) {
  const keyMd5 = record.encryption?.keyMd5;
  return {
    name: record.key,
    version: record.version,
    size: String(record.size),
    etag: record.etag,
    uploaded: String(record.uploaded),
    ...(http ? { httpFields: toHttpJson(record.httpMetadata) } : {}),
    ...(custom ? { customFields: toCustomJson(record.customMetadata) } : {}),
    ...(range === undefined ? {} : { range: { offset: String(range.offset), length: String(range.length) } }),
    checksums: toChecksumJson(record),
    storageClass: record.storageClass,
    ...(keyMd5 === undefined ? {} : { ssec: { algorithm: "AES256", keyMd5 } }),
  };
}

function toHttpJson({ cacheExpiry, ...text }: HttpMetadata) {
  // The runtime reads a time before 1970 as the complement of an unsigned number.
  return cacheExpiry === undefined
    ? text
    : { ...text, cacheExpiry: String(BigInt.asUintN(64, BigInt(cacheExpiry))) };
}

function toCustomJson(metadata: CustomMetadata): { k: string; v: string }[] {
  return Array.from(metadata, ([k, v]) => ({ k, v }));
}

/** Names are indexes of the algorithms, as in the schema. */
function toChecksumJson({ checksums, checksumParts }: ObjectRecord): Record<string, string> {
  const json: Record<string, string> = {};
  // A composite checksum covers the checksums of the parts, not the bytes.
  if (checksumParts !== undefined) return json;
  for (const [i, algorithm] of checksumAlgorithms.entries()) {
    const value = checksums[algorithm];
    if (value !== undefined) json[i] = hex(value);
  }
  return json;
}
