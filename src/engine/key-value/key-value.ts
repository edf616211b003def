// Key-value namespaces of the engine. Each is stored as a bucket that no bucket operation reaches.
import type { BucketRecord } from "../../model/bucket.ts";
import type { Key } from "../../model/key.ts";
import type { ExpirationOptions } from "../../model/key-value.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { ObjectBytes, Source } from "../engine.ts";
import type { Totals } from "../records.ts";

/** Methods reject with NoSuchBucket (no such namespace) or KeyValueError (invalid argument). */
export interface KeyValues {
  createNamespace(name: string): Promise<NamespaceRecord>;
  namespace(name: string): Promise<NamespaceRecord | undefined>;
  /** Returns the namespaces sorted by name. */
  listNamespaces(): Promise<readonly NamespaceRecord[]>;
  /** Rejects with BucketNotEmpty if the namespace contains a key that has not expired. */
  deleteNamespace(name: string): Promise<void>;
  /** Expired keys are counted until they are removed. */
  totals(namespace: string): Promise<Totals>;

  /** Undefined if the key is missing or expired. The caller must read or cancel the bytes. */
  get(namespace: string, key: Key): Promise<KeyValueEntry | undefined>;
  /** Reads the source to its end, or cancels it if nothing is stored. The last commit wins. */
  put(namespace: string, key: Key, source: Source, options?: KeyValuePutOptions): Promise<void>;
  /** Deletes keys. A missing key is not an error. */
  delete(namespace: string, keys: readonly Key[]): Promise<void>;
  list(namespace: string, options?: KeyValueListOptions): Promise<KeyValueListing>;
}

export type NamespaceRecord = Pick<BucketRecord, "name" | "created">;

export interface KeyValueEntry {
  readonly record: ObjectRecord;
  readonly bytes: ObjectBytes;
  /** Metadata as JSON text. */
  readonly metadata: string | undefined;
  /** Expiration in seconds since the epoch. */
  readonly expiration: number | undefined;
}

export interface KeyValuePutOptions extends ExpirationOptions {
  /** Metadata as JSON text. */
  readonly metadata?: string | undefined;
}

export interface KeyValueListOptions {
  readonly prefix?: string | undefined;
  /** Maximum number of keys, from 1 to 1,000. Default: 1,000. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface KeyValueListing {
  readonly keys: readonly ListedKey[];
  /** Cursor of the next page. Undefined on the last page. */
  readonly cursor: string | undefined;
}

export interface ListedKey {
  readonly name: Key;
  readonly expiration: number | undefined;
  /** Metadata as JSON text. */
  readonly metadata: string | undefined;
}
