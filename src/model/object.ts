// Objects: metadata and the record of a version.
import type { ChecksumAlgorithm } from "./checksums/checksum.ts";
import { StoreError } from "./errors.ts";
import type { Key } from "./key.ts";
import type { ObjectLock } from "./lock.ts";
import type { Tags } from "./tags.ts";

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

/**
 * Values that a front end stores with an object and returns as they were given. No rule reads them.
 *
 * @example new Map([["class", "GLACIER"]])
 */
export type Passthrough = ReadonlyMap<string, string>;
export type Checksums = { readonly [algorithm in ChecksumAlgorithm]?: Uint8Array };

/** How an object or upload is encrypted: with a customer's key, or with a key of the store. */
export type Encryption = CustomerEncryption | StoreEncryption;

/** Encryption with a customer's key (SSE-C). The key itself is never stored. */
export interface CustomerEncryption {
  readonly masterKey?: undefined;
  /** Hex MD5 of the customer's key, to identify the key. Reads check the seal instead. */
  readonly keyMd5: string;
  /** The version of a single put, or the id of an upload. The sealed data key is bound to it. */
  readonly scope: string;
  readonly sealedKey: Uint8Array;
  /** Only for a single put: the checksums of the plain bytes, sealed with the data key. */
  readonly sealedChecksums?: Uint8Array;
}

/** Encryption with a data key that a master key of the store seals (SSE-S3). */
export interface StoreEncryption {
  readonly keyMd5?: undefined;
  /** Id of the master key. */
  readonly masterKey: string;
  /** The version of the put that made the data key, or the id of an upload. */
  readonly scope: string;
  readonly sealedKey: Uint8Array;
  readonly sealedChecksums?: undefined;
}

export interface Metadata {
  readonly httpMetadata: HttpMetadata;
  readonly customMetadata: CustomMetadata;
  readonly storageClass: StorageClass;
  readonly encryption?: Encryption;
  /** Never empty: an object without tags has no field. */
  readonly tags?: Tags;
  readonly lock?: ObjectLock;
  /** Never empty. */
  readonly passthrough?: Passthrough;
}

export interface ObjectRecord extends Metadata {
  readonly key: Key;
  /** 32 random hex digits, different for every write. */
  readonly version: string;
  readonly size: number;
  readonly etag: string;
  /** Milliseconds since the epoch. Never used to order versions. */
  readonly uploaded: number;
  readonly checksums: Checksums;
  /** Number of parts, if the checksum covers the parts' checksums, not the bytes. */
  readonly checksumParts?: number;
  /** Whether versioning was on at the write. Otherwise this is the null version of its key. */
  readonly isVersioned?: true;
}
