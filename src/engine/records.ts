// The port for records: an ordered map per bucket with point reads, range scans and one atomic
// check-and-commit. Records are the truth: a blob that no record names is garbage.
import type { Bucket, BucketRecord, SettingName } from "../model/bucket.ts";
import type { StoreError } from "../model/errors.ts";
import type { Key } from "../model/key.ts";
import type { Page, Scan } from "../model/listing.ts";
import type { Checksums, ObjectRecord } from "../model/object.ts";
import type { PartRecord, UploadRecord } from "../model/upload.ts";
import type { StoredBlob } from "./blobs.ts";

/** Methods that take a bucket, except the first four, reject with NoSuchBucket if it is missing. */
export interface Records {
  /** False when the name is taken. */
  createBucket(bucket: BucketRecord): Promise<boolean>;
  bucket(name: string): Promise<Bucket | undefined>;
  /** By name. A damaged entry throws; with "sound" it is left out. */
  buckets(which?: "sound"): Promise<readonly BucketRecord[]>;
  /** A bucket with objects is not deleted. Uploads in flight are deleted with the bucket. */
  deleteBucket(name: string): Promise<"deleted" | "missing" | "not empty">;

  totals(bucket: string): Promise<Totals>;

  object(bucket: string, key: Key): Promise<ObjectRecord | undefined>;
  /** The record and the location of its bytes, read at one instant. */
  objectWithBody(bucket: string, key: Key): Promise<ObjectWithBody | undefined>;
  objects(bucket: string, scan: Scan): Promise<Page<ObjectRecord>>;

  /** Every object after the given key, in key order. A damaged record is returned as an error. */
  inspect(bucket: string, after?: Key): AsyncIterable<InspectedObject>;
  /**
   * Damage in a bucket's records that `inspect` does not find, or in the registry when `bucket` is
   * undefined: lost, misplaced and unreferenced entries. Depth "pages" also checks the database's
   * own structure, in one long read.
   */
  checkIntegrity(bucket: string | undefined, depth: "records" | "pages"): AsyncIterable<Finding>;
  /** Whether a record or the garbage queue names this blob. */
  referencesBlob(bucket: string, blob: string): Promise<boolean>;

  upload(bucket: string, key: Key, id: string): Promise<StoredUpload | undefined>;
  /** By key, then by id. */
  uploads(bucket: string, scan: UploadScan): Promise<readonly UploadRecord[]>;
  /** Uploads that are due to be aborted or removed. */
  dueUploads(bucket: string, now: number, limit: number): Promise<readonly UploadRecord[]>;
  /** By number. */
  parts(bucket: string, uploadId: string): Promise<readonly PartRecord[]>;

  /**
   * Makes all of the change, durable once resolved, or none of it when a check fails ("conflict").
   * When the outcome is unknown, rejects with an error for which `isOutcomeUnknown` is true. Any
   * other error means that the change was not made and will not be.
   */
  commit(bucket: string, change: Change): Promise<"committed" | "conflict">;

  /** Blobs that no record names, one entry per body, oldest first, after the given entry. */
  garbage(bucket: string, after: number, limit: number): Promise<readonly GarbageEntry[]>;
  /** Removes entries from the garbage queue, after their bytes were removed. */
  ackGarbage(bucket: string, entries: readonly GarbageEntry[]): Promise<void>;

  /** Events of a rule that are not acknowledged yet, oldest first. */
  outboxEvents(bucket: string, rule: string, limit: number): Promise<readonly OutboxEvent[]>;
  /** Removes delivered events. */
  ackEvents(bucket: string, entries: readonly number[]): Promise<void>;
  /** Number of waiting events, for each rule that has any. */
  eventCounts(bucket: string): Promise<readonly EventCount[]>;

  /** Small named texts that do not belong to a bucket: secrets, credentials, settings. */
  readonly documents: Documents;

  close(): Promise<void>;
}

