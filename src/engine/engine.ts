// The engine: all rules of the service in one interface, with plain data and byte streams only.
// Outcomes that a caller expects are returned as values; all others are thrown as StoreErrors.
import type { Buffer } from "node:buffer";
import type { Bucket, BucketRecord, BucketSettings } from "../model/bucket.ts";
import type { ExpectedChecksum } from "../model/checksums/checksum.ts";
import type { Clause, Condition } from "../model/condition.ts";
import type { Key } from "../model/key.ts";
import type { Position } from "../model/listing.ts";
import type { ObjectLock } from "../model/lock.ts";
import type { Checksums, CustomMetadata, HttpMetadata, ObjectRecord, Passthrough } from "../model/object.ts";
import type { ByteRange, RangeCondition, RangeRequest } from "../model/range.ts";
import type { EventName } from "../model/settings/notification.ts";
import type { Tags } from "../model/tags.ts";
import type { DeleteMarker } from "../model/version.ts";
import type { EncryptionOperations } from "./encryption-operations.ts";
import type { Events } from "./event-outbox.ts";
import type { KeyValues } from "./key-value/key-value.ts";
import type {
  Damage,
  ScrubOptions,
  ScrubOutcome,
  ScrubProgress,
  SweepReport,
  VerifyOptions,
  VerifyReport,
} from "./maintenance/reports.ts";
import type { Quotas } from "./quotas/quotas.ts";
import type { Totals } from "./records.ts";
import type { Searches } from "./search.ts";
import type { UploadOperations } from "./uploads/upload-operations.ts";
import type { Versions } from "./versions/versions.ts";

export interface Engine extends Events, Searches, UploadOperations, Versions {
  createBucket(name: string, options?: BucketOptions): Promise<BucketRecord>;
  bucket(name: string): Promise<Bucket | undefined>;
  listBuckets(): Promise<readonly BucketRecord[]>;
  deleteBucket(name: string): Promise<void>;
  /**
   * Changes only the given settings; undefined removes a setting. With `seen`, changes nothing and
   * returns "conflict" if one of the given settings no longer has the value in `seen`.
   */
  changeSettings(
    bucket: string,
    changes: BucketSettings,
    seen?: BucketSettings,
  ): Promise<"committed" | "conflict">;

  head(bucket: string, key: Key, options?: VersionOptions): Promise<ObjectRecord | undefined>;
  /** Like `get`, with the same checks of condition and key. Returns the parts, not the bytes. */
  describe(bucket: string, key: Key, options?: DescribeOptions): Promise<DescribeOutcome>;
  get(bucket: string, key: Key, options?: GetOptions): Promise<GetOutcome>;
  /** Reads the source to its end, or cancels it if the put is refused. */
  put(bucket: string, key: Key, source: Source, options?: PutOptions): Promise<PutOutcome>;
  /** In a versioned bucket, hides the objects by delete markers, and returns one for each key. */
  delete(bucket: string, keys: readonly Key[], options?: DeleteOptions): Promise<readonly DeleteMarker[]>;
  list(bucket: string, options?: ListOptions): Promise<Listing>;

  /** Key-value namespaces. */
  readonly kv: KeyValues;

  readonly encryption: EncryptionOperations;

  /** Number and size of the objects in a bucket. */
  totals(bucket: string): Promise<Totals>;
  readonly quotas: Quotas;
  /** Reads all stored data and reports damaged, missing and unreferenced data. */
  verify(options?: VerifyOptions): Promise<VerifyReport>;
  /** Verifies slowly in the background, once a week, in one process, until the engine closes. */
  startScrub(onDamage: (damage: Damage) => void): void;
  /** Starts or resumes a round of the scrub, if it is due and no other process is running it. */
  scrub(options: ScrubOptions): Promise<ScrubOutcome>;
  /** Returns the progress of the scrub, which may run in another process. */
  scrubProgress(): Promise<ScrubProgress>;
  /** Aborts or removes uploads that are due, and removes the bytes of garbage. */
  sweep(): Promise<SweepReport>;
  close(): Promise<void>;
}

/** Bytes passed to the engine: as a whole, or as a stream that is read with backpressure. */
export type Source = Uint8Array | ByteStream;

export interface ByteStream {
  /** The declared length. A shorter or longer body is refused. */
  readonly length?: number | undefined;
  chunks(): AsyncIterable<Uint8Array>;
  /** Used instead of `chunks` for large bodies if the sender can write into given buffers. */
  directReader?(): DirectReader;
  /** Called after the chunk was copied: its memory can be reused. */
  release?(chunk: Uint8Array): void;
  /** Called when the stream is not read any further. The sender gets the reason. */
  cancel(reason: unknown): Promise<void>;
}

