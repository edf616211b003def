// Types of a script's handlers and of the bindings other than storage. A script uses them with
// `export default { … } satisfies StoreScript<Env>`.

/** The third argument of every handler. */
export interface StoreContext {
  /** Lets the work continue after the response. A reload or shutdown waits for the promise. */
  waitUntil(promise: Promise<unknown>): void;
  passThroughOnException(): void;
}

/** The first argument of a `scheduled` handler. */
export interface StoreScheduledEvent {
  readonly type: "scheduled";
  /** The cron expression from the configuration that matched. */
  readonly cron: string;
  /** Scheduled time in milliseconds since the epoch. */
  readonly scheduledTime: number;
}

/** The first argument of a `notification` handler: an event of an object in a bucket. */
export interface StoreNotification {
  readonly type: "notification";
  /** Every delivery of one event has the same id, so a handler can detect duplicates. */
  readonly id: string;
  /** Event name, for example `"s3:ObjectCreated:Put"`. */
  readonly name: string;
  readonly bucket: string;
  readonly key: string;
  readonly time: Date;
  /**
   * Orders the events of one key: compared as text, the later event has the greater sequencer.
   */
  readonly sequencer: string;
  /** Size, etag and version are present only for created objects. */
  readonly size?: number | undefined;
  readonly etag?: string | undefined;
  readonly version?: string | undefined;
}

/** The default export of a script. */
export interface StoreScript<Env = unknown> {
  fetch?(request: Request, env: Env, ctx: StoreContext): Response | Promise<Response>;
  scheduled?(event: StoreScheduledEvent, env: Env, ctx: StoreContext): void | Promise<void>;
  notification?(event: StoreNotification, env: Env, ctx: StoreContext): void | Promise<void>;
}

/** The binding of a script's static files. */
export interface StoreAssets {
  fetch(input: Request | URL | string, init?: RequestInit): Promise<Response>;
}
