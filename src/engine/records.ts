// The port for what is known: an ordered map of records per bucket, with point reads, scans and one
// atomic check-and-commit. Records are the truth; blobs are only what they name.
import type { Bucket, BucketRecord, SettingName } from "../model/bucket.ts";
import type { StoreError } from "../model/errors.ts";
import type { Key } from "../model/key.ts";
import type { Page, Scan } from "../model/listing.ts";
import type { Checksums, ObjectRecord } from "../model/object.ts";
import type { PartRecord, UploadRecord } from "../model/upload.ts";
import type { StoredBlob } from "./blobs.ts";

/** Every method that takes a bucket, but the first four, rejects with NoSuchBucket when the bucket does not exist. */
export interface Records {
  /** False when the name is taken. */
  createBucket(bucket: BucketRecord): Promise<boolean>;
  bucket(name: string): Promise<Bucket | undefined>;
  /** By name. A damaged entry throws, or is left out when only the sound ones are asked for. */
  buckets(which?: "sound"): Promise<readonly BucketRecord[]>;
  /** A bucket with objects stays; uploads in flight go with it. */
  deleteBucket(name: string): Promise<"deleted" | "missing" | "not empty">;

  totals(bucket: string): Promise<Totals>;

  object(bucket: string, key: Key): Promise<ObjectRecord | undefined>;
  /** The record and where its bytes are, read at one instant. */
  objectWithBody(bucket: string, key: Key): Promise<ObjectWithBody | undefined>;
  objects(bucket: string, scan: Scan): Promise<Page<ObjectRecord>>;

  /**
   * Every object in key order, behind the given key, for a check of all of them: a damaged one is told and
   * passed, not thrown.
   */
  inspect(bucket: string, after?: Key): AsyncIterable<InspectedObject>;
  /**
   * What is wrong with a bucket's records beside the objects that `inspect` gives, or with the registry when
   * none is named: what is lost, stands in the wrong place or belongs to nobody. Depth "pages" also checks what
   * holds the records together, in one go.
   */
  checkIntegrity(bucket: string | undefined, depth: "records" | "pages"): AsyncIterable<Finding>;
  /** Whether a commit has named this blob and it is not forgotten yet. */
  referencesBlob(bucket: string, blob: string): Promise<boolean>;

  upload(bucket: string, key: Key, id: string): Promise<StoredUpload | undefined>;
  /** By key, then by id. */
  uploads(bucket: string, scan: UploadScan): Promise<readonly UploadRecord[]>;
  /** Uploads whose time is up. */
  dueUploads(bucket: string, now: number, limit: number): Promise<readonly UploadRecord[]>;
  /** By number. */
  parts(bucket: string, uploadId: string): Promise<readonly PartRecord[]>;

  /**
   * Makes all of the change, durable once resolved, or none of it when a check does not hold ("conflict"). When it is
   * not known whether the change was made, this rejects with an error for which `isOutcomeUnknown` is true. Any other
   * error means that the change was not made and will not be.
   */
  commit(bucket: string, change: Change): Promise<"committed" | "conflict">;

  /** Blobs that no record names any more, each entry once one body, oldest first, behind the given entry. */
  garbage(bucket: string, after: number, limit: number): Promise<readonly GarbageEntry[]>;
  /** Strikes out what was buried, after the bytes are gone. */
  ackGarbage(bucket: string, entries: readonly GarbageEntry[]): Promise<void>;

  /** Events that commits have told for a rule and nobody has struck out yet, oldest first. */
  outboxEvents(bucket: string, rule: string, limit: number): Promise<readonly OutboxEvent[]>;
  /** Strikes events out, once they are delivered. */
  ackEvents(bucket: string, entries: readonly number[]): Promise<void>;
  /** How many there are for each rule that has any. */
  eventCounts(bucket: string): Promise<readonly EventCount[]>;

  /** Small named texts beside the buckets: secrets, credentials, settings. */
  readonly documents: Documents;

  close(): Promise<void>;
}

export interface Documents {
  get(kind: string, name: string): Promise<Document | undefined>;
  /** All of a kind, by name. */
  list(kind: string): Promise<readonly Document[]>;
  /** On the revision that was seen: undefined when there was none. */
  put(
    kind: string,
    name: string,
    text: string,
    expectedRevision: number | undefined,
  ): Promise<"committed" | "conflict">;
  /** False when there is none. */
  delete(kind: string, name: string): Promise<boolean>;
}

export interface Document {
  readonly name: string;
  readonly text: string;
  /** Different after every change. */
  readonly revision: number;
}

export interface Totals {
  readonly objects: number;
  readonly bytes: number;
}

export interface Finding {
  /** A bucket's name, where it is about one that the registry should know. */
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

/** Where an object's bytes are. */
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
  /** Behind this key, and behind this id of the same key when one is given. */
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
  /** The object still has the version that was seen; undefined when none was. */
  | { readonly kind: "object"; readonly key: Key; readonly version: string | undefined }
  /** The upload is active, and as it was seen when a revision is given. */
  | { readonly kind: "upload"; readonly key: Key; readonly id: string; readonly revision?: number }
  /** The setting is still as it was seen; undefined when it was not made. */
  | { readonly kind: "setting"; readonly name: SettingName; readonly value: unknown };

/** Whatever blobs a mutation leaves without a name are buried in the same commit. */
export type Mutation =
  | { readonly kind: "put object"; readonly record: ObjectRecord; readonly body: Body }
  /** Another record of the same version, over the body it has. */
  | { readonly kind: "restate object"; readonly record: ObjectRecord; readonly body: Body }
  | { readonly kind: "delete object"; readonly key: Key }
  | { readonly kind: "put upload"; readonly record: UploadRecord }
  | { readonly kind: "delete upload"; readonly key: Key; readonly id: string }
  | { readonly kind: "put part"; readonly uploadId: string; readonly part: PartRecord }
  /** Ends the upload's parts: the taken ones now belong to an object, all others are buried. */
  | { readonly kind: "end parts"; readonly uploadId: string; readonly taken: readonly number[] }
  /** Writes an event down for a rule; when a key is given, only if there is an object of that key. */
  | { readonly kind: "append event"; readonly rule: string; readonly event: string; readonly ifExists?: Key }
  /** Undefined takes the setting back. */
  | { readonly kind: "put setting"; readonly name: SettingName; readonly value: unknown };

/** Entries only ever grow: those of one key in the order of the commits that have told them. */
export interface OutboxEvent {
  readonly entry: number;
  /** Undefined when it is damaged. */
  readonly text: string | undefined;
}

export interface EventCount {
  readonly rule: string;
  readonly count: number;
}

export interface GarbageEntry {
  readonly entry: number;
  readonly blobs: readonly string[];
  /** Damaged: which blobs it names cannot be told, so none is removed for it. */
  readonly isDamaged?: true;
}
