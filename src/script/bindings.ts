// Types of everything that a script's configuration puts into env. The configuration, the processes
// that run scripts and `store types` share them.

export interface BucketBinding {
  readonly binding: string;
  readonly bucketName: string;
}

export interface KvBinding {
  readonly binding: string;
  /** The namespace's name in the store. */
  readonly namespace: string;
}

/** An unsupported kind of binding: the script starts, and fails when it uses the binding. */
export interface UnsupportedBinding {
  readonly binding: string;
  /** Name of the kind with its article, for messages: "a D1 database". */
  readonly kind: string;
  /** What is wrong and what to do, as a clause. Default: Store does not have this kind. */
  readonly fault?: string | undefined;
}

/** What a service binding calls in its script. */
export interface EntryPoint {
  /** Name of an exported class; undefined for the default export. */
  readonly entrypoint: string | undefined;
  /** What the callee reads as `ctx.props`. */
  readonly props: Readonly<Record<string, unknown>> | undefined;
}

/** Another script of this server, or an entry point of the script itself. */
export interface ServiceBinding extends EntryPoint {
  readonly binding: string;
  /** Name of the script. */
  readonly service: string;
}

/** Limits requests by key. Each process that runs the script counts on its own. */
export interface RateLimiterBinding {
  readonly kind: "rate limiter";
  readonly binding: string;
  readonly limit: number;
  readonly periodSeconds: number;
}

/** Accepts data points and discards them. */
export interface DatasetBinding {
  readonly kind: "dataset";
  readonly binding: string;
}

/** A binding that Store emulates inside the script's process, without a service. */
export type EmulatedBinding = RateLimiterBinding | DatasetBinding;

/** Static files, served together with a script or without one. */
export interface AssetsOptions {
  /** Absolute path of the folder with the files. */
  readonly directory: string;
  /** Name of the assets binding in env, if the script fetches assets itself. */
  readonly binding: string | undefined;
  readonly notFoundHandling: "none" | "404-page" | "single-page-application";
  readonly htmlHandling: "auto-trailing-slash" | "force-trailing-slash" | "drop-trailing-slash" | "none";
  /** Whether all requests, or only requests for matching paths, go to the script first. */
  readonly runWorkerFirst: boolean | readonly string[];
}

/** How a script runs: as a process of this user, or in a sandbox that reaches only its bindings. */
export type Isolation = "process" | "sandbox";

/** What a sandboxed script may fetch: nothing, all public addresses, or the hosts of a list. */
export type Outbound = "none" | "public" | readonly string[];

/** How a script is isolated, and what it needs for that. */
export interface IsolationSettings {
  readonly isolation: Isolation;
  /** Has an effect only in a sandbox. */
  readonly outbound: Outbound;
}

export interface ScriptBindings {
  readonly buckets: readonly BucketBinding[];
  readonly kvNamespaces: readonly KvBinding[];
  readonly assets: AssetsOptions | undefined;
  readonly services: readonly ServiceBinding[];
  readonly emulated: readonly EmulatedBinding[];
  readonly unsupported: readonly UnsupportedBinding[];
  /** Variables by name. A value can be anything that JSON can represent. */
  readonly vars: Readonly<Record<string, unknown>>;
}
