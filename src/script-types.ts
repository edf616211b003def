// Types of a script's handlers and of the bindings that are not storage. A script uses them as
// `export default { … } satisfies StoreScript<Env>`.
import type { StoreNotification } from "./types.ts";

/** The third argument of every handler. */
export interface StoreContext {
  /** Work that continues after the response; a reload or shutdown waits for it. */
  waitUntil(promise: Promise<unknown>): void;
  passThroughOnException(): void;
}

/** The first argument of a `scheduled` handler. */
export interface StoreScheduledEvent {
  readonly type: "scheduled";
  /** The expression in the configuration that matched. */
  readonly cron: string;
  /** Milliseconds since the epoch. */
  readonly scheduledTime: number;
}

/** What a script exports by default. */
export interface StoreScript<Env = unknown> {
  fetch?(request: Request, env: Env, ctx: StoreContext): Response | Promise<Response>;
  scheduled?(event: StoreScheduledEvent, env: Env, ctx: StoreContext): void | Promise<void>;
  notification?(event: StoreNotification, env: Env, ctx: StoreContext): void | Promise<void>;
}

/** The binding of a script's static files. */
export interface StoreAssets {
  fetch(input: Request | URL | string, init?: RequestInit): Promise<Response>;
}
