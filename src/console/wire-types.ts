// Types of the JSON that the console's server and page exchange; both are checked against them.
import type { BucketPoints } from "../metrics/bucket-history.ts";
import type { Point } from "../metrics/history.ts";

export interface ErrorDocument {
  readonly error: {
    readonly code: string;
    readonly message: string;
    /** What the user can do about the error. */
    readonly hint?: string | undefined;
  };
}

/** All times in this file are milliseconds since the epoch. */
export interface BucketDocument {
  readonly name: string;
  readonly created: number;
  readonly storageClass: string;
  readonly account: string;
}

export interface BucketsDocument {
  readonly buckets: readonly (BucketDocument & { readonly isPublic: boolean })[];
}

export interface GrantDocument {
  /** Bucket name, or `*` for every bucket. */
  readonly bucket: string;
  /** Limits the grant to keys with this prefix. */
  readonly prefix?: string | undefined;
  /** Limits the grant to this key. */
  readonly object?: string | undefined;
  readonly rights: readonly string[];
}

/** Limits of a key's rates; missing for no limit. */
export interface KeyLimitsDocument {
  readonly requestsPerSecond?: number | undefined;
  readonly bytesPerSecond?: number | undefined;
}

export interface KeyDocument {
  readonly accessKeyId: string;
  /** What the key is for. */
  readonly name: string | null;
  readonly account: string;
  /** Permissions per bucket; null for full access to the account. */
  readonly grants: readonly GrantDocument[] | null;
  readonly created: number;
  readonly expires: number | null;
  readonly lastUsed: number | null;
  readonly state: "active" | "disabled" | "expired";
  /** Until when the previous secret stays valid after a rotation. */
  readonly previousUntil: number | null;
  readonly limits: KeyLimitsDocument | null;
}

export interface KeysDocument {
  readonly keys: readonly KeyDocument[];
  /** All rights that a grant can contain. */
  readonly rights: readonly string[];
}

/** The only response that contains the secret. */
export interface KeySecretDocument {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly previousUntil: number | null;
}

export interface TotalsDocument {
  readonly objects: number;
  readonly bytes: number;
  /** Versions that are not current, and delete markers. */
  readonly noncurrentVersions: number;
  readonly noncurrentBytes: number;
}

/** A lock that keeps a version from being removed now. */
export interface LockDocument {
  readonly message: string;
  /** End of the lock; null if it has none. */
  readonly until: number | null;
}

export interface ObjectRow {
  readonly key: string;
  readonly size: number;
  readonly uploaded: number;
  readonly etag: string;
  readonly storageClass: string;
  /** How the page can show the object. */
  readonly preview: Preview;
  readonly lock?: LockDocument | undefined;
}

/** "off": versioning was never turned on. */
export type VersioningState = "off" | "on" | "suspended";

export interface ObjectsDocument {
  readonly prefixes: readonly string[];
  readonly objects: readonly ObjectRow[];
  readonly versioning: VersioningState;
  /** Cursor of the next page; missing on the last page. */
  readonly cursor?: string | undefined;
}

/** An object that a delete marker hides. */
export interface DeletedRow {
  readonly key: string;
  readonly deleted: number;
}

export interface DeletedObjectsDocument extends Pick<ObjectsDocument, "prefixes" | "versioning" | "cursor"> {
  readonly objects: readonly DeletedRow[];
}

export interface VersionRow {
  readonly version: string;
  readonly uploaded: number;
  readonly isCurrent: boolean;
  readonly isDeleteMarker: boolean;
  /** Missing for a delete marker. */
  readonly size?: number | undefined;
  readonly lock?: LockDocument | undefined;
  /** Whether the version is encrypted with a customer-provided key and cannot be downloaded here. */
  readonly isEncrypted?: boolean | undefined;
}

export interface VersionsDocument {
  /** The newest version first. */
  readonly versions: readonly VersionRow[];
  readonly versioning: VersioningState;
  readonly cursor?: string | undefined;
}

/** Result of one page of a restore to a time, or of its dry run. */
export interface RestoredDocument {
  readonly restored: number;
  readonly deleted: number;
  readonly unchanged: number;
  readonly cursor?: string | undefined;
}

