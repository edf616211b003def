// Types for script authors: the bucket binding (spec 2 and 4).
import type { StoreTemporaryCredentials, StoreTemporaryCredentialsOptions } from "./credential-types.ts";

/**
 * The storage classes. Any other value is refused at run time. The type accepts any `string`, like
 * other declarations of this interface.
 */
export type StoreStorageClass = "Standard" | "InfrequentAccess" | (string & Record<never, never>);

/** Allows `undefined` in every optional field, for `exactOptionalPropertyTypes`. */
type Loose<T> = { [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K] };

export interface StoreHTTPMetadata {
  contentType?: string;
  contentLanguage?: string;
  contentDisposition?: string;
  contentEncoding?: string;
  cacheControl?: string;
  cacheExpiry?: Date;
}

export interface StoreChecksums {
  readonly md5?: ArrayBuffer;
  readonly sha1?: ArrayBuffer;
  readonly sha256?: ArrayBuffer;
  readonly sha384?: ArrayBuffer;
  readonly sha512?: ArrayBuffer;
  /** The checksums in lowercase hex. */
  toJSON(): StoreStringChecksums;
}

export interface StoreStringChecksums {
  md5?: string;
  sha1?: string;
  sha256?: string;
  sha384?: string;
  sha512?: string;
}

export type StoreRange =
  | { offset: number; length?: number }
  | { offset?: number; length: number }
  | { suffix: number };

export interface StoreConditional {
  /** An etag without quotes; `*` matches any object. */
  etagMatches?: string | undefined;
  etagDoesNotMatch?: string | undefined;
  uploadedBefore?: Date | number | undefined;
  uploadedAfter?: Date | number | undefined;
  /** Whether dates are compared in whole seconds. */
  secondsGranularity?: boolean | undefined;
}

/** Keeps a version from being removed until a time. */
export interface StoreRetention {
  /** A `"governance"` retention can be shortened with a special permission, the other cannot. */
  mode: "governance" | "compliance";
  until: Date;
}

/** Metadata of a stored object. */
export interface StoreObject {
  readonly key: string;
  readonly version: string;
  readonly size: number;
  readonly etag: string;
  readonly httpEtag: string;
  readonly uploaded: Date;
  /** In a listing, present only if requested with `include`. */
  readonly httpMetadata?: StoreHTTPMetadata;
  /** In a listing, present only if requested with `include`. */
  readonly customMetadata?: Record<string, string>;
  /** The returned bytes, always with offset and length. Present only if get returns a body. */
  readonly range?: StoreRange;
  readonly checksums: StoreChecksums;
  readonly storageClass: StoreStorageClass;
  readonly ssecKeyMd5?: string;
  /** Empty without tags. In a listing, present only if requested with `include`. */
  readonly tags?: Record<string, string>;
  /** Present only if the version has a retention. */
  readonly retention?: StoreRetention;
  /** Present, and true, only if the version has a legal hold. */
  readonly legalHold?: boolean;
  writeHttpMetadata(headers: Headers): void;
}

/** A stored object with its value. The value can be read once. */
export interface StoreObjectBody extends StoreObject {
  readonly body: ReadableStream<Uint8Array>;
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array>;
  text(): Promise<string>;
  json<T = unknown>(): Promise<T>;
  blob(): Promise<Blob>;
}

/** Only a page that is not the last has a cursor. */
type Paging = { truncated: true; cursor: string } | { truncated: false; cursor?: undefined };

/** A page of a listing. Every page except the last has a cursor. */
export type StoreObjects = { objects: StoreObject[]; delimitedPrefixes: string[] } & Paging;

/** A version of an object in a listing of versions. */
export interface StoreObjectVersion extends StoreObject {
  readonly isDeleteMarker: false;
  /** Whether this is the newest version of its key. */
  readonly isCurrent: boolean;
}

/** A version without a value, left by a delete: while it is current, its key reads as missing. */
export interface StoreDeleteMarker {
  readonly isDeleteMarker: true;
  /** Whether this is the newest version of its key. */
  readonly isCurrent: boolean;
  readonly key: string;
  readonly version: string;
  readonly uploaded: Date;
}

/** A page of a listing of versions: sorted by key; of one key, the newest version first. */
export type StoreObjectVersions = {
  objects: (StoreObjectVersion | StoreDeleteMarker)[];
  delimitedPrefixes: string[];
} & Paging;

/** Which version of an object to use. Default: the current version. */
export interface StoreVersionOptions {
  /** The `version` of an object; `"null"`: the version written while versioning was not on. */
  version?: string | undefined;
}

/** Which version of an object to read. At most one of `version` and `at` can be given. */
export interface StoreHeadOptions extends StoreVersionOptions {
  /** Read the object that was current at this time. */
  at?: Date | undefined;
}

export interface StoreGetOptions extends StoreHeadOptions {
  onlyIf?: StoreConditional | Headers | null | undefined;
  range?: Loose<StoreRange> | Headers | null | undefined;
  ssecKey?: ArrayBuffer | ArrayBufferView | string | undefined;
  /** Response headers that override the stored metadata in the result. */
  httpMetadata?: Loose<StoreHTTPMetadata> | Headers | undefined;
}

export interface StoreMultipartOptions {
  httpMetadata?: Loose<StoreHTTPMetadata> | Headers | undefined;
  customMetadata?: Record<string, string> | undefined;
  /** Default: the bucket's storage class. */
  storageClass?: StoreStorageClass | undefined;
  ssecKey?: ArrayBuffer | ArrayBufferView | string | undefined;
  /** At most 10 tags. */
  tags?: Record<string, string> | undefined;
  /** Needs a bucket with Object Lock. Default: the bucket's default retention. */
  retention?: StoreRetention | null | undefined;
  /** Whether the version is kept until the hold is removed. Needs a bucket with Object Lock. */
  legalHold?: boolean | undefined;
}

