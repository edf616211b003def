// Types that the configuration, the processes of scripts and their globals share.

/** `dev` reloads and shows errors to the client; `serve` is the production mode. */
export type Mode = "dev" | "serve";

export interface ScriptContext {
  waitUntil(promise: Promise<unknown>): void;
  passThroughOnException(): void;
  /** Always empty: no other script calls this one. */
  readonly props: Record<string, unknown>;
  readonly exports: object;
}
