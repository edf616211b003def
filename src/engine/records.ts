// The port for records: an ordered map per bucket, with point reads, range scans and one atomic
// check-and-commit. Records are authoritative: a blob that no record references is garbage.
import type { Bucket, BucketRecord, Protection, SettingName } from "../model/bucket.ts";
import type { StoreError } from "../model/errors.ts";
import type { Key } from "../model/key.ts";
import type { KeyMatches, KeySearch } from "../model/key-search.ts";
import type { Page, PageEntry, Scan, VersionPosition } from "../model/listing.ts";
import type { Checksums, ObjectRecord } from "../model/object.ts";
import type { Usage } from "../model/settings/quota.ts";
import type { PartRecord, UploadRecord } from "../model/upload.ts";
import type { DeleteMarker, Version } from "../model/version.ts";
import type { StoredBlob } from "./blobs.ts";
import type { PartsBody } from "./codec/parts-body.ts";
import type { AppendEvent, Outbox } from "./outbox.ts";

/** Methods after `deleteBucket` reject with NoSuchBucket if their bucket is missing. */
export interface Records extends Outbox {
  /** Returns false if the name is already used. */
  createBucket(bucket: BucketRecord): Promise<boolean>;
  bucket(name: string): Promise<Bucket | undefined>;
  /** Returns the buckets sorted by name. A damaged entry throws; with "sound" it is skipped. */
  buckets(which?: "sound"): Promise<readonly BucketRecord[]>;
  /** Does not delete a bucket that contains objects. Active uploads are deleted with the bucket. */
  deleteBucket(name: string): Promise<"deleted" | "missing" | "not empty">;

  totals(bucket: string): Promise<Totals>;
  /** Returns what the bucket's quota limits. Fast: the number is kept, not counted. */
  usage(bucket: string): Promise<Usage>;

  /**
   * Returns a function that returns a mark of a bucket, without opening the bucket. The mark differs
   * after every commit to the bucket. Undefined: the bucket changes now, or its bytes need a sweep.
   */
  changeMarks?(): Promise<(bucket: string) => string | undefined>;

  object(bucket: string, key: Key): Promise<ObjectRecord | undefined>;
  /** Returns the record and the location of its bytes, read in one snapshot. */
  objectWithBody(bucket: string, key: Key): Promise<ObjectWithBody | undefined>;
  objects(bucket: string, scan: Scan): Promise<Page<ObjectRecord>>;
  /** Finds keys of objects by a text in any part of them, in key order. Reads no records. */
  findKeys(bucket: string, search: KeySearch): Promise<KeyMatches>;

  /** Returns a version of the key, current or not. The id "null" names the null version. */
  version(bucket: string, key: Key, id: string): Promise<StoredVersion | undefined>;
  /** Returns the newest version of the key. Undefined if the key has no versions. */
  newestVersion(bucket: string, key: Key): Promise<Version | undefined>;
  /** Returns the object that was current at the time, if any. */
  objectAt(bucket: string, key: Key, time: number): Promise<ObjectWithBody | undefined>;
  /** Lists all versions, sorted by key; of one key, the newest version first. */
  versions(bucket: string, scan: VersionScan): Promise<VersionPage>;

  /** Yields every object after the given key, in key order. A damaged record becomes an error. */
  inspect(bucket: string, after?: Key): AsyncIterable<InspectedObject>;
  /** Yields every noncurrent version and delete marker, in the order in which they were stored. */
  inspectHistory(bucket: string): AsyncIterable<InspectedVersion>;
  /**
   * Finds lost, misplaced and unreferenced entries, which `inspect` does not find. If `bucket` is
   * undefined, checks the registry. Depth "pages" also checks the structure of the database.
   */
  checkIntegrity(bucket: string | undefined, depth: "records" | "pages"): AsyncIterable<Finding>;
  /** Whether a record or an entry of the garbage queue references this blob. */
  referencesBlob(bucket: string, blob: string): Promise<boolean>;

