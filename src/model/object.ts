// Objects: what is known of one, apart from its bytes.

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

/** How an object or upload is encrypted under a customer's key. The key itself is never kept. */
export interface Encryption {
  /** Hex MD5 of the customer's key: tells people which key is needed, decides nothing. */
  readonly keyMd5: string;
  /** What the sealed data key is bound to: the version of a single put, the id of an upload. */
  readonly scope: string;
  readonly sealedKey: Uint8Array;
  /** Of a single put: the checksums of the plain bytes, for those who bring the key. */
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
  /** 32 hex digits, random, new for every write. */
  readonly version: string;
  readonly size: number;
  readonly etag: string;
  /** Milliseconds since the epoch; never used to order versions. */
  readonly uploaded: number;
  readonly checksums: Checksums;
  /** When the checksums are made of so many parts' checksums rather than of the bytes. */
  readonly checksumParts?: number;
}
