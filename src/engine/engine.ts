// The engine: all the rules of the service behind one interface, in the domain's words, with plain data
// and byte streams only. Binding, S3 and console are translators of it. Outcomes a caller expects are
// values; everything else is a StoreError.
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
  /**
   * Only those that are given change; an undefined one is taken back. With what was seen of the settings, nothing is
   * changed once one of those that are given is another by now: "conflict".
   */
  changeSettings(
    bucket: string,
    changes: BucketSettings,
    seen?: BucketSettings,
  ): Promise<"committed" | "conflict">;

  head(bucket: string, key: Key): Promise<ObjectRecord | undefined>;
  /** A get without the bytes: the same condition, the same check of the customer's key, and the parts. */
  describe(bucket: string, key: Key, options?: DescribeOptions): Promise<DescribeOutcome>;
  get(bucket: string, key: Key, options?: GetOptions): Promise<GetOutcome>;
  /** Takes the source: it is read to its end, or cancelled when the put does not happen. */
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
  /** What an upload became that was completed a while ago; undefined when it was not, or nobody remembers. */
  completedUpload(bucket: string, upload: UploadName): Promise<CompletedUpload | undefined>;
  abortUpload(bucket: string, upload: UploadName): Promise<void>;
  /** Those in flight, by key, then by id. */
  listUploads(bucket: string, options?: ListUploadsOptions): Promise<UploadListing>;
  /** By number. */
  listParts(bucket: string, upload: UploadName, options?: ListPartsOptions): Promise<PartListing>;

  /** Key-value namespaces. */
  readonly kv: KeyValues;

  /** How much a bucket holds. */
  totals(bucket: string): Promise<Totals>;
  /** Reads everything that is stored and tells what does not match its checksums, is missing or unnamed. */
  verify(options?: VerifyOptions): Promise<VerifyReport>;
  /** Does the same in the background, slowly, once a week, until the engine closes; one process at a time. */
  startScrub(onDamage: (damage: Damage) => void): void;
  /** One round of it, or the rest of one, when it is due and nobody is at it. */
  scrub(options: ScrubOptions): Promise<ScrubOutcome>;
  /** How far the scrub is, whichever process is at it. */
  scrubProgress(): Promise<ScrubProgress>;
  /** Aborts and forgets uploads whose time is up, and frees the bytes nothing names any more. */
  sweep(): Promise<SweepReport>;
  close(): Promise<void>;
}

/** Bytes given to the engine. Strings and buffers are whole; a stream is pulled with backpressure. */
export type Source = Uint8Array | ByteStream;

export interface ByteStream {
  /** What the sender said it would send; a body that ends before or goes on behind is refused. */
  readonly length?: number | undefined;
  chunks(): AsyncIterable<Uint8Array>;
  /** Where the sender can write into buffers it is given: called in place of `chunks` for large bodies. */
  directReader?(): DirectReader;
  /** Told of chunks that were copied and are not looked at again: their memory may go. */
  release?(chunk: Uint8Array): void;
  /** For a stream nobody will read (or read on): tells its sender why. */
  cancel(reason: unknown): Promise<void>;
}

export interface DirectReader {
  /** Answers how many bytes it wrote; fewer than there was room for only at the end. */
  readInto(into: Buffer): Promise<number>;
  /** Called once, at the end or before: nobody wants more. */
  close(): void;
}

/** Bytes given by the engine: read once, or cancelled. */
export interface ObjectBytes {
  readonly length: number;
  /** All at once when they are at hand already; to be copied, never written into. */
  readonly inline: Uint8Array | undefined;
  /** Each chunk belongs to whoever receives it; some may be windows on `into`, each at its place. */
  chunks(into?: Uint8Array): AsyncIterable<Uint8Array>;
  /** For a receiver that is done with a chunk and looks at it no more: its memory is used again. */
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

type Refused = { readonly outcome: "refused"; readonly record: ObjectRecord; readonly clause: Clause };

interface Found {
  readonly outcome: "found";
  readonly record: ObjectRecord;
  /** Undefined for an object that was put in one piece. */
  readonly parts: readonly ObjectPart[] | undefined;
}

export type DescribeOutcome = Found | Refused | { readonly outcome: "missing" };

export type GetOutcome =
  | (Found & { readonly range: ByteRange; readonly bytes: ObjectBytes })
  | Refused
  | { readonly outcome: "missing" };

export interface WriteOptions {
  readonly httpMetadata?: HttpMetadata | undefined;
  readonly customMetadata?: CustomMetadata | undefined;
  /** A storage class by name; the bucket's own when not given. */
  readonly storageClass?: string | undefined;
  readonly customerKey?: Uint8Array | undefined;
}

export interface PutOptions extends WriteOptions {
  /** What is told of it to those who want to know; a plain put unless given. */
  readonly event?: EventName | undefined;
  readonly condition?: Condition | undefined;
  readonly checksums?: readonly ExpectedChecksum[] | undefined;
}

export interface DeleteOptions {
  /** Holds for each of the keys or nothing is deleted; a key that is not there refuses none. */
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

export interface UploadName {
  readonly key: Key;
  readonly id: string;
}

export interface PartName {
  readonly number: number;
  readonly etag: string;
  /** Must be the part's own, when given. */
  readonly checksum?: ExpectedChecksum | undefined;
}

export interface CompleteOptions {
  /** Which sizes the parts may have: all alike but a smaller last, or any from 5 MiB but for the last. */
  readonly partSizes?: "uniform" | "s3";
  readonly condition?: Condition | undefined;
  readonly checksum?: ExpectedChecksum | undefined;
  /** Not needed; one that is given must be the upload's. */
  readonly customerKey?: Uint8Array | undefined;
  /** The size of the whole, when the caller knows it. */
  readonly size?: number | undefined;
}

export interface CompletedUpload {
  readonly version: string;
  readonly etag: string;
}

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
  /** Parts behind this number. */
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
  /** Where to go on, for a caller that shows positions rather than cursors; the later of all three counts. */
  readonly after?: Position | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  /** Whether the caller will show metadata: a page then ends early on much of it. */
  readonly withMetadata?: boolean | undefined;
}

export interface Listing {
  readonly objects: readonly ObjectRecord[];
  /** Each with its delimiter. */
  readonly prefixes: readonly string[];
  /** Present when more is left. */
  readonly cursor: string | undefined;
  readonly next: Position | undefined;
}

export interface VerifyOptions {
  readonly onProgress?: (done: { readonly objects: number; readonly bytes: number }) => void;
}

export interface VerifyReport {
  readonly buckets: number;
  readonly objects: number;
  /** As stored. */
  readonly bytes: number;
  readonly damages: readonly Damage[];
  /** What the last scrub that came to its end has found; undefined when none has. */
  readonly lastScrub: ScrubReport | undefined;
}

export interface Damage {
  /** Undefined for what is not in a bucket. */
  readonly bucket: string | undefined;
  /** Undefined for bytes that belong to no object. */
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