export interface DeletedDocument {
  readonly deleted: number;
  /** Number of delete markers that were written. */
  readonly markers: number;
  /** Whether further objects with the prefix remain. */
  readonly isMore: boolean;
}

export interface ObjectDocument extends ObjectRow {
  readonly version: string;
  readonly versioning: VersioningState;
  readonly tags: Readonly<Record<string, string>>;
  /** Values by field name; the expiry is in milliseconds since the epoch. */
  readonly httpMetadata: Readonly<Record<string, string | number>>;
  readonly customMetadata: Readonly<Record<string, string>>;
  /** Hex values by name of the algorithm. */
  readonly checksums: Readonly<Record<string, string>>;
  /** Number of parts, if the checksums were computed from the checksums of parts. */
  readonly checksumParts?: number | undefined;
  /** Number of parts; missing if the object was uploaded with a single put. */
  readonly parts?: number | undefined;
  /** Hex MD5 of the customer-provided encryption key (SSE-C). */
  readonly encryptionKeyMd5?: string | undefined;
  /** Missing if objects of the bucket cannot be locked. */
  readonly objectLock?: ObjectLockDocument | undefined;
  /** URL of the object in the S3 API, without a signature. */
  readonly url: string;
  /** URL that anyone can open, if the bucket is public. */
  readonly publicUrl: string | null;
}

/** The lock of an object in a bucket with Object Lock. */
export interface ObjectLockDocument {
  readonly retention: { readonly mode: "governance" | "compliance"; readonly until: number } | null;
  readonly isOnHold: boolean;
}

/** How the page can show the object; "none": it can only be downloaded. */
export type Preview = "image" | "video" | "audio" | "pdf" | "text" | "json" | "csv" | "markdown" | "none";

export interface LinkDocument {
  readonly url: string;
}

export interface UploadRow {
  readonly bucket: string;
  readonly key: string;
  readonly id: string;
  readonly created: number;
  /** When the upload expires. */
  readonly due: number;
  readonly parts: number;
  readonly bytes: number;
}

export interface UploadsDocument {
  readonly uploads: readonly UploadRow[];
  /** Cursor of the next page; missing on the last page. */
  readonly cursor?: string | undefined;
}

export interface PartRow {
  readonly number: number;
  readonly size: number;
  readonly etag: string;
}

export interface PartsDocument {
  readonly parts: readonly PartRow[];
}

export interface StoredDocument {
  readonly etag: string;
}

export interface ScriptDocument {
  readonly name: string;
  /** Path of the configuration file. */
  readonly file: string;
  readonly routes: readonly string[];
  readonly schedules: readonly string[];
  readonly buckets: readonly { readonly binding: string; readonly bucket: string }[];
  readonly variables: readonly string[];
  readonly secrets: readonly string[];
}

export interface FaultDocument {
  readonly time: number;
  readonly script: string;
  readonly message: string;
  readonly stack: readonly string[];
}

export interface ScriptsDocument {
  readonly scripts: readonly ScriptDocument[];
  /** Recent errors, newest first. */
  readonly faults: readonly FaultDocument[];
}

export interface LogDocument {
  readonly lines: readonly {
    readonly number: number;
    readonly time: number;
    readonly script: string;
    readonly stream: "stdout" | "stderr";
    readonly text: string;
  }[];
}

export interface MetricsDocument {
  /** Data points, oldest first. */
  readonly points: readonly MetricsPoint[];
  readonly scrub: {
    readonly isRunning: boolean;
    /** Bytes that the running scrub has read; `stored` is the total number of bytes. */
    readonly read: number | null;
    readonly stored: number | null;
    readonly damages: number;
    readonly lastEnded: number | null;
  };
}

type OptionalMetric = "median" | "slowest" | "stored" | "objects";

/** Rates are per second, durations in seconds. Unknown metrics are missing in the JSON. */
export type MetricsPoint = Omit<Point, OptionalMetric> & Partial<Pick<Point, OptionalMetric>>;

/** Rates are per second. A point without rates is an interval in which the bucket was not counted. */
export type BucketMetricsDocument = BucketPoints;
