// The objects that head, put and list return: metadata without a body (spec 2.2, 2.3).
import { headersFromMetadata } from "../http/headers.ts";
import { checksumAlgorithms, hex } from "../model/checksums/checksum.ts";
import type { CustomMetadata, HttpMetadata, ObjectRecord } from "../model/object.ts";
import type { ByteRange } from "../model/range.ts";
import type * as script from "../types.ts";

/** Taken at load, because scripts replace globals; it recognizes the Headers of scripts too. */
const { Headers } = globalThis;

/** The kinds of metadata that list returns; other methods always return all kinds. */
export interface IncludedMetadata {
  readonly http: boolean;
  readonly custom: boolean;
  readonly tags: boolean;
}

export const allMetadata: IncludedMetadata = { http: true, custom: true, tags: true };

export class StoreChecksums implements script.StoreChecksums {
  declare readonly md5?: ArrayBuffer;
  declare readonly sha1?: ArrayBuffer;
  declare readonly sha256?: ArrayBuffer;
  declare readonly sha384?: ArrayBuffer;
  declare readonly sha512?: ArrayBuffer;

  constructor({ checksums, checksumParts }: Pick<ObjectRecord, "checksums" | "checksumParts">) {
    // A composite checksum covers the checksums of the parts, not the bytes.
    if (checksumParts !== undefined) return;
    for (const algorithm of checksumAlgorithms) {
      const value = checksums[algorithm];
      if (value !== undefined) this[algorithm] = new Uint8Array(value).buffer;
    }
  }

  toJSON(): script.StoreStringChecksums {
    const strings: script.StoreStringChecksums = {};
    for (const algorithm of checksumAlgorithms) {
      const value = this[algorithm];
      if (value !== undefined) strings[algorithm] = hex(new Uint8Array(value));
    }
    return strings;
  }
}

export class StoreObject implements script.StoreObject {
  readonly key: string;
  readonly version: string;
  readonly size: number;
  readonly etag: string;
  readonly httpEtag: string;
  readonly uploaded: Date;
  readonly httpMetadata?: script.StoreHTTPMetadata;
  readonly customMetadata?: Record<string, string>;
  readonly range?: script.StoreRange;
  readonly checksums: script.StoreChecksums;
  readonly storageClass: script.StoreStorageClass;
  readonly ssecKeyMd5?: string;
  // Declared only, so that objects without these fields do not pay for them.
  declare readonly tags?: Record<string, string>;
  declare readonly retention?: script.StoreRetention;
  declare readonly legalHold?: boolean;

  constructor(record: ObjectRecord, range?: ByteRange, included: IncludedMetadata = allMetadata) {
    this.key = record.key;
    this.version = record.version;
    this.size = record.size;
    this.etag = record.etag;
    this.httpEtag = `"${record.etag}"`;
    this.uploaded = new Date(record.uploaded);
    if (included.http) this.httpMetadata = scriptMetadata(record.httpMetadata);
    if (included.custom) this.customMetadata = plainObject(record.customMetadata);
    if (range !== undefined) this.range = { offset: range.offset, length: range.length };
    this.checksums = new StoreChecksums(record);
    this.storageClass = record.storageClass;
    const keyMd5 = record.encryption?.keyMd5;
    if (keyMd5 !== undefined) this.ssecKeyMd5 = keyMd5;
    if (included.tags) this.tags = record.tags === undefined ? {} : plainObject(record.tags);
    if (record.lock === undefined) return;
    const { retention, legalHold } = record.lock;
    if (retention !== undefined) this.retention = { mode: retention.mode, until: new Date(retention.until) };
    if (legalHold === true) this.legalHold = true;
  }

  writeHttpMetadata(headers: Headers): void {
    if (!(headers instanceof Headers)) throw new TypeError("writeHttpMetadata needs a Headers object.");
    if (this.httpMetadata === undefined) {
      throw new TypeError(
        'This object has no HTTP metadata: call list with include: ["httpMetadata"] to get it.',
      );
    }
    const { cacheExpiry, ...text } = this.httpMetadata;
    const stored = cacheExpiry === undefined ? text : { ...text, cacheExpiry: cacheExpiry.getTime() };
    for (const [name, value] of headersFromMetadata(stored as HttpMetadata)) headers.set(name, value);
  }
}

function scriptMetadata({ cacheExpiry, ...text }: HttpMetadata): script.StoreHTTPMetadata {
  return cacheExpiry === undefined ? text : { ...text, cacheExpiry: new Date(cacheExpiry) };
}

/** fromEntries defines properties instead of assigning them, so that `__proto__` is a safe name. */
function plainObject(metadata: CustomMetadata): Record<string, string> {
  return metadata.size === 0 ? {} : Object.fromEntries(metadata);
}
