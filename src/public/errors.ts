// Maps errors of the engine to statuses of a public bucket. Errors that only writes cause are 500.
import { type Reason, StoreError } from "../model/errors.ts";

export type ErrorStatus = 404 | 416 | 500 | 503;

/** Exhaustive: a new reason does not compile until it has a status here. */
const statusByReason: Readonly<Record<Reason, ErrorStatus>> = {
  InternalError: 500,
  Damaged: 500,
  AccessDenied: 500,
  InvalidBucketName: 404,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  BucketNotEmpty: 500,
  EntityTooSmall: 500,
  MetadataTooLarge: 500,
  IncompleteBody: 500,
  InvalidDigest: 500,
  InvalidObjectName: 404,
  InvalidMaxKeys: 500,
  NoSuchUpload: 500,
  InvalidPart: 500,
  InvalidPartNumber: 500,
  TooManyKeys: 500,
  InvalidArgument: 500,
  PreconditionFailed: 500,
  BadDigest: 500,
  InvalidRange: 416,
  ServiceUnavailable: 503,
  InsufficientStorage: 500,
  UnevenParts: 500,
  TooManyUploads: 500,
  QuotaExceeded: 500,
  MethodNotAllowed: 500,
  InvalidTag: 500,
  NoSuchVersion: 404,
  InvalidBucketState: 500,
  InvalidStorageClass: 500,
  BucketConflict: 500,
  EntityTooLarge: 500,
};

export const errorMessages: Readonly<Record<ErrorStatus, string>> = {
  404: "Not found.",
  416: "The object does not have the requested range of bytes.",
  500: "The server failed to answer this request. Try again later.",
  503: "The storage is temporarily unavailable. Try again later.",
};

export function toErrorStatus(error: unknown): ErrorStatus {
  return error instanceof StoreError ? statusByReason[error.reason] : 500;
}
