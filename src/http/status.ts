// HTTP statuses of the engine's errors and of reads that a condition refused. The S3 API has its
// own table.
import type { Clause } from "../model/condition.ts";
import type { Reason } from "../model/errors.ts";

/** Exhaustive: a new reason does not compile until it has a status. */
export const statusByReason: Readonly<Record<Reason, number>> = {
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
  InvalidPartNumber: 400,
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
  EntityTooLarge: 413,
};

/** Returns 304 if the client already has the current version, 412 if it wants another version. */
export function refusedReadStatus(clause: Clause): 304 | 412 {
  return clause === "etagDoesNotMatch" || clause === "uploadedAfter" ? 304 : 412;
}
