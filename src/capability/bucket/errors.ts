// Maps errors to responses of the bucket protocol: a status, and code and message in a header.
import type { HttpBody } from "../../http/server/listen.ts";
import type { RefusalStatus, RefusalText } from "../../http/server/refusal.ts";
import { plainRefusal } from "../../http/server/refusal.ts";
import { type Reason, reasonTable, StoreError } from "../../model/errors.ts";
import type { BucketResponse } from "./operation.ts";

/**
 * Exhaustive: a new reason does not compile until it has a status here. The runtime reads two
 * meanings from status and code together: 404 with the code of NoSuchKey is a missing object, and
 * 412 with the code of PreconditionFailed is a failed condition. All others are thrown.
 */
const statusByReason: Readonly<Record<Reason, number>> = {
  InternalError: 500,
  Damaged: 500,
  AccessDenied: 403,
  InvalidBucketName: 400,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  BucketNotEmpty: 409,
  EntityTooSmall: 400,
  MetadataTooLarge: 400,
  IncompleteBody: 400,
  InvalidDigest: 400,
  InvalidObjectName: 400,
  InvalidMaxKeys: 400,
  NoSuchUpload: 404,
  InvalidPart: 400,
  InvalidPartNumber: 416,
  TooManyKeys: 400,
  InvalidArgument: 400,
  PreconditionFailed: 412,
  BadDigest: 400,
  InvalidRange: 416,
  ServiceUnavailable: 503,
  InsufficientStorage: 507,
  UnevenParts: 400,
  TooManyUploads: 503,
  QuotaExceeded: 403,
  MethodNotAllowed: 405,
  InvalidTag: 400,
  NoSuchVersion: 404,
  InvalidBucketState: 409,
  InvalidStorageClass: 400,
  BucketConflict: 409,
  EntityTooLarge: 400,
};

/** The rest of the request is unknown or too long to be read, so the connection must be closed. */
export class FrameError extends StoreError {
  constructor(detail: string | undefined, reason: Reason = "InvalidArgument") {
    super(reason, { detail });
  }
}

export function invalid(detail: string): StoreError {
  return new StoreError("InvalidArgument", { detail });
}

/** Whether the response blames Store, not the caller, so that the error belongs in the log. */
export function isFault(error: unknown): boolean {
  return !(error instanceof StoreError) || statusByReason[error.reason] >= 500;
}

export function errorResponse(error: unknown): BucketResponse {
  if (!(error instanceof StoreError)) return reasonResponse("InternalError");
  const { reason, detail } = error;
  return reasonResponse(reason, { detail, closes: error instanceof FrameError });
}

export interface ReasonResponseOptions {
  /** Without action and code: the runtime adds both. */
  readonly detail?: string | undefined;
  readonly closes?: boolean | undefined;
  readonly headers?: readonly (readonly [string, string])[] | undefined;
  readonly body?: HttpBody | undefined;
}

export function reasonResponse(reason: Reason, options: ReasonResponseOptions = {}): BucketResponse {
  const { detail = reasonTable[reason][1], closes = false, headers = [], body = null } = options;
  return {
    reason,
    status: statusByReason[reason],
    headers: [
      ["cf-r2-error", errorHeader(reason, detail)],
      ...headers,
      ...(closes ? [["connection", "close"] as const] : []),
    ],
    body,
  };
}

const maxMessageLength = 2000;

/** Formats the error as JSON in UTF-8, with one character per byte, as headers are written. */
function errorHeader(reason: Reason, detail: string): string {
  const message = detail.slice(0, maxMessageLength).toWellFormed();
  const json = JSON.stringify({ version: 1, v4code: reasonTable[reason][0], message });
  // JSON escapes all other characters that are not valid in a header.
  return Buffer.from(json.replaceAll("\x7f", "\\u007f")).toString("latin1");
}

const reasonByRefusal: Readonly<Record<RefusalStatus, Reason>> = {
  400: "InvalidArgument",
  408: "IncompleteBody",
  431: "InvalidArgument",
  501: "InvalidArgument",
  503: "ServiceUnavailable",
};

/** Adds the error's header to refusals of the listener, so that the runtime shows their message. */
export const bucketRefusal: RefusalText = (status) => {
  const { type, body } = plainRefusal(status);
  return { type, body, headers: { "cf-r2-error": errorHeader(reasonByRefusal[status], body.trim()) } };
};