export interface Documents {
  get(kind: string, name: string): Promise<Document | undefined>;
  /** All of a kind, by name. */
  list(kind: string): Promise<readonly Document[]>;
  /** Commits only on the expected revision; undefined when the document must not exist. */
  put(
    kind: string,
    name: string,
    text: string,
    expectedRevision: number | undefined,
  ): Promise<"committed" | "conflict">;
  /** False when the document does not exist. */
  delete(kind: string, name: string): Promise<boolean>;
}

export interface Document {
  readonly name: string;
  readonly text: string;
  /** Changes with every write. */
  readonly revision: number;
}

export interface Totals {
  readonly objects: number;
  readonly bytes: number;
}

export interface Finding {
  /** The bucket the finding is about, when it was found in the registry. */
  readonly bucket?: string;
  readonly key?: Key;
  readonly what: string;
}

export interface InspectedObject {
  readonly key: Key;
  readonly found: ObjectWithBody | StoreError;
}

export interface ObjectWithBody {
  readonly record: ObjectRecord;
  readonly body: Body;
}

/** Location of an object's bytes. */
export type Body =
  | { readonly storage: "inline"; readonly bytes: Uint8Array }
  | { readonly storage: "blob"; readonly blob: StoredBlob }
  | { readonly storage: "parts"; readonly parts: readonly BodyPart[] };

export interface BodyPart {
  readonly number: number;
  readonly size: number;
  readonly blob: StoredBlob;
  readonly checksums?: Checksums;
}

export interface UploadScan {
  readonly prefix: string;
  /** After this key, or after this id of the key when an id is given. */
  readonly after: { readonly key: Key; readonly id?: string } | undefined;
  readonly limit: number;
}

export interface StoredUpload {
  readonly record: UploadRecord;
  /** Counts the changes to the upload and its parts. */
  readonly revision: number;
}

export interface Change {
  readonly checks?: readonly Check[];
  readonly mutations: readonly Mutation[];
}

export type Check =
  /** The object still has this version; undefined: it does not exist. */
  | { readonly kind: "object"; readonly key: Key; readonly version: string | undefined }
  /** The upload is active and, when a revision is given, unchanged. */
  | { readonly kind: "upload"; readonly key: Key; readonly id: string; readonly revision?: number }
  /** The setting still has this value; undefined: it is not set. */
  | { readonly kind: "setting"; readonly name: SettingName; readonly value: unknown };

/** A mutation queues the blobs it leaves unreferenced as garbage, in the same commit. */
export type Mutation =
  | { readonly kind: "put object"; readonly record: ObjectRecord; readonly body: Body }
  /** Replaces the record of the same version and keeps its body. */
  | { readonly kind: "restate object"; readonly record: ObjectRecord; readonly body: Body }
  | { readonly kind: "delete object"; readonly key: Key }
  | { readonly kind: "put upload"; readonly record: UploadRecord }
  | { readonly kind: "delete upload"; readonly key: Key; readonly id: string }
  | { readonly kind: "put part"; readonly uploadId: string; readonly part: PartRecord }
  /** Ends the upload's parts: taken parts now belong to an object, the others become garbage. */
  | { readonly kind: "end parts"; readonly uploadId: string; readonly taken: readonly number[] }
  /** Appends an event for a rule; with `ifExists`, only if that object exists. */
  | { readonly kind: "append event"; readonly rule: string; readonly event: string; readonly ifExists?: Key }
  /** Undefined removes the setting. */
  | { readonly kind: "put setting"; readonly name: SettingName; readonly value: unknown };

/** Entries increase. Events of one key have the order of their commits. */
export interface OutboxEvent {
  readonly entry: number;
  /** Undefined when the stored event is damaged. */
  readonly text: string | undefined;
}

export interface EventCount {
  readonly rule: string;
  readonly count: number;
}

export interface GarbageEntry {
  readonly entry: number;
  readonly blobs: readonly string[];
  /** The entry is unreadable, so no blob is removed for it. */
  readonly isDamaged?: true;
}
