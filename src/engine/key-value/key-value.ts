// Key-value namespaces of the engine. Each is stored as a bucket that no bucket operation reaches.
import type { BucketRecord } from "../../model/bucket.ts";
import type { Key } from "../../model/key.ts";
import type { ExpirationOptions } from "../../model/key-value.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { ObjectBytes, Source } from "../engine.ts";
import type { Totals } from "../records.ts";

/** A missing namespace rejects with NoSuchBucket, an invalid argument with a KeyValueError. */
export interface KeyValues {
  createNamespace(name: string): Promise<NamespaceRecord>;
  namespace(name: string): Promise<NamespaceRecord | undefined>;
  /** By name. */
  listNamespaces(): Promise<readonly NamespaceRecord[]>;
  /** Rejects with BucketNotEmpty while the namespace holds a key that has not expired. */
  deleteNamespace(name: string): Promise<void>;
  /** Counts expired keys too, until they are removed. */
  totals(namespace: string): Promise<Totals>;

  /** Undefined when the key is missing or has expired. The bytes are read once, or cancelled. */
  get(namespace: string, key: Key): Promise<KeyValueEntry | undefined>;
  /** Reads the source to its end, or cancels it if nothing is stored. The last commit of a key wins. */
  put(namespace: string, key: Key, source: Source, options?: KeyValuePutOptions): Promise<void>;
  /** Missing keys are not an error. */
  delete(namespace: string, keys: readonly Key[]): Promise<void>;
  list(namespace: string, options?: KeyValueListOptions): Promise<KeyValueListing>;
}

export type NamespaceRecord = Pick<BucketRecord, "name" | "created">;

export interface KeyValueEntry {
  readonly record: ObjectRecord;
  readonly bytes: ObjectBytes;
  /** JSON text. */
  readonly metadata: string | undefined;
  /** Seconds since the epoch. */
  readonly expiration: number | undefined;
}

export interface KeyValuePutOptions extends ExpirationOptions {
  /** JSON text. */
  readonly metadata?: string | undefined;
}

export interface KeyValueListOptions {
  readonly prefix?: string | undefined;
  /** 1 to 1,000; default: 1,000. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface KeyValueListing {
  readonly keys: readonly ListedKey[];
  /** Present when keys may be left. */
  readonly cursor: string | undefined;
}

export interface ListedKey {
  readonly name: Key;
  readonly expiration: number | undefined;
  /** JSON text. */
  readonly metadata: string | undefined;
}
