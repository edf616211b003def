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

export interface TotalsDocument {
  readonly objects: number;
  readonly bytes: number;
}
