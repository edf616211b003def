// Messages between the supervisor and the bridge, the process that serves the sockets of sandboxes.
import type { StartMessage } from "../../child/start-child.ts";
import type { ObserverOptions } from "../../metrics/reporter.ts";
import { type FromObserver, parseFromObserver, type ToObserver } from "../../metrics/reporter-messages.ts";
import type { Location } from "../../model/names/location.ts";
import { isCount, isFields, isText } from "../../model/shape.ts";
import type { AssetsOptions, Outbound } from "../bindings.ts";
import type { Mode } from "../context.ts";
import type { HostEncryption } from "../host/messages.ts";

/** The first message: what the engine of the bridge needs. */
export interface OpenBridge {
  readonly kind: "open";
  readonly location: Location;
  readonly mode: Mode;
  readonly openUploads: number | undefined;
  /** Maximum open files and connections of the bridge. */
  readonly descriptors: number;
  readonly encryption: HostEncryption | undefined;
  readonly observing: ObserverOptions;
}

/** What one sandbox may reach. Each bucket and namespace becomes a socket, in this order. */
export interface SandboxRights {
  readonly script: string;
  /** Folder in which the bridge creates the sockets. */
  readonly sockets: string;
  readonly buckets: readonly string[];
  readonly namespaces: readonly string[];
  readonly assets: AssetsOptions | undefined;
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly outbound: Outbound;
}

export type ToBridge =
  | ToObserver
  | OpenBridge
  | ({ readonly kind: "open sandbox"; readonly id: number } & SandboxRights)
  | { readonly kind: "close sandbox"; readonly id: number }
  /** Finish the requests in flight, then exit. */
  | { readonly kind: "close" };

export type FromBridge =
  | FromObserver
  | StartMessage
  | { readonly kind: "beat" }
  /** The sockets of a sandbox are open, or could not be opened. */
  | { readonly kind: "opened"; readonly id: number; readonly error: string | undefined }
  /** A line for the log of a script. */
  | { readonly kind: "log"; readonly script: string; readonly line: string };

export const maxBridgeText = 64 * 1024;

/** Returns undefined when the value is not a valid message. */
export function parseFromBridge(value: unknown): FromBridge | undefined {
  if (!isFields(value)) return undefined;
  const { kind, id, error, script, line, message, code } = value;
  if (kind === "warm" || kind === "ready" || kind === "beat") return { kind };
  if (kind === "opened" && isCount(id) && (error === undefined || isText(error, maxBridgeText))) {
    return { kind, id, error };
  }
  if (kind === "log" && isText(script, 1024) && isText(line, maxBridgeText)) return { kind, script, line };
  if (kind === "failed" && isText(message, maxBridgeText)) {
    return { kind, message, code: isText(code, 64) ? code : undefined };
  }
  return parseFromObserver(value);
}
