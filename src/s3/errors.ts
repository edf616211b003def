// Error codes of S3 with status and message, and a table of the code for each error of the engine.
import type { Reason } from "../model/errors.ts";

export const errors = {
  AccessControlListNotSupported: [400, "The bucket does not allow ACLs"],
  AccessDenied: [403, "Access Denied"],
  AccessForbidden: [403, "This CORS request is not allowed."],
  AuthorizationHeaderMalformed: [400, "The authorization header you provided is invalid."],
  AuthorizationQueryParametersError: [400, "The authorization query parameters you provided are invalid."],
  BadDigest: [400, "The checksum you specified did not match what we received."],
  BadRequest: [400, "The request is malformed."],
  BucketAlreadyExists: [409, "The requested bucket name is not available."],
  BucketAlreadyOwnedByYou: [409, "You already own a bucket of this name."],
  BucketNotEmpty: [409, "The bucket you tried to delete is not empty."],
  EntityTooLarge: [400, "Your proposed upload exceeds the maximum allowed size."],
  EntityTooSmall: [400, "Your proposed upload is smaller than the minimum allowed size."],
  ExpiredToken: [400, "The provided token has expired."],
  IllegalVersioningConfigurationException: [400, "The Versioning element must be specified"],
  IncompleteBody: [
    400,
    "You did not provide the number of bytes specified by the Content-Length HTTP header.",
  ],
  QuotaExceeded: [403, "The quota is used up: delete objects or raise the quota, then try again."],
  InsufficientStorage: [507, "The disk is full: delete objects or add space, then try again."],
  InternalError: [500, "We encountered an internal error. Please try again."],
  InvalidAccessKeyId: [403, "The access key ID you provided does not exist in our records."],
  InvalidArgument: [400, "Invalid Argument"],
  InvalidBucketAclWithObjectOwnership: [
    400,
    "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting",
  ],
  InvalidBucketName: [400, "The specified bucket is not valid."],
  InvalidBucketState: [409, "The request is not valid for the current state of the bucket."],
  InvalidDigest: [400, "The Content-MD5 you specified is not valid."],
  InvalidEncryptionAlgorithmError: [
    400,
    "The encryption request you specified is not valid. The valid value is AES256.",
  ],
  InvalidLocationConstraint: [400, "The specified location-constraint is not valid."],
  InvalidPart: [
    400,
    "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
  ],
  InvalidPartNumber: [416, "The requested partnumber is not satisfiable."],
  InvalidPartOrder: [
    400,
    "The list of parts was not in ascending order. The parts list must be specified in order by part number.",
  ],
  InvalidPolicyDocument: [
    400,
    "The content of the form does not meet the conditions specified in the policy document.",
  ],
  InvalidRange: [416, "The requested range is not satisfiable"],
  InvalidRequest: [400, "Invalid Request"],
  InvalidRetentionPeriod: [400, "Default retention period must be a positive integer value."],
  InvalidRedirectLocation: [
    400,
    "The website redirect location must start with '/', 'http://' or 'https://', and have at most 2,048 characters.",
  ],
  InvalidStorageClass: [400, "The storage class you specified is not valid."],
  InvalidTag: [400, "The tag provided was not valid."],
  InvalidToken: [400, "The provided token is malformed or otherwise invalid."],
  InvalidURI: [400, "Couldn't parse the specified URI."],
  KeyTooLongError: [400, "Your key is too long"],
  MalformedPOSTRequest: [400, "The body of your POST request is not well-formed multipart/form-data."],
  MalformedPolicy: [400, "The policy is not valid."],
  MalformedXML: [
    400,
    "The XML you provided was not well-formed or did not validate against our published schema.",
  ],
  MalformedTrailerError: [
    400,
    "The request contained trailing data that was not well-formed or did not conform to our published schema.",
  ],
  MaxMessageLengthExceeded: [400, "Your request was too big."],
  MetadataTooLarge: [400, "Your metadata headers exceed the maximum allowed metadata size."],
  MethodNotAllowed: [405, "The specified method is not allowed against this resource."],
  MissingContentLength: [411, "You must provide the Content-Length HTTP header."],
  MissingSecurityHeader: [400, "Your request was missing a required header."],
  NoSuchBucket: [404, "The specified bucket does not exist"],
  NoSuchBucketPolicy: [404, "The bucket policy does not exist"],
  NoSuchCORSConfiguration: [404, "The CORS configuration does not exist"],
  NoSuchKey: [404, "The specified key does not exist."],
  NoSuchLifecycleConfiguration: [404, "The lifecycle configuration does not exist"],
  NoSuchObjectLockConfiguration: [404, "The specified object does not have a ObjectLock configuration"],
  NoSuchPublicAccessBlockConfiguration: [404, "The public access block configuration was not found"],
  NoSuchTagSet: [404, "The TagSet does not exist"],
  NoSuchUpload: [
    404,
    "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.",
  ],
  NoSuchVersion: [404, "The specified version does not exist."],
  NoSuchWebsiteConfiguration: [404, "The specified bucket does not have a website configuration"],
  NotImplemented: [501, "A header or query you provided implies functionality that is not implemented."],
  ObjectLockConfigurationNotFoundError: [404, "Object Lock configuration does not exist for this bucket"],
  OwnershipControlsNotFoundError: [404, "The bucket ownership controls were not found"],
  PreconditionFailed: [412, "At least one of the preconditions you specified did not hold."],
  ReplicationConfigurationNotFoundError: [404, "The replication configuration was not found"],
  RequestHeaderSectionTooLarge: [431, "Your request header section exceeds the maximum allowed size."],
  RequestTimeTooSkewed: [403, "The difference between the request time and the current time is too large."],
  RequestTimeout: [
    408,
    "Your socket connection to the server was not read from or written to within the timeout period.",
  ],
  ServerSideEncryptionConfigurationNotFoundError: [
    404,
    "The server side encryption configuration was not found",
  ],
  ServiceUnavailable: [503, "The storage behind this service cannot be reached. Please try again."],
  SignatureDoesNotMatch: [
    403,
    "The request signature we calculated does not match the signature you provided. Check your key and signing method.",
  ],
  SlowDown: [503, "Please reduce your request rate."],
  TooManyBuckets: [400, "You have attempted to create more buckets than allowed."],
  XAmzContentSHA256Mismatch: [
    400,
    "The provided 'x-amz-content-sha256' header does not match what was computed.",
  ],
} as const satisfies Readonly<Record<string, readonly [status: number, message: string]>>;

