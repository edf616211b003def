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
