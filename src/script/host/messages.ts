// Messages between the supervisor and the processes that run scripts.
import type { PortOptions } from "../../http/port-options.ts";
import type { S3Access } from "../../http/sigv4.ts";
import type { TlsPair } from "../../http/tls/tls.ts";
import type { ObserverOptions } from "../../metrics/reporter.ts";
import { type FromObserver, parseFromObserver, type ToObserver } from "../../metrics/reporter-messages.ts";
import type { Location } from "../../model/names/location.ts";
import { isCount, isFields, isList, isText } from "../../model/shape.ts";
import type { StoreNotification } from "../../script-types.ts";
import type { EntryPoint, IsolationSettings, ScriptBindings } from "../bindings.ts";
import type { RuntimeCompatibility } from "../config/runtime-flags.ts";
import type { Mode } from "../context.ts";

/** Everything a process needs to run a script. */
export interface LoadedScript extends ScriptBindings, RuntimeCompatibility, IsolationSettings {
  /** Name of the script in the configuration. */
  readonly name: string;
  /** Folder of the configuration. */
  readonly directory: string;
  /** The bundled module; undefined when assets are served without a script. */
  readonly bundle: string | undefined;
  /** The syntax of the script. A service worker adds listeners and exports no handlers. */
  readonly format: BundleFormat;
  readonly secrets: Readonly<Record<string, string>>;
  /** Entry points that other scripts call; only in a sandbox. */
  readonly entryPoints: readonly EntryPoint[];
}

/** A file of a bundle for the sandbox. The first one is the script. */
export interface ScriptModule {
  readonly name: string;
  readonly kind: "esm" | "wasm" | "text" | "data";
  readonly contents: Uint8Array;
}

export type BundleFormat = "module" | "service-worker";

/** What the engine of a script needs to encrypt objects with the store's keys. */
export interface HostEncryption {
  /** The store's secret key, in base64. */
  readonly secretKey: string;
  readonly encrypt: "always" | undefined;
}

/** `limits` apply to this process. */
export interface Load extends Pick<PortOptions, "trusted" | "limits" | "probe"> {
  readonly kind: "load";
  readonly script: LoadedScript;
  readonly location: Location;
  readonly mode: Mode;
  readonly presign: S3Access | undefined;
  /** Maximum number of open multipart uploads in each bucket. */
  readonly openUploads: number | undefined;
  readonly encryption?: HostEncryption | undefined;
  /** Socket path for requests from the router; undefined when the process accepts on the port. */
  readonly socketPath: string | undefined;
  /** Certificate and key, if the port serves HTTPS. */
  readonly tls: TlsPair | undefined;
  readonly observing: ObserverOptions;
}

export type ToHost =
  | ToObserver
  | Load
  | { readonly kind: "tls"; readonly pair: TlsPair }
  | { readonly kind: "notification"; readonly id: number; readonly events: readonly NotificationMessage[] }
  | { readonly kind: "scheduled"; readonly id: number; readonly cron: string; readonly time: number }
  /** Accept connections on the inherited port. */
  | { readonly kind: "accept"; readonly id: number }
  /** Finish the requests in flight, then exit. */
  | { readonly kind: "drain" };

export type FromHost =
  | FromObserver
  /** The process has started and waits for a script. */
  | { readonly kind: "warm" }
  | { readonly kind: "ready"; readonly handlers: readonly string[] }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "beat" }
  | { readonly kind: "ran"; readonly id: number; readonly error: string | undefined }
  | ({ readonly kind: "notified"; readonly id: number } & NotificationResult);

/** A StoreNotification in serialized form. */
export type NotificationMessage = Omit<StoreNotification, "type" | "time"> & { readonly time: number };

/** Result of a batch: the indexes of handled events, and the first error. */
export interface NotificationResult {
  readonly handled: readonly number[];
  readonly error: string | undefined;
}

export const heartbeatMilliseconds = 100;

/** Maximum length of texts in messages; longer texts are truncated. */
export const maxMessageText = 64 * 1024;
const maxEvents = 10_000;

/** Undefined for an invalid message, which a script can write to the pipe. */
export function parseFromHost(value: unknown): FromHost | undefined {
  if (!isFields(value)) return undefined;
  const { kind, id, handlers, handled, message, error } = value;
  if (kind === "warm" || kind === "beat") return { kind };
  if (kind === "ready" && isList(handlers, 16, isName)) return { kind, handlers };
  if (kind === "failed" && isText(message, maxMessageText)) return { kind, message };
  const hasOutcome = isCount(id) && (error === undefined || isText(error, maxMessageText));
  const reason = error as string | undefined;
  if (kind === "ran" && hasOutcome) return { kind, id, error: reason };
  if (kind === "notified" && hasOutcome && isList(handled, maxEvents, isCount)) {
    return { kind, id, handled, error: reason };
  }
  return parseFromObserver(value);
}

function isName(value: unknown): value is string {
  return isText(value, 64);
}
