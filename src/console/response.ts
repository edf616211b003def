// Responses of the console: JSON, or an error message that the page shows unchanged. One table maps
// every error reason to a status.
import type { HttpBody, HttpResponse } from "../http/server/listen.ts";
import { statusByReason } from "../http/status.ts";
import { isStoreFault, StoreError } from "../model/errors.ts";
import type { ErrorDocument } from "./wire-types.ts";

export interface ConsoleErrorOptions {
  readonly hint?: string | undefined;
  readonly headers?: readonly (readonly [string, string])[];
}

/** An error with its HTTP status. */
export class ConsoleError extends Error {
  override readonly name = "ConsoleError";
  readonly status: number;
  readonly hint: string | undefined;
  readonly headers: readonly (readonly [string, string])[];

  constructor(status: number, message: string, { hint, headers = [] }: ConsoleErrorOptions = {}) {
    super(message);
    this.status = status;
    this.hint = hint;
    this.headers = headers;
  }
}

export function json(value: unknown, status = 200): HttpResponse {
  return createResponse(status, JSON.stringify(value), [["content-type", "application/json; charset=utf-8"]]);
}

export function noContent(headers: readonly (readonly [string, string])[] = []): HttpResponse {
  return createResponse(204, null, headers);
}

export function createResponse(
  status: number,
  body: HttpBody,
  headers: readonly (readonly [string, string])[],
): HttpResponse {
  return { status, headers: [["cache-control", "no-store"], ...headers], body };
}

/** Undefined for an internal error, which the caller logs. */
export function toErrorResponse(error: unknown): HttpResponse | undefined {
  if (error instanceof ConsoleError) {
    const refused = errorResponse(error.status, {
      code: "Refused",
      message: error.message,
      hint: error.hint,
    });
    return { ...refused, headers: [...refused.headers, ...error.headers] };
  }
  if (!(error instanceof StoreError) || isStoreFault(error)) return undefined;
  return errorResponse(statusByReason[error.reason], {
    code: error.reason,
    message: error.detail,
    hint: undefined,
  });
}

export function faultResponse(id: string): HttpResponse {
  return errorResponse(500, {
    code: "InternalError",
    message: "The server failed to process the request.",
    hint: `See the server's log for ${id}.`,
  });
}

function errorResponse(status: number, error: ErrorDocument["error"]): HttpResponse {
  return json({ error } satisfies ErrorDocument, status);
}

/** Content-Security-Policy: allows only the console's own files, and frames of the S3 API. */
export function pagePolicy(s3Origin: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "media-src 'self'",
    `frame-src ${s3Origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

const strictHeaders: readonly (readonly [string, string])[] = [
  ["x-content-type-options", "nosniff"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-opener-policy", "same-origin"],
  ["cross-origin-resource-policy", "same-origin"],
];

/** Responses with user content have their own policy, which is kept. */
export function withStrictHeaders(response: HttpResponse, policy: string): HttpResponse {
  const headers = [...response.headers];
  const hasPolicy = headers.some(([name]) => name === "content-security-policy");
  const strict = hasPolicy ? [] : ([["content-security-policy", policy]] as const);
  return { ...response, headers: [...headers, ...strict, ...strictHeaders] };
}
