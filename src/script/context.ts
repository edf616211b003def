// Types shared by the configuration, the processes that run scripts, and the globals of scripts.

/** `dev` reloads changed files and shows errors to the client; `serve` is the production mode. */
export type Mode = "dev" | "serve";

export interface ScriptContext {
  waitUntil(promise: Promise<unknown>): void;
  passThroughOnException(): void;
  /** Always empty: calls from other scripts, which would pass props, are not supported. */
  readonly props: Record<string, unknown>;
  readonly exports: object;
}
