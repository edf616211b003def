// Messages between the supervisor and the worker processes of the S3 API.

import type { Uses } from "../../access/keys/key-usage.ts";
import type { StartMessage } from "../../child/start-child.ts";
import type { PortOptions } from "../../http/port-options.ts";
import type { TlsPair } from "../../http/tls/tls.ts";
import type { ObserverOptions } from "../../metrics/reporter.ts";
import { type FromObserver, parseFromObserver, type ToObserver } from "../../metrics/reporter-messages.ts";
import type { Location } from "../../model/names/location.ts";
import { isFields, isList, isText } from "../../model/shape.ts";

/** `limits` applies to this process only. */
export interface OpenS3 extends Pick<PortOptions, "trusted" | "limits" | "probe"> {
  readonly kind: "open";
  readonly location: Location;
  readonly domains: readonly string[];
  /** The store's secret key, in base64. */
  readonly secretKey: string;
  /** Certificate and key of the port; undefined without TLS. */
  readonly tls: TlsPair | undefined;
  readonly observing: ObserverOptions;
  /** Maximum of open multipart uploads of each bucket. */
  readonly openUploads: number | undefined;
  /** Number of worker processes. */
  readonly processes: number;
  /** "always": encrypt every new object with the store's key. */
  readonly encryption: "always" | undefined;
  /** Whether every bucket has a full public access block. */
  readonly blocksPublicAccess: boolean | undefined;
  /** The only region that clients may name. */
  readonly region: string | undefined;
}

export type ToS3Process =
  | ToObserver
  | OpenS3
  | { readonly kind: "tls"; readonly pair: TlsPair }
  | { readonly kind: "close" };

export type FromS3Process =
  | FromObserver
  | StartMessage
  /** Access keys that were used, with the time of the last use. */
  | { readonly kind: "used"; readonly uses: Uses }
  | { readonly kind: "log"; readonly line: string };

const maxTextLength = 64 * 1024;
const maxUses = 100_000;

/** Returns undefined when the value is not a valid message. */
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
