// What the supervisor and the processes of the S3 API send each other.
import type { PortLimits } from "../../http/server/limits.ts";
import type { TlsPair } from "../../http/tls/tls.ts";
import type { ObserverOptions } from "../../metrics/reporter.ts";
import { type FromObserver, parseFromObserver, type ToObserver } from "../../metrics/reporter-messages.ts";
import type { Location } from "../../model/location.ts";
import { isFields, isList, isText } from "../../model/shape.ts";
import type { Uses } from "../auth/key-usage.ts";

export interface OpenS3 {
  readonly kind: "open";
  readonly location: Location;
  readonly domains: readonly string[];
  /** In base64. */
  readonly secretKey: string;
  /** What connections are secured with, if they are. */
  readonly tls: TlsPair | undefined;
  /** Proxies whose X-Forwarded-* headers are trusted. */
  readonly trusted: readonly string[];
  readonly observing: ObserverOptions;
  readonly limits: PortLimits;
  /** The secret of requests that ask whether the port is served. */
  readonly probe: string;
  /** Open multipart uploads of each bucket. */
  readonly openUploads: number | undefined;
}

export type ToS3Process =
  | ToObserver
  | OpenS3
  | { readonly kind: "tls"; readonly pair: TlsPair }
  | { readonly kind: "close" };

export type FromS3Process =
  | FromObserver
  /** The process is up and waits for `open`. */
  | { readonly kind: "warm" }
  | { readonly kind: "ready" }
  /** Which keys have signed requests, and when. */
  | { readonly kind: "used"; readonly uses: Uses }
  /** With the code of a system call that failed, if that is why. */
  | { readonly kind: "failed"; readonly message: string; readonly code?: string | undefined }
  | { readonly kind: "log"; readonly line: string };

const maxTextLength = 64 * 1024;
const maxUses = 100_000;

/** Undefined when the value is not such a message. */
export function parseFromS3Process(value: unknown): FromS3Process | undefined {
  if (!isFields(value)) return undefined;
  const { kind, uses, message, code, line } = value;
  if (kind === "warm" || kind === "ready") return { kind };
  if (kind === "used" && isList(uses, maxUses, isUse)) return { kind, uses };
  if (kind === "log" && isText(line, maxTextLength)) return { kind, line };
  if (kind === "failed" && isText(message, maxTextLength)) {
    return { kind, message, code: isText(code, 64) ? code : undefined };
  }
  return parseFromObserver(value);
}

function isUse(value: unknown): value is Uses[number] {
  return Array.isArray(value) && value.length === 2 && isText(value[0], 1024) && Number.isFinite(value[1]);
}
