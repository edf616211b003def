// Classifies errors of an S3 service as transient or permanent, and maps them to StoreErrors.
import { unescapeXml } from "../http/xml-entities.ts";
import { StoreError } from "../model/errors.ts";
import { Broken, Silence } from "./http-client.ts";

/** An error response, with the service's own message. */
export class S3Refusal extends Error {
  override readonly name = "S3Refusal";
  readonly status: number;
  /** The S3 error code. */
  readonly code: string;
  /** Headers of the response, by lowercase name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;

  constructor(status: number, code: string, message: string, headers: S3Refusal["headers"] = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

const transientCodes = new Set([
  "SlowDown",
  "RequestTimeout",
  "ServiceUnavailable",
  "InternalError",
  // The bytes were damaged or lost in transit; a retry sends them again.
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

/** Whether a retry of the same request may succeed. */
export function isTransient(error: unknown): boolean {
  if (error instanceof Broken || error instanceof Silence) return true;
  if (error instanceof S3Refusal) {
    if (isFull(error) || error.status === 501) return false;
    return error.status >= 500 || error.status === 429 || transientCodes.has(error.code);
  }
  // Codes of the system, the DNS resolver and Node's HTTP parser. Certificate errors are permanent.
  const { code = "" } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|EAI_|ENOTFOUND|EADDR|EMFILE|HPE_(?!HEADER_OVERFLOW))/.test(code);
}

/** Whether the service sent more headers than Node's HTTP parser reads; it would send them again. */
export function hasTooManyHeaders(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === "HPE_HEADER_OVERFLOW";
}

/** Whether no connection to the service could be made: a wrong address, or a service that is down. */
export function isUnreachable(error: unknown): boolean {
  const { code = "" } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return /^(ECONNREFUSED|EHOST|ENET|EAI_|ENOTFOUND|EADDRNOTAVAIL)/.test(code);
}

/** Returns advice for a TLS failure; empty for any other error. */
export function tlsAdvice(error: unknown): string {
  const { code = "" } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  // Node's error code for a response that is not TLS differs between versions.
  if (/^(EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG)$/.test(code)) {
    return " It does not speak TLS on this port: use its TLS port, or add ?tls=false after the bucket.";
  }
  if (/^(DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_|ERR_TLS_CERT)/.test(code)) {
    return " Its certificate is not trusted: set NODE_EXTRA_CA_CERTS=/path/to/ca.pem to its authority.";
  }
  return "";
}

/** The detail contains the host and the service's message, but never an access key. */
export function toStoreError(error: unknown, host: string): unknown {
  if (error instanceof StoreError || !(error instanceof Error)) return error;
  const message = error instanceof S3Refusal ? `${error.code}: ${error.message}` : error.message;
  if (isFull(error)) {
    const detail = `The S3 service at ${host} of the blob backend is full: ${message}`;
    return new StoreError("InsufficientStorage", { detail, cause: error });
  }
  const how =
    error instanceof S3Refusal && !isTransient(error) ? "refuses the request" : "cannot be reached or used";
  return new StoreError("ServiceUnavailable", {
    detail: `The S3 service at ${host} of the blob backend ${how}: ${message}${tlsAdvice(error)}`,
    cause: error,
  });
}

export function readRefusal(status: number, document: string, headers: S3Refusal["headers"] = {}): S3Refusal {
  const code = elementText(document, "Code") ?? `HTTP status ${status}`;
  const message = elementText(document, "Message") ?? "no reason was given";
  return new S3Refusal(status, code, message, headers);
}

/** Returns the text of the first element with this name, which suffices for S3's flat documents. */
export function elementText(document: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(document)?.[1];
  // If the service sends invalid entities, return the raw text.
  return text === undefined ? undefined : (unescapeXml(text) ?? text);
}

/** Finds the service's error response among the causes of an error. */
export function findRefusal(error: unknown): S3Refusal | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof S3Refusal ? cause : undefined;
}

export function parseNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : undefined;
}
