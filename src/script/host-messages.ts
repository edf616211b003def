// What the supervisor and the processes that run scripts say to each other.
import type { TlsPair } from "../http/tls.ts";
import type { FromObserver, Observing, ToObserver } from "../metrics/observer.ts";
import type { Location } from "../model/location.ts";
import type { StoreNotification } from "../types.ts";

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

/** What a script's buckets sign URLs with. */
export interface ScriptPresigner {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export type Mode = "dev" | "serve";

export interface Load {
  readonly kind: "load";
  readonly script: LoadedScript;
  readonly location: Location;
  readonly mode: Mode;
  readonly presign: ScriptPresigner | undefined;
  /** Where it listens for what the front forwards. */
  readonly socketPath: string;
  /** What connections that are handed over are secured with, if they are. */
  readonly tls: TlsPair | undefined;
  /** Proxies whose word on the sender of a request is taken. */
  readonly trusted: readonly string[];
  readonly observing: Observing;
}

export type ToHost =
  | ToObserver
  | Load
  | { readonly kind: "tls"; readonly pair: TlsPair }
  | { readonly kind: "notification"; readonly id: number; readonly events: readonly NotificationMessage[] }
  | { readonly kind: "scheduled"; readonly id: number; readonly cron: string; readonly time: number }
  /** Comes with a connection, to be served if the machine's clock has not passed the deadline. */
  | { readonly kind: "connection"; readonly id: number; readonly deadline: number }
  /** Finish what is under way, then end. */
  | { readonly kind: "drain" };

export type FromHost =
  | FromObserver
  /** The process is up and waits for a script. */
  | { readonly kind: "warm" }
  | { readonly kind: "ready"; readonly handlers: readonly string[] }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "beat" }
  | { readonly kind: "connection"; readonly id: number; readonly isTaken: boolean }
  | { readonly kind: "ran"; readonly id: number; readonly error: string | undefined }
  | ({ readonly kind: "notified"; readonly id: number } & Notified);

/** A StoreNotification on its way. */
export type NotificationMessage = Omit<StoreNotification, "type" | "time"> & { readonly time: number };

/** What became of several: the places of those that were handled, and why others were not. */
export interface Notified {
  readonly handled: readonly number[];
  readonly error: string | undefined;
}

export const beatMilliseconds = 100;