  upload(bucket: string, key: Key, id: string): Promise<StoredUpload | undefined>;
  /** Returns uploads sorted by key, then by id. */
  uploads(bucket: string, scan: UploadScan): Promise<readonly UploadRecord[]>;
  /** Returns uploads that are due to be aborted or removed. */
  dueUploads(bucket: string, now: number, limit: number): Promise<readonly UploadRecord[]>;
  /** Returns the parts of an upload, sorted by number. */
  parts(bucket: string, uploadId: string): Promise<readonly PartRecord[]>;

  /**
   * Applies the whole change durably, or nothing if a check fails ("conflict"). An error also means
   * that nothing was or will be applied, unless `isOutcomeUnknown` is true for it. Rejects with
   * QuotaExceeded a change that puts objects and exceeds the bucket's quota (`exceedsQuota`).
   */
  commit(bucket: string, change: Change): Promise<"committed" | "conflict">;

  /** Returns unreferenced blobs, one entry per body, oldest first, after the given entry. */
  garbage(bucket: string, after: number, limit: number): Promise<readonly GarbageEntry[]>;
  /** Removes entries from the garbage queue, after their bytes were removed. */
  ackGarbage(bucket: string, entries: readonly GarbageEntry[]): Promise<void>;

  /** Small named texts outside of buckets: secrets, credentials, settings. */
  readonly documents: Documents;

  close(): Promise<void>;
}

export interface Documents {
  get(kind: string, name: string): Promise<Document | undefined>;
  /**
   * Returns all documents of a kind, sorted by name, or those whose names begin with a prefix. What
   * is after it in a name must not begin with U+10FFFF, which is no character.
   */
  list(kind: string, prefix?: string): Promise<readonly Document[]>;
  /** Commits only if the document has the expected revision. Undefined: it must not exist. */
  put(
    kind: string,
    name: string,
    text: string,
    expectedRevision: number | undefined,
  ): Promise<"committed" | "conflict">;
  /** Returns false if the document does not exist, or does not have the expected revision. */
  delete(kind: string, name: string, expectedRevision?: number): Promise<boolean>;
}

export interface Document {
  readonly name: string;
  readonly text: string;
  /** Every write changes the revision. */
  readonly revision: number;
}

export interface Totals {
  /** Number and size of the current objects. */
  readonly objects: number;
  readonly bytes: number;
  /** Number of versions that are not current and of delete markers, and their size. */
  readonly noncurrentVersions: number;
  readonly noncurrentBytes: number;
}

