// Types for script authors: the key-value namespace.

export type StoreKvValueType = "text" | "json" | "arrayBuffer" | "stream";

export interface StoreKvGetOptions<Type extends StoreKvValueType | undefined = undefined> {
  /** Type of the returned value. Default: "text". */
  type: Type;
  /** Seconds, at least 30. Validated but ignored: every read returns the last commit. */
  cacheTtl?: number | undefined;
}

export interface StoreKvPutOptions {
  /** Expiration in seconds since the epoch, at least 60 seconds from now. */
  expiration?: number | undefined;
  /** Lifetime in seconds, at least 60. Overrides `expiration`. */
  expirationTtl?: number | undefined;
  /** Any JSON value, at most 1,024 bytes. */
  metadata?: unknown;
}

export interface StoreKvListOptions {
  /** Maximum number of keys, from 1 to 1,000. Default: 1,000. */
  limit?: number | undefined;
  prefix?: string | null | undefined;
  cursor?: string | null | undefined;
}

export interface StoreKvListKey<Metadata, Key extends string = string> {
  name: Key;
  /** Expiration in seconds since the epoch. */
  expiration?: number;
  metadata?: Metadata;
}

export type StoreKvListResult<Metadata, Key extends string = string> =
  | {
      list_complete: false;
      keys: StoreKvListKey<Metadata, Key>[];
      cursor: string;
      cacheStatus: string | null;
    }
  | { list_complete: true; keys: StoreKvListKey<Metadata, Key>[]; cacheStatus: string | null };

export interface StoreKvValueWithMetadata<Value, Metadata> {
  value: Value | null;
  metadata: Metadata | null;
  cacheStatus: string | null;
}

type TextOptions = Partial<StoreKvGetOptions<undefined>> | StoreKvGetOptions<"text"> | "text";
type JsonOptions = StoreKvGetOptions<"json"> | "json";
type BytesOptions = StoreKvGetOptions<"arrayBuffer"> | "arrayBuffer";
type StreamOptions = StoreKvGetOptions<"stream"> | "stream";

/** A key-value namespace, as scripts use it. */
export interface StoreKvNamespace<Key extends string = string> {
  get(key: Key, options?: TextOptions): Promise<string | null>;
  get<Value = unknown>(key: Key, options?: JsonOptions): Promise<Value | null>;
  get(key: Key, options?: BytesOptions): Promise<ArrayBuffer | null>;
  get(key: Key, options?: StreamOptions): Promise<ReadableStream | null>;
  get(keys: Key[], options?: TextOptions): Promise<Map<string, string | null>>;
  get<Value = unknown>(keys: Key[], options?: JsonOptions): Promise<Map<string, Value | null>>;

  getWithMetadata<Metadata = unknown>(
    key: Key,
    options?: TextOptions,
  ): Promise<StoreKvValueWithMetadata<string, Metadata>>;
  getWithMetadata<Value = unknown, Metadata = unknown>(
    key: Key,
    options?: JsonOptions,
  ): Promise<StoreKvValueWithMetadata<Value, Metadata>>;
  getWithMetadata<Metadata = unknown>(
    key: Key,
    options?: BytesOptions,
  ): Promise<StoreKvValueWithMetadata<ArrayBuffer, Metadata>>;
  getWithMetadata<Metadata = unknown>(
    key: Key,
    options?: StreamOptions,
  ): Promise<StoreKvValueWithMetadata<ReadableStream, Metadata>>;
  /**
   * At run time, a missing key has the value null in the map, and results have no `cacheStatus`.
   * The type differs, to match the declaration that scripts expect.
   */
  getWithMetadata<Metadata = unknown>(
    keys: Key[],
    options?: TextOptions,
  ): Promise<Map<string, StoreKvValueWithMetadata<string, Metadata>>>;
  getWithMetadata<Value = unknown, Metadata = unknown>(
    keys: Key[],
    options?: JsonOptions,
  ): Promise<Map<string, StoreKvValueWithMetadata<Value, Metadata>>>;

  put(
    key: Key,
    value: string | ArrayBuffer | ArrayBufferView | ReadableStream,
    options?: StoreKvPutOptions,
  ): Promise<void>;
  delete(key: Key): Promise<void>;
  list<Metadata = unknown>(options?: StoreKvListOptions): Promise<StoreKvListResult<Metadata, Key>>;
}
