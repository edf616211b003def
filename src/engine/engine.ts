// The engine: all rules of the service in one interface, with plain data and byte streams only.
// Outcomes that a caller expects are values; everything else is a StoreError.
import type { Bucket, BucketRecord, BucketSettings } from "../model/bucket.ts";
import type { ExpectedChecksum, UploadChecksum } from "../model/checksum.ts";
import type { Clause, Condition } from "../model/condition.ts";
import type { Key } from "../model/key.ts";
import type { Position } from "../model/listing.ts";
import type { EventName } from "../model/notification.ts";
import type { Checksums, CustomMetadata, HttpMetadata, ObjectRecord } from "../model/object.ts";
import type { ByteRange, RangeRequest } from "../model/range.ts";
import type { PartRecord, UploadRecord } from "../model/upload.ts";
import type { Events } from "./event-outbox.ts";
import type { KeyValues } from "./key-value/key-value.ts";
import type { ScrubOptions, ScrubOutcome, ScrubProgress, ScrubReport } from "./maintenance/scrub-report.ts";
import type { Totals } from "./records.ts";

export interface Engine extends Events {
  createBucket(name: string, options?: BucketOptions): Promise<BucketRecord>;
  bucket(name: string): Promise<Bucket | undefined>;
  listBuckets(): Promise<readonly BucketRecord[]>;
  deleteBucket(name: string): Promise<void>;
  /** Undefined removes a setting. Returns "conflict" when one no longer has its value in `seen`. */
  changeSettings(
    bucket: string,
    changes: BucketSettings,
    seen?: BucketSettings,
  ): Promise<"committed" | "conflict">;

  head(bucket: string, key: Key): Promise<ObjectRecord | undefined>;
  /** Like `get` without the bytes: the same checks of condition and customer key, and the parts. */
  describe(bucket: string, key: Key, options?: DescribeOptions): Promise<DescribeOutcome>;
  get(bucket: string, key: Key, options?: GetOptions): Promise<GetOutcome>;
  /** Reads the source to its end, or cancels it when the put does not happen. */
  put(bucket: string, key: Key, source: Source, options?: PutOptions): Promise<PutOutcome>;
  delete(bucket: string, keys: readonly Key[], options?: DeleteOptions): Promise<void>;
  list(bucket: string, options?: ListOptions): Promise<Listing>;

  createUpload(bucket: string, key: Key, options?: UploadOptions): Promise<UploadRecord>;
  uploadPart(
    bucket: string,
    upload: UploadName,
    number: number,
    source: Source,
    options?: PartOptions,
  ): Promise<PartRecord>;
  completeUpload(
    bucket: string,
    upload: UploadName,
    parts: readonly PartName[],
    options?: CompleteOptions,
  ): Promise<ObjectRecord>;
  /** The result of a completed upload; undefined when not completed, or no longer remembered. */
  completedUpload(bucket: string, upload: UploadName): Promise<CompletedUpload | undefined>;
  abortUpload(bucket: string, upload: UploadName): Promise<void>;
  /** Uploads in flight, by key, then by id. */
  listUploads(bucket: string, options?: ListUploadsOptions): Promise<UploadListing>;
  /** By number. */
  listParts(bucket: string, upload: UploadName, options?: ListPartsOptions): Promise<PartListing>;

  /** Key-value namespaces. */
  readonly kv: KeyValues;

  /** Number and size of the objects in a bucket. */
  totals(bucket: string): Promise<Totals>;
  /** Reads everything that is stored and reports what is damaged, missing or unreferenced. */
  verify(options?: VerifyOptions): Promise<VerifyReport>;
  /** Verifies slowly in the background, once a week, until the engine closes; in one process. */
  startScrub(onDamage: (damage: Damage) => void): void;
  /** Runs or resumes a round of the scrub, if it is due and no other process runs it. */
  scrub(options: ScrubOptions): Promise<ScrubOutcome>;
  /** Progress of the scrub, in whichever process it runs. */
  scrubProgress(): Promise<ScrubProgress>;
  /** Aborts and removes uploads that are due, and frees the bytes that no record names. */
  sweep(): Promise<SweepReport>;
  close(): Promise<void>;
}

/** Bytes given to the engine: whole, or as a stream that is pulled with backpressure. */
export type Source = Uint8Array | ByteStream;

export interface ByteStream {
  /** The declared length; a body that is shorter or longer is refused. */
  readonly length?: number | undefined;
  chunks(): AsyncIterable<Uint8Array>;
  /** Used instead of `chunks` for large bodies, where the sender can write into given buffers. */
  directReader?(): DirectReader;
  /** The chunk was copied and is no longer used: its memory may be reused. */
  release?(chunk: Uint8Array): void;
  /** The stream will not be read any further; the sender gets the reason. */
  cancel(reason: unknown): Promise<void>;
}

export interface DirectReader {
  /** Returns how many bytes were written; fewer than fit only at the end. */
  readInto(into: Buffer): Promise<number>;
  /** Called once, at the end or earlier, when no more bytes are wanted. */
  close(): void;
}

