// What the supervisor and the processes that run scripts say to each other.
import type { Address } from "../http/listen.ts";

/** All a process needs to run a script. */
export interface LoadedScript {
  readonly name: string;
  /** The bundled module. */
  readonly bundle: string;
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly buckets: readonly { readonly binding: string; readonly bucketName: string }[];
  readonly vars: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
}

export type Mode = "dev" | "serve";

export interface Load {
  readonly kind: "load";
  readonly script: LoadedScript;
  /** The store's data directory. */
  readonly location: string;
  readonly mode: Mode;
  readonly address: Address;
}

export type ToHost =
  | Load
  | { readonly kind: "scheduled"; readonly id: number; readonly cron: string; readonly time: number }
  /** Finish what is under way, then end. */
  | { readonly kind: "drain" };

export type FromHost =
  /** The process is up and waits for a script. */
  | { readonly kind: "warm" }
  | { readonly kind: "ready"; readonly port: number | undefined; readonly handlers: readonly string[] }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "beat" }
  | { readonly kind: "ran"; readonly id: number; readonly error: string | undefined };

export const beatMilliseconds = 100;
