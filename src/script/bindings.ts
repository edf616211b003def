// What a script's configuration puts into its env. The configuration, the processes that run scripts and
// `store types` all use these shapes.

export interface BucketBinding {
  readonly binding: string;
  readonly bucketName: string;
}

export interface KvBinding {
  readonly binding: string;
  /** The namespace's name in the store. */
  readonly namespace: string;
}

/** A kind of binding that Store does not have: the script starts, and fails when it uses the binding. */
export interface UnsupportedBinding {
  readonly binding: string;
  /** For messages, with its article: "a D1 database". */
  readonly kind: string;
}

/** Counts requests in the process that runs the script. */
export interface RateLimiterBinding {
  readonly kind: "rate limiter";
  readonly binding: string;
  readonly limit: number;
  readonly periodSeconds: number;
}

/** Accepts data points and drops them. */
export interface DatasetBinding {
  readonly kind: "dataset";
  readonly binding: string;
}

/** A kind of binding that Store has no service for, and that works within a script's process. */
export type EmulatedBinding = RateLimiterBinding | DatasetBinding;

/** Static files that are served beside a script, or without one. */
export interface AssetsOptions {
  /** Absolute. */
  readonly directory: string;
  /** Name of the assets binding in env, if the script fetches assets itself. */
  readonly binding: string | undefined;
  readonly notFoundHandling: "none" | "404-page" | "single-page-application";
  readonly htmlHandling: "auto-trailing-slash" | "force-trailing-slash" | "drop-trailing-slash" | "none";
  /** True for every request, or the patterns of the paths that go to the script first. */
  readonly runWorkerFirst: boolean | readonly string[];
}

export interface ScriptBindings {
  readonly buckets: readonly BucketBinding[];
  readonly kvNamespaces: readonly KvBinding[];
  readonly assets: AssetsOptions | undefined;
  readonly emulated: readonly EmulatedBinding[];
  readonly unsupported: readonly UnsupportedBinding[];
  /** Anything JSON can hold. */
  readonly vars: Readonly<Record<string, unknown>>;
}