/** Bytes returned by the engine: read once, or cancelled. */
export interface ObjectBytes {
  readonly length: number;
  /** All bytes, when they are already in memory. Copy them; do not write into them. */
  readonly inline: Uint8Array | undefined;
  /** Each chunk belongs to the receiver; some may be views of `into` at their offset. */
  chunks(into?: Uint8Array): AsyncIterable<Uint8Array>;
  /** The receiver no longer uses the chunk: its memory may be reused. */
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

export interface DescribeOptions {
  readonly condition?: Condition | undefined;
  readonly customerKey?: Uint8Array | undefined;
}

export interface GetOptions extends DescribeOptions {
  /** One of the object's parts, counted from 1, instead of a range. */
  readonly part?: number | undefined;
  readonly range?: RangeRequest | undefined;
}

type RefusedRead = { readonly outcome: "refused"; readonly record: ObjectRecord; readonly clause: Clause };

interface FoundObject {
  readonly outcome: "found";
  readonly record: ObjectRecord;
  /** Undefined for an object that was put in one piece. */
  readonly parts: readonly ObjectPart[] | undefined;
}

export type DescribeOutcome = FoundObject | RefusedRead | { readonly outcome: "missing" };

export type GetOutcome =
  | (FoundObject & { readonly range: ByteRange; readonly bytes: ObjectBytes })
  | RefusedRead
  | { readonly outcome: "missing" };

export interface WriteOptions {
  readonly httpMetadata?: HttpMetadata | undefined;
  readonly customMetadata?: CustomMetadata | undefined;
  /** Name of a storage class; default: the bucket's. */
  readonly storageClass?: string | undefined;
  readonly customerKey?: Uint8Array | undefined;
}

export interface PutOptions extends WriteOptions {
  /** The event for notification rules; default: a plain put. */
  readonly event?: EventName | undefined;
  readonly condition?: Condition | undefined;
  readonly checksums?: readonly ExpectedChecksum[] | undefined;
}

export interface DeleteOptions {
  /** Must hold for every existing key, otherwise nothing is deleted. Missing keys are ignored. */
  readonly condition?: Condition | undefined;
}

export interface UploadOptions extends WriteOptions {
  readonly checksum?: UploadChecksum | undefined;
}

export type PutOutcome =
  | { readonly outcome: "stored"; readonly record: ObjectRecord }
  | { readonly outcome: "refused"; readonly clause: Clause };

export interface PartOptions {
  readonly customerKey?: Uint8Array | undefined;
  readonly checksums?: readonly ExpectedChecksum[] | undefined;
}

export type UploadName = Pick<UploadRecord, "key" | "id">;

export interface PartName {
  readonly number: number;
  readonly etag: string;
  /** When given, must equal the part's checksum. */
  readonly checksum?: ExpectedChecksum | undefined;
}

export interface CompleteOptions {
  /** "uniform": equal sizes, the last may be smaller. "s3": at least 5 MiB, except the last. */
  readonly partSizes?: "uniform" | "s3";
  readonly condition?: Condition | undefined;
  readonly checksum?: ExpectedChecksum | undefined;
  /** Optional; when given, must be the upload's key. */
  readonly customerKey?: Uint8Array | undefined;
  /** Expected size of the object, when the caller knows it. */
  readonly size?: number | undefined;
}

export type CompletedUpload = Pick<ObjectRecord, "version" | "etag">;

export interface ListUploadsOptions {
  readonly prefix?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly after?: { readonly key: Key; readonly id?: string | undefined } | undefined;
  readonly limit?: number | undefined;
}

export interface UploadListing {
  readonly uploads: readonly UploadRecord[];
  readonly prefixes: readonly string[];
  /** Where the next page begins; undefined when nothing is left. */
  readonly next: { readonly key: Key; readonly id?: string } | undefined;
}

export interface ListPartsOptions {
  /** Only parts with a greater number. */
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

export interface PartListing {
  readonly upload: UploadRecord;
  readonly parts: readonly PartRecord[];
  readonly isTruncated: boolean;
}

export interface ListOptions {
  readonly prefix?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly startAfter?: string | undefined;
  /** A position instead of a cursor. The latest of `after`, `cursor` and `startAfter` applies. */
  readonly after?: Position | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  /** Whether the caller returns metadata: the page then ends early when there is much of it. */
  readonly withMetadata?: boolean | undefined;
}

export interface Listing {
  readonly objects: readonly ObjectRecord[];
  /** Each ends with the delimiter. */
  readonly prefixes: readonly string[];
  /** Present when more entries are left. */
  readonly cursor: string | undefined;
  readonly next: Position | undefined;
}

export interface VerifyOptions {
  readonly onProgress?: (done: { readonly objects: number; readonly bytes: number }) => void;
}

export interface VerifyReport {
  readonly buckets: number;
  readonly objects: number;
  /** Bytes as stored. */
  readonly bytes: number;
  readonly damages: readonly Damage[];
  /** Report of the last finished scrub; undefined when none has finished. */
  readonly lastScrub: ScrubReport | undefined;
}

export interface Damage {
  /** Undefined when the damage is not in a bucket. */
  readonly bucket: string | undefined;
  /** Undefined when the damage is not in an object. */
  readonly key: Key | undefined;
  readonly what: string;
}

export interface SweepReport {
  readonly objectsExpired: number;
  readonly objectsMoved: number;
  readonly uploadsAborted: number;
  readonly uploadsForgotten: number;
  readonly blobsRemoved: number;
}
