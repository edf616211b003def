// What goes between the console's server and its page, as JSON: the page's own code is checked against these.

export interface ErrorDocument {
  readonly error: {
    readonly code: string;
    readonly message: string;
    /** What to do about it. */
    readonly hint?: string | undefined;
  };
}

export interface SessionDocument {
  readonly name: string;
  /** Times are milliseconds since the epoch, everywhere. */
  readonly expires: number;
}

export interface BucketDocument {
  readonly name: string;
  readonly created: number;
  readonly storageClass: string;
  readonly account: string;
}

export interface BucketsDocument {
  readonly buckets: readonly BucketDocument[];
}

export interface GrantDocument {
  /** `*` for every bucket. */
  readonly bucket: string;
  readonly rights: readonly string[];
}

export interface KeyDocument {
  readonly accessKeyId: string;
  readonly account: string;
  /** Null for everything of the account. */
  readonly grants: readonly GrantDocument[] | null;
  readonly created: number;
  readonly expires: number | null;
  readonly lastUsed: number | null;
  readonly state: "active" | "disabled" | "expired";
  /** Until when the secret before the last rotation is taken too. */
  readonly previousUntil: number | null;
}

export interface KeysDocument {
  readonly keys: readonly KeyDocument[];
  /** What a grant may allow. */
  readonly rights: readonly string[];
}

/** The only time that a secret is shown. */
export interface KeySecretDocument {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly previousUntil: number | null;
}

export interface TotalsDocument {
  readonly objects: number;
  readonly bytes: number;
}

export interface ObjectRow {
  readonly key: string;
  readonly size: number;
  readonly uploaded: number;
  readonly etag: string;
  readonly storageClass: string;
}

export interface ObjectsDocument {
  readonly prefixes: readonly string[];
  readonly objects: readonly ObjectRow[];
  /** Where the next page begins; not there when nothing is left. */
  readonly cursor?: string | undefined;
}

export interface DeletedDocument {
  readonly deleted: number;
  /** Whether something is left under the prefix. */
  readonly isMore: boolean;
}

export interface ObjectDocument extends ObjectRow {
  readonly version: string;
  /** By the fields' names; the expiry is in milliseconds since the epoch. */
  readonly httpMetadata: Readonly<Record<string, string | number>>;
  readonly customMetadata: Readonly<Record<string, string>>;
  /** In hex, by the names people know them by. */
  readonly checksums: Readonly<Record<string, string>>;
  /** When the checksums are made of so many parts' checksums. */
  readonly checksumParts?: number | undefined;
  /** Of how many parts it was made; not there for one that was put in one piece. */
  readonly parts?: number | undefined;
  /** The MD5 of the customer's key that it is encrypted under, in hex. */
  readonly encryptionKeyMd5?: string | undefined;
  /** What the S3 API calls it, unsigned. */
  readonly url: string;
  readonly preview: Preview;
}

/** How it can be shown; one that cannot is downloaded. */
export type Preview = "image" | "video" | "audio" | "pdf" | "text" | "json" | "none";

export interface LinkDocument {
  readonly url: string;
}

export interface UploadRow {
  readonly bucket: string;
  readonly key: string;
  readonly id: string;
  readonly created: number;
  /** When it ends by itself. */
  readonly due: number;
  readonly parts: number;
  readonly bytes: number;
}

export interface UploadsDocument {
  readonly uploads: readonly UploadRow[];
  /** Where the next page begins; not there when nothing is left. */
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

/** Rules as the model has them; the page knows their fields by name alone. */
export interface RulesDocument {
  readonly lifecycle: readonly object[];
  readonly cors: readonly object[];
}

export interface FlawsDocument {
  readonly flaws: readonly {
    /** Counted from 0; left out for all of them together. */
    readonly rule?: number | undefined;
    readonly field?: string | undefined;
    readonly message: string;
  }[];
}

export interface ScriptDocument {
  readonly name: string;
  /** Of its configuration. */
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
  /** The newest first. */
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
  /** Oldest first. */
  readonly points: readonly MetricsPoint[];
  readonly scrub: {
    readonly isRunning: boolean;
    /** What the round under way has read, of as much as there is. */
    readonly read: number | null;
    readonly stored: number | null;
    readonly damages: number;
    readonly lastEnded: number | null;
  };
}

/** Rates are a second, and durations seconds. */
export interface MetricsPoint {
  readonly time: number;
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly median?: number | undefined;
  readonly slowest?: number | undefined;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly stored?: number | undefined;
  readonly objects?: number | undefined;
}