export interface StorePutOptions extends StoreMultipartOptions {
  onlyIf?: StoreConditional | Headers | null | undefined;
  /** At most one of the five checksums can be given, as hex or bytes. */
  md5?: ArrayBuffer | ArrayBufferView | string | undefined;
  sha1?: ArrayBuffer | ArrayBufferView | string | undefined;
  sha256?: ArrayBuffer | ArrayBufferView | string | undefined;
  sha384?: ArrayBuffer | ArrayBufferView | string | undefined;
  sha512?: ArrayBuffer | ArrayBufferView | string | undefined;
}

export interface StoreListOptions {
  limit?: number | undefined;
  prefix?: string | undefined;
  cursor?: string | undefined;
  delimiter?: string | undefined;
  startAfter?: string | undefined;
  /** Metadata to include in listed objects: "httpMetadata", "customMetadata" and "tags". */
  include?: string[] | undefined;
  /** List the objects that were current at this time. */
  at?: Date | undefined;
  versions?: false | undefined;
}

/** Options to list all versions and delete markers. */
export interface StoreListVersionsOptions extends Omit<StoreListOptions, "at" | "versions"> {
  versions: true;
}

export interface StoreUploadedPart {
  partNumber: number;
  etag: string;
}

export type StorePartValue = ReadableStream | ArrayBuffer | ArrayBufferView | string | Blob;
export type StoreValue = StorePartValue | null;

export interface StoreMultipartUpload {
  readonly key: string;
  readonly uploadId: string;
  uploadPart(
    partNumber: number,
    value: StorePartValue,
    options?: StoreMultipartOptions | null,
  ): Promise<StoreUploadedPart>;
  abort(): Promise<void>;
  complete(uploadedParts: StoreUploadedPart[]): Promise<StoreObject>;
}

type Conditional = { onlyIf: StoreConditional | Headers };

/** The type O if O may contain a condition, like StoreGetOptions; otherwise never. */
type MaybeConditional<O, Options> = keyof NonNullable<O> extends keyof Options
  ? "onlyIf" extends keyof NonNullable<O>
    ? [NonNullable<O>["onlyIf"]] extends [null | undefined]
      ? never
      : O
    : never
  : never;

/**
 * A bucket, as scripts use it. The last overload of get and put accepts any options, so that this
 * interface and the ecosystem's `R2Bucket` are assignable to each other.
 */
export interface StoreBucket {
  head(key: string): Promise<StoreObject | null>;
  get(key: string, options: StoreGetOptions & Conditional): Promise<StoreObjectBody | StoreObject | null>;
  get<O extends StoreGetOptions | null | undefined>(
    key: string,
    options: O & MaybeConditional<O, StoreGetOptions>,
  ): Promise<StoreObjectBody | StoreObject | null>;
  get(key: string, options?: StoreGetOptions | null): Promise<StoreObjectBody | null>;
  put(
    key: string,
    value: StoreValue,
    options: (StorePutOptions & Conditional) | undefined,
  ): Promise<StoreObject | null>;
  put<O extends StorePutOptions | null | undefined>(
    key: string,
    value: StoreValue,
    options: O & MaybeConditional<O, StorePutOptions>,
  ): Promise<StoreObject | null>;
  put(key: string, value: StoreValue, options?: StorePutOptions | null): Promise<StoreObject>;
  delete(keys: string | string[]): Promise<void>;
  list(options?: StoreListOptions | null): Promise<StoreObjects>;
  createMultipartUpload(key: string, options?: StoreMultipartOptions | null): Promise<StoreMultipartUpload>;
  resumeMultipartUpload(key: string, uploadId: string): StoreMultipartUpload;
}

/**
 * A bucket of this store, from `env` or `openStore`. It can also create presigned URLs, and change
 * versions, tags and locks.
 */
export interface StorePresigningBucket extends StoreBucket {
  head(key: string, options?: StoreHeadOptions | null): Promise<StoreObject | null>;
  /** With `version`, removes that version for good. A locked version is refused. */
  delete(key: string, options?: StoreVersionOptions | null): Promise<void>;
  delete(keys: string | string[]): Promise<void>;
  list(options: StoreListVersionsOptions): Promise<StoreObjectVersions>;
  list(options?: StoreListOptions | null): Promise<StoreObjects>;
  /** Replaces all tags of a version, and keeps its value. An empty object removes them. */
  setTags(
    key: string,
    tags: Record<string, string>,
    options?: StoreVersionOptions | null,
  ): Promise<StoreObject>;
  /** Sets or extends the retention of a version. `null` removes a retention that has ended. */
  setRetention(
    key: string,
    retention: StoreRetention | null,
    options?: StoreVersionOptions | null,
  ): Promise<StoreObject>;
  /** Sets or removes the legal hold of a version. */
  setLegalHold(key: string, legalHold: boolean, options?: StoreVersionOptions | null): Promise<StoreObject>;
  /** Returns a URL of the S3 API that grants access without credentials until it expires. */
  presign(key: string, options?: StorePresignOptions | null): Promise<string>;
  /** Returns credentials for S3 clients, limited to this bucket or parts of it, until they expire. */
  temporaryCredentials(options?: StoreTemporaryCredentialsOptions | null): Promise<StoreTemporaryCredentials>;
}

export interface StorePresignOptions {
  /** HTTP method that the URL allows. Default: `"GET"`. */
  method?: "GET" | "HEAD" | "PUT" | "DELETE";
  /** Seconds until the URL expires, at most seven days. Default: one hour. */
  expiresIn?: number;
}
