// Fast path for the most common object record, which has an MD5 and at most a content type. A
// listing decodes a thousand of them per page without JSON. Other records use record-codec.ts.
import { Buffer } from "node:buffer";
import { hex } from "../../model/checksums/checksum.ts";
import {
  type HttpMetadata,
  type ObjectRecord,
  type StorageClass,
  storageClasses,
} from "../../model/object.ts";
import { decodeEncryption, encodeEncryption } from "./encryption-codec.ts";

// Also records with such fields that are encrypted with the store's key.
const text = '"([^"\\\\\\u0000-\\u001f]*)"';
const count = "(0|[1-9]\\d{0,14})";
const commonForm = new RegExp(
  `^\\[1,${text},${text},${count},${count},${text},\\{"md5":"([0-9a-f]{32})"\\},"(\\w+)",(?:0|\\{"contentType":${text}\\}),0,(?:0|\\["store",${text},${text},${text}\\])(,0,\\{"v":1\\})?\\]$`,
);

/** Shared by all records without metadata: records are never modified. */
const noHttpMetadata: HttpMetadata = Object.freeze({});
const noCustomMetadata: ReadonlyMap<string, string> = new Map();

/** Returns a common record as JSON, three times faster than JSON.stringify; otherwise undefined. */
export function writeCommonObject(record: ObjectRecord): string | undefined {
  const { key, version, size, uploaded, etag, checksums, httpMetadata, customMetadata, storageClass } =
    record;
  if (record.encryption?.keyMd5 !== undefined || record.checksumParts !== undefined) return undefined;
  if (customMetadata.size > 0) return undefined;
  if (record.tags !== undefined || record.lock !== undefined || record.passthrough !== undefined)
    return undefined;
  const { md5 } = checksums;
  if (md5 === undefined || !hasOnly("md5", checksums) || !hasOnly("contentType", httpMetadata))
    return undefined;
  if (!Number.isSafeInteger(uploaded)) return undefined;
  const { contentType } = httpMetadata;
  const http = contentType === undefined ? "0" : `{"contentType":${JSON.stringify(contentType)}}`;
  const identity = `${JSON.stringify(key)},${JSON.stringify(version)},${size},${uploaded},${JSON.stringify(etag)}`;
  const versioned = record.isVersioned === true ? ',0,{"v":1}' : "";
  return `[1,${identity},{"md5":"${hex(md5)}"},"${storageClass}",${http},0,${writeEncryption(record)}${versioned}]`;
}

function writeEncryption({ encryption }: ObjectRecord): string {
  if (encryption === undefined) return "0";
  const [kind, scope, sealedKey, ...others] = encodeEncryption(encryption);
  // The sealed key is base64, so it needs no escapes.
  return `["${kind}",${JSON.stringify(scope)},"${sealedKey}",${others.map((text) => JSON.stringify(text))}]`;
}

function hasOnly(name: string, fields: object): boolean {
  for (const field in fields) if (field !== name) return false;
  return true;
}

export function readCommonObject(record: string): ObjectRecord | undefined {
  const found = commonForm.exec(record);
  if (found === null) return undefined;
  const storageClass = found[7] as StorageClass;
  if (!storageClasses.includes(storageClass)) return undefined;
  const decoded: ObjectRecord = {
    key: found[1]!,
    version: found[2]!,
    size: Number(found[3]),
    etag: found[5]!,
    uploaded: Number(found[4]),
    checksums: { md5: Buffer.from(found[6]!, "hex") },
    httpMetadata: found[8] === undefined ? noHttpMetadata : { contentType: found[8] },
    customMetadata: noCustomMetadata,
    storageClass,
  };
  // Most records of a list end here: copying the matches would cost a fifth of the list.
  if (found[9] === undefined && found[12] === undefined) return decoded;
  const sealed =
    found[9] === undefined
      ? decoded
      : { ...decoded, encryption: decodeEncryption(["store", found[9], found[10]!, found[11]!]) };
  return found[12] === undefined ? sealed : { ...sealed, isVersioned: true };
}
