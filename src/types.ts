// What a script author sees: the types of the bucket binding (spec 2 and 4).

export type StoreStorageClass = "Standard" | "InfrequentAccess";

export interface StoreHTTPMetadata {
  contentType?: string | undefined;
  contentLanguage?: string | undefined;
  contentDisposition?: string | undefined;
  contentEncoding?: string | undefined;
  cacheControl?: string | undefined;
  cacheExpiry?: Date | undefined;
}

export interface StoreChecksums {
  readonly md5?: ArrayBuffer | undefined;
  readonly sha1?: ArrayBuffer | undefined;
  readonly sha256?: ArrayBuffer | undefined;
  readonly sha384?: ArrayBuffer | undefined;
  readonly sha512?: ArrayBuffer | undefined;
  /** The same in lowercase hex. */
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
  | { offset: number; length?: number | undefined }
  | { offset?: number | undefined; length: number }
  | { suffix: number };

export interface StoreConditional {
  /** Unquoted; `*` stands for any. */
  etagMatches?: string | undefined;
  etagDoesNotMatch?: string | undefined;
  uploadedBefore?: Date | number | undefined;
  uploadedAfter?: Date | number | undefined;
  /** Compare dates as whole seconds. */
  secondsGranularity?: boolean | undefined;
}

/** Metadata of a stored object. */
export interface StoreObject {
  readonly key: string;
  readonly version: string;
  readonly size: number;
  readonly etag: string;
  readonly httpEtag: string;
  readonly uploaded: Date;
  /** In a list only when included. */
  readonly httpMetadata?: StoreHTTPMetadata | undefined;
  /** In a list only when included. */
  readonly customMetadata?: Record<string, string> | undefined;
  /** The bytes returned; only on the result of a get. */
  readonly range?: StoreReturnedRange | undefined;
  readonly checksums: StoreChecksums;
  readonly storageClass: StoreStorageClass;
  readonly ssecKeyMd5?: string | undefined;
  writeHttpMetadata(headers: Headers): void;
}

export interface StoreReturnedRange {
  offset: number;
  length: number;
}

/** A stored object with its value. The value can be read once. */
export interface StoreObjectBody extends StoreObject {
  readonly range: StoreReturnedRange;
  readonly body: ReadableStream<Uint8Array>;
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array>;
  text(): Promise<string>;
  json<T = unknown>(): Promise<T>;
  blob(): Promise<Blob>;
}

export interface StoreObjects {
  objects: StoreObject[];
  delimitedPrefixes: string[];
  truncated: boolean;
  /** Present only when truncated. */
  cursor?: string;
}

export interface StoreGetOptions {
  onlyIf?: StoreConditional | Headers | null | undefined;
  range?: StoreRange | Headers | null | undefined;
  ssecKey?: ArrayBuffer | ArrayBufferView | string | undefined;
  /** Echoed over the stored metadata in the result. */
  httpMetadata?: StoreHTTPMetadata | Headers | undefined;
}

export interface StoreMultipartOptions {
  httpMetadata?: StoreHTTPMetadata | Headers | undefined;
  customMetadata?: Record<string, string> | undefined;
  /** One of the storage classes; the bucket's own when not given. */
  storageClass?: string | undefined;
  ssecKey?: ArrayBuffer | ArrayBufferView | string | undefined;
}

export interface StorePutOptions extends StoreMultipartOptions {
  storageClass?: StoreStorageClass | undefined;
  onlyIf?: StoreConditional | Headers | null | undefined;
  /** At most one of the five: hex, or bytes. */
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
  /** "httpMetadata" and/or "customMetadata": listed objects then carry it. */
  include?: string[] | undefined;
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
type Unconditional<T> = Omit<T, "onlyIf"> & { onlyIf?: null | undefined };

/** A bucket, as a script holds it. */
export interface StoreBucket {
  head(key: string): Promise<StoreObject | null>;
  get(key: string, options: StoreGetOptions & Conditional): Promise<StoreObjectBody | StoreObject | null>;
  get(key: string, options?: Unconditional<StoreGetOptions> | null): Promise<StoreObjectBody | null>;
  get(key: string, options?: StoreGetOptions | null): Promise<StoreObjectBody | StoreObject | null>;
  put(key: string, value: StoreValue, options: StorePutOptions & Conditional): Promise<StoreObject | null>;
  put(key: string, value: StoreValue, options?: Unconditional<StorePutOptions> | null): Promise<StoreObject>;
  put(key: string, value: StoreValue, options?: StorePutOptions | null): Promise<StoreObject | null>;
  delete(keys: string | string[]): Promise<void>;
  list(options?: StoreListOptions | null): Promise<StoreObjects>;
  createMultipartUpload(key: string, options?: StoreMultipartOptions | null): Promise<StoreMultipartUpload>;
  resumeMultipartUpload(key: string, uploadId: string): StoreMultipartUpload;
  /** A URL of the S3 API by which anybody may reach the object until it expires. */
  presign(key: string, options?: StorePresignOptions | null): Promise<string>;
}

/** What a script's `notification` handler is given: something that happened to an object of a bucket. */
export interface StoreNotification {
  readonly type: "notification";
  /** The same when it is delivered again. */
  readonly id: string;
  /** Such as `"s3:ObjectCreated:Put"`. */
  readonly name: string;
  readonly bucket: string;
  readonly key: string;
  readonly time: Date;
  /** Of two events of one key, the later has the greater, compared as text. */
  readonly sequencer: string;
  /** These three are of what was created. */
  readonly size?: number | undefined;
  readonly etag?: string | undefined;
  readonly version?: string | undefined;
}

export interface StorePresignOptions {
  /** `"GET"` unless given. */
  method?: "GET" | "HEAD" | "PUT" | "DELETE";
  /** Seconds from now, at most seven days; an hour unless given. */
  expiresIn?: number;
}