export type ErrorCode = keyof typeof errors;

export interface S3ErrorOptions {
  readonly message?: string | undefined;
  /** Additional elements of the error document. */
  readonly details?: Readonly<Record<string, string>> | undefined;
  /** Value of Retry-After; default: 1 for status 503. */
  readonly retryAfterSeconds?: number | undefined;
  /** Additional headers of the response. */
  readonly headers?: readonly (readonly [string, string])[] | undefined;
  readonly cause?: unknown;
}

export class S3Error extends Error {
  override readonly name = "S3Error";
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Readonly<Record<string, string>>;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: readonly (readonly [string, string])[];

  constructor(code: ErrorCode, options: S3ErrorOptions = {}) {
    const { message, details = {}, retryAfterSeconds, headers = [], cause } = options;
    super(message ?? errors[code][1], cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = errors[code][0];
    this.details = details;
    this.headers = headers;
    this.retryAfterSeconds = retryAfterSeconds ?? (this.status === 503 ? 1 : undefined);
  }
}

/** Exhaustive: a new reason does not compile until it has an error code here. */
export const errorCodeByReason: Readonly<Record<Reason, ErrorCode>> = {
  InternalError: "InternalError",
  Damaged: "InternalError",
  AccessDenied: "AccessDenied",
  InvalidBucketName: "InvalidBucketName",
  NoSuchBucket: "NoSuchBucket",
  NoSuchKey: "NoSuchKey",
  BucketNotEmpty: "BucketNotEmpty",
  EntityTooSmall: "EntityTooSmall",
  MetadataTooLarge: "MetadataTooLarge",
  IncompleteBody: "IncompleteBody",
  InvalidDigest: "InvalidDigest",
  InvalidObjectName: "KeyTooLongError",
  InvalidMaxKeys: "InvalidArgument",
  NoSuchUpload: "NoSuchUpload",
  InvalidPart: "InvalidPart",
  InvalidPartNumber: "InvalidPartNumber",
  TooManyKeys: "MalformedXML",
  InvalidArgument: "InvalidArgument",
  PreconditionFailed: "PreconditionFailed",
  BadDigest: "BadDigest",
  InvalidRange: "InvalidRange",
  ServiceUnavailable: "ServiceUnavailable",
  InsufficientStorage: "InsufficientStorage",
  UnevenParts: "InvalidPartOrder",
  TooManyUploads: "SlowDown",
  QuotaExceeded: "QuotaExceeded",
  MethodNotAllowed: "MethodNotAllowed",
  InvalidTag: "InvalidTag",
  NoSuchVersion: "NoSuchVersion",
  InvalidBucketState: "InvalidBucketState",
  InvalidStorageClass: "InvalidStorageClass",
  BucketConflict: "BucketAlreadyExists",
  EntityTooLarge: "EntityTooLarge",
};
