// What an S3 service says when it does not do what was asked, and what of it passes by itself.

import { unescapeXml } from "../http/xml-entities.ts";
import { StoreError } from "../model/errors.ts";
import { Broken, Silence } from "./http-client.ts";

/** The service's own words for why not. */
export class S3Refusal extends Error {
  override readonly name = "S3Refusal";
  readonly status: number;
  /** As the service spells it. */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const transientCodes = new Set([
  "SlowDown",
  "RequestTimeout",
  "ServiceUnavailable",
  "InternalError",
  // Bytes that were damaged or lost on the way; they go again.
  "BadDigest",
  "XAmzContentSHA256Mismatch",
  "IncompleteBody",
]);
const fullCodes = new Set([
  "QuotaExceeded",
  "InsufficientStorage",
  "InsufficientCapacity",
  "XMinioStorageFull",
]);

export function isFull(error: unknown): boolean {
  return error instanceof S3Refusal && (error.status === 507 || fullCodes.has(error.code));
}

/** Whether the same request may do when it is made again. */
export function isTransient(error: unknown): boolean {
  if (error instanceof Broken || error instanceof Silence) return true;
  if (error instanceof S3Refusal) {
    if (isFull(error) || error.status === 501) return false;
    return error.status >= 500 || error.status === 429 || transientCodes.has(error.code);
  }
  // Of the system, of its resolver, and of Node's HTTP parser. What is wrong with a certificate stays wrong.
  const { code = "" } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|EAI_|ENOTFOUND|EADDR|EMFILE|HPE_)/.test(code);
}

/** What to do when TLS cannot be spoken with the service; empty for any other failure. */
export function tlsAdvice(error: unknown): string {
  const { code = "" } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  // Node's name for bytes that are not TLS differs between versions.
  if (/^(EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG)$/.test(code)) {
    return " It does not speak TLS on this port: name the port that does, or write ?tls=false after the bucket.";
  }
  if (/^(DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_|ERR_TLS_CERT)/.test(code)) {
    return " Its certificate is not accepted: give its authority in NODE_EXTRA_CA_CERTS=/path/to/ca.pem.";
  }
  return "";
}

/** A failure in the store's words. The host is named, and what it said; never a key. */
export function toStoreError(error: unknown, host: string): unknown {
  if (error instanceof StoreError || !(error instanceof Error)) return error;
  const message = error instanceof S3Refusal ? `${error.code}: ${error.message}` : error.message;
  if (isFull(error)) {
    const detail = `The S3 service at ${host} that keeps the bytes is full: ${message}`;
    return new StoreError("InsufficientStorage", { detail, cause: error });
  }
  const how = error instanceof S3Refusal && !isTransient(error) ? "refuses" : "cannot be reached or used";
  return new StoreError("ServiceUnavailable", {
    detail: `The S3 service at ${host} that keeps the bytes ${how}: ${message}${tlsAdvice(error)}`,
    cause: error,
  });
}

/** Of the document an S3 service answers a refusal with. */
export function readRefusal(status: number, document: string): S3Refusal {
  const code = elementText(document, "Code") ?? `HTTP status ${status}`;
  return new S3Refusal(status, code, elementText(document, "Message") ?? "no reason was given");
}

/** The text of the first element of this name: enough for the flat documents of this service. */
export function elementText(document: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(document)?.[1];
  // A service that sends invalid entities is read without replacing any.
  return text === undefined ? undefined : (unescapeXml(text) ?? text);
}

/** What the service said, behind a failure that was told. */
export function findRefusal(error: unknown): S3Refusal | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof S3Refusal ? cause : undefined;
}

export function parseNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : undefined;
}
