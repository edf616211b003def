// Objects: metadata and the record of a version.
import type { ChecksumAlgorithm } from "./checksum.ts";
import { StoreError } from "./errors.ts";
import type { Key } from "./key.ts";

export const storageClasses = ["Standard", "InfrequentAccess"] as const;
export type StorageClass = (typeof storageClasses)[number];

export function checkStorageClass(value: string): StorageClass {
  const found = storageClasses.find((storageClass) => storageClass === value);
  if (found === undefined) throw new StoreError("InvalidStorageClass");
  return found;
}

export interface HttpMetadata {
  readonly contentType?: string;
  readonly contentLanguage?: string;
  readonly contentDisposition?: string;
  readonly contentEncoding?: string;
  readonly cacheControl?: string;
  /** Milliseconds since the epoch. */
  readonly cacheExpiry?: number;
}

export type CustomMetadata = ReadonlyMap<string, string>;
export type Checksums = { readonly [algorithm in ChecksumAlgorithm]?: Uint8Array };

/** How an object or upload is encrypted under a customer's key. The key itself is never stored. */
export interface Encryption {
  /** Hex MD5 of the customer's key: shows people which key is needed, decides nothing. */
  readonly keyMd5: string;
  /** The sealed data key is bound to this: the version of a single put, or the id of an upload. */
  readonly scope: string;
  readonly sealedKey: Uint8Array;
  /** For a single put: the checksums of the plain bytes, readable with the customer's key. */
  readonly sealedChecksums?: Uint8Array;
}

export interface Metadata {
  readonly httpMetadata: HttpMetadata;
  readonly customMetadata: CustomMetadata;
  readonly storageClass: StorageClass;
  readonly encryption?: Encryption;
}

export interface ObjectRecord extends Metadata {
  readonly key: Key;
  /** 32 random hex digits, new for every write. */
  readonly version: string;
  readonly size: number;
  readonly etag: string;
  /** Milliseconds since the epoch; never used to order versions. */
  readonly uploaded: number;
  readonly checksums: Checksums;
  /** Number of parts, when the checksum was made from the parts' checksums instead of the bytes. */
  readonly checksumParts?: number;
}