export interface Finding {
  /** The bucket of a finding in the registry. */
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

export interface StoredVersion {
  readonly version: Version;
  /** Undefined for a delete marker. */
  readonly body: Body | undefined;
  readonly isCurrent: boolean;
}

/** A version that is not current, or a delete marker. */
export interface InspectedVersion {
  readonly key: Key;
  readonly found: { readonly version: Version; readonly body: Body | undefined } | StoreError;
}

export interface VersionScan {
  readonly prefix: string;
  /** Empty: no delimiter. */
  readonly delimiter: string;
  readonly after?: VersionPosition | undefined;
  /** Maximum number of versions and prefixes together. */
  readonly limit: number;
}

export interface ListedVersion {
  readonly version: Version;
  readonly isCurrent: boolean;
  /** Time at which the version was replaced or deleted. Infinity if it is current. */
  readonly until: number;
}

export interface VersionPage {
  readonly entries: readonly PageEntry<ListedVersion>[];
  /** Start of the next page. Undefined on the last page. */
  readonly next: VersionPosition | undefined;
}

/** Location of an object's bytes. */
export type Body =
  | { readonly storage: "inline"; readonly bytes: Uint8Array }
  | { readonly storage: "blob"; readonly blob: StoredBlob }
  | PartsBody;

export interface BodyPart {
  readonly number: number;
  readonly size: number;
  readonly blob: StoredBlob;
  readonly checksums?: Checksums;
}

export interface UploadScan {
  readonly prefix: string;
  /** Start after this key, or, with an id, after this upload of the key. */
  readonly after: { readonly key: Key; readonly id?: string } | undefined;
  readonly limit: number;
}

export interface StoredUpload {
  readonly record: UploadRecord;
  /** Number of changes to the upload and its parts. */
  readonly revision: number;
}

export interface Change {
  readonly checks?: readonly Check[];
  readonly mutations: readonly Mutation[];
  /**
   * The protection of the bucket that the mutations of objects were chosen for. The commit is a
   * "conflict" if the bucket has another one. Default: the bucket has none.
   */
  readonly protection?: Protection | undefined;
}

export type Check =
  /** Holds if the object still has this version. Undefined: if it does not exist. */
  | { readonly kind: "object"; readonly key: Key; readonly version: string | undefined }
  /** Holds if this version exists and its record is unchanged. */
  | { readonly kind: "version"; readonly version: Version }
  /** Holds if the upload is active and, with a revision, unchanged. */
  | { readonly kind: "upload"; readonly key: Key; readonly id: string; readonly revision?: number }
  /** Holds if the setting still has this value. Undefined: if it is not set. */
  | { readonly kind: "setting"; readonly name: SettingName; readonly value: unknown };

/**
 * A key has a sequence of versions, of which the newest is current, and at most one of them is the
 * null version. Blobs that a mutation leaves unreferenced are added to the garbage queue in the
 * same commit.
 */
export type Mutation =
  /** Appends a version. If it is the null version, first removes the previous null version. */
  | { readonly kind: "put object"; readonly record: ObjectRecord; readonly body: Body }
  /** Like "put object"; the body is that of an existing version of the key and is not copied. */
  | { readonly kind: "put copy"; readonly record: ObjectRecord; readonly of: string }
  /** Like "put object" for a delete marker. */
  | { readonly kind: "put marker"; readonly marker: DeleteMarker }
  /** Removes one version. If it was current, the next older version becomes current. */
  | { readonly kind: "delete version"; readonly key: Key; readonly version: string }
  /** Replaces the record of this version, current or not, and keeps its body. */
  | { readonly kind: "restate object"; readonly record: ObjectRecord; readonly body: Body }
  /**
   * Like "restate object", with another body of the same size. A check in the same change says that
   * the version exists. Blobs of the earlier body that no other version has become garbage.
   */
  | { readonly kind: "replace body"; readonly record: ObjectRecord; readonly body: Body }
  /** Removes the object of a key whose bucket was never versioned. */
  | { readonly kind: "delete object"; readonly key: Key }
  | { readonly kind: "put upload"; readonly record: UploadRecord }
  | { readonly kind: "delete upload"; readonly key: Key; readonly id: string }
  | { readonly kind: "put part"; readonly uploadId: string; readonly part: PartRecord }
  /** Removes the upload's parts: `taken` parts belong to an object, others become garbage. */
  | { readonly kind: "end parts"; readonly uploadId: string; readonly taken: readonly number[] }
  | AppendEvent
  /** The value undefined removes the setting. */
  | { readonly kind: "put setting"; readonly name: SettingName; readonly value: unknown };

/** Whether a mutation changes objects: then its commit depends on the bucket's protection. */
export const mutationsOfObjects: Readonly<Record<Mutation["kind"], boolean>> = {
  ...{ "put object": true, "put copy": true, "put marker": true, "delete version": true },
  ...{ "restate object": true, "replace body": true, "delete object": true },
  ...{ "put upload": false, "delete upload": false, "put part": false, "end parts": false },
  ...{ "append event": false, "put setting": false },
};

export function changesObjects({ kind }: Mutation): boolean {
  return mutationsOfObjects[kind];
}

/** Whether a commit of this mutation may be refused because of the bucket's quota. */
export function needsQuota(mutation: Mutation): mutation is PutMutation {
  return mutation.kind === "put object" || mutation.kind === "put copy";
}

export type PutMutation = Extract<Mutation, { kind: "put object" | "put copy" }>;

export interface GarbageEntry {
  readonly entry: number;
  readonly blobs: readonly string[];
  /** Whether the entry is unreadable. If so, no blobs are removed for it. */
  readonly isDamaged?: true;
}