export interface DirectReader {
  /** Returns the number of bytes written: fewer than fit only at the end of the body. */
  readInto(into: Buffer): Promise<number>;
  /** Called once, at the end or earlier, when no more bytes are needed. */
  close(): void;
}

/** Bytes returned by the engine. The caller must read them once or cancel them. */
export interface ObjectBytes {
  readonly length: number;
  /** All bytes, if they are already in memory. The caller must not change them. */
  readonly inline: Uint8Array | undefined;
  /** Each chunk belongs to the receiver. Chunks may be views of `into` at their offset. */
  chunks(into?: Uint8Array): AsyncIterable<Uint8Array>;
  /** Call this when the chunk is no longer used, so that its memory can be reused. */
  release?(chunk: Uint8Array): void;
  cancel(): Promise<void>;
}

export interface BucketOptions {
  readonly storageClass?: string | undefined;
  readonly account?: string | undefined;
}

export interface ObjectPart {
  readonly number: number;
  readonly size: number;
  readonly checksums?: Checksums | undefined;
}

/** Which version of an object to read. Default: the current version. */
export interface VersionOptions {
  /** Id of a version. "null" names the version written while versioning was not on. */
  readonly version?: string | undefined;
  /** Read the object that was current at this time, in milliseconds since the epoch. */
  readonly time?: number | undefined;
}

export interface DescribeOptions extends VersionOptions {
  readonly condition?: Condition | undefined;
  readonly customerKey?: Uint8Array | undefined;
  /** "omit": do not return the parts, of which an object may have thousands. */
  readonly parts?: "omit" | undefined;
}

export interface GetOptions extends Omit<DescribeOptions, "parts"> {
  /** The number of a part, counted from 1, to read instead of a range. */
  readonly part?: number | undefined;
  readonly range?: RangeRequest | undefined;
  /** The range is read only of this version; of another one, the whole object. */
  readonly rangeCondition?: RangeCondition | undefined;
}

type RefusedRead = { readonly outcome: "refused"; readonly record: ObjectRecord; readonly clause: Clause };

interface FoundObject {
  readonly outcome: "found";
  readonly record: ObjectRecord;
  /** The parts of the object. Undefined if the object was put in one request. */
  readonly parts: readonly ObjectPart[] | undefined;
}

export interface MissingObject {
  readonly outcome: "missing";
  /** The delete marker that hides the object, or that has the requested version id. */
  readonly marker?: DeleteMarker | undefined;
}

export type DescribeOutcome = FoundObject | RefusedRead | MissingObject;

export type GetOutcome =
  | (FoundObject & { readonly range: ByteRange; readonly bytes: ObjectBytes })
  | RefusedRead
  | MissingObject;

export interface WriteOptions {
  readonly httpMetadata?: HttpMetadata | undefined;
  readonly customMetadata?: CustomMetadata | undefined;
  /** Name of a storage class. Default: the bucket's storage class. */
  readonly storageClass?: string | undefined;
  readonly customerKey?: Uint8Array | undefined;
  /** "store": encrypt with the store's key. Default: if the bucket or the store asks for it. */
  readonly encryption?: "store" | undefined;
  readonly tags?: Tags | undefined;
  /** Default: the retention that the bucket's Object Lock gives. */
  readonly lock?: ObjectLock | undefined;
  readonly passthrough?: Passthrough | undefined;
}

export interface PutOptions extends WriteOptions {
  /** The event name for notification rules. Default: the event of a put. */
  readonly event?: EventName | undefined;
  readonly condition?: Condition | undefined;
  readonly checksums?: readonly ExpectedChecksum[] | undefined;
}

export interface DeleteOptions {
  /** Nothing is deleted if the condition fails for any key. Missing keys are ignored. */
  readonly condition?: Condition | undefined;
}

export type PutOutcome =
  | { readonly outcome: "stored"; readonly record: ObjectRecord }
  | { readonly outcome: "refused"; readonly clause: Clause };

export interface ListOptions {
  readonly prefix?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly startAfter?: string | undefined;
  /**
   * Start position for a caller that uses positions instead of cursors. If several of `after`,
   * `cursor` and `startAfter` are given, the latest position applies.
   */
  readonly after?: Position | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  /** Whether the caller returns metadata. If so, a page with much metadata ends early. */
  readonly withMetadata?: boolean | undefined;
  /** List the objects that were current at this time, in milliseconds since the epoch. */
  readonly time?: number | undefined;
}

export interface Listing {
  readonly objects: readonly ObjectRecord[];
  /** Every prefix ends with the delimiter. */
  readonly prefixes: readonly string[];
  /** Cursor of the next page. Undefined on the last page. */
  readonly cursor: string | undefined;
  readonly next: Position | undefined;
}
