// Maps the errors of an S3 service to the errors of commands. Messages contain the host and the
// service's answer, but never an access key.
import { type Reason, StoreError } from "../../../model/errors.ts";
import {
  hasTooManyHeaders,
  isTransient,
  isUnreachable,
  S3Refusal,
  tlsAdvice,
} from "../../../s3-client/errors.ts";
import { CommandError } from "../../framework/command-error.ts";
import { escapeControls } from "../../framework/output.ts";

/** Codes that mean the same as a reason of the engine. Its message names the bucket and the key. */
const reasonByCode: Readonly<Record<string, Reason>> = {
  NoSuchBucket: "NoSuchBucket",
  NoSuchKey: "NoSuchKey",
  NoSuchVersion: "NoSuchVersion",
  NoSuchUpload: "NoSuchUpload",
  BucketAlreadyExists: "BucketConflict",
  BucketAlreadyOwnedByYou: "BucketConflict",
  BucketNotEmpty: "BucketNotEmpty",
  InvalidBucketName: "InvalidBucketName",
  PreconditionFailed: "PreconditionFailed",
  QuotaExceeded: "QuotaExceeded",
  KeyTooLongError: "InvalidObjectName",
  EntityTooLarge: "EntityTooLarge",
  InvalidTag: "InvalidTag",
  InvalidStorageClass: "InvalidStorageClass",
};

const keyHint = "Check the access key of the profile, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.";

/** What to do about errors that concern the caller, not the request. */
const hintByCode: Readonly<Record<string, string>> = {
  AccessDenied: "The access key may not do this: use another key, or grant it the right.",
  AllAccessDisabled: "The access key may not do this: use another key, or grant it the right.",
  InvalidAccessKeyId: keyHint,
  SignatureDoesNotMatch: keyHint,
  ExpiredToken: "The temporary credentials have expired: get new ones.",
  InvalidToken: "The session token is not valid: get new temporary credentials.",
  RequestTimeTooSkewed: "The clocks of this machine and of the service differ: set the clock.",
  AuthorizationHeaderMalformed: "The region may be wrong: set it with store profile add --region.",
  NotImplemented: "The service does not have this function.",
  MethodNotAllowed: "The service does not have this function.",
  PermanentRedirect: "The bucket is at another endpoint or in another region of the service.",
};

export function toRemoteError(error: unknown, host: string): unknown {
  if (!(error instanceof Error) || error instanceof CommandError || error instanceof StoreError) return error;
  if (error instanceof S3Refusal) return toRefusalError(error, host);
  const isOfService = isTransient(error) || tlsAdvice(error) !== "" || hasTooManyHeaders(error);
  if (!isOfService) return error;
  const why = isUnreachable(error) ? "cannot be reached" : "does not answer as expected";
  return new CommandError(`The S3 service at ${host} ${why}: ${error.message}.`.replace("..", "."), {
    hint: [
      ...(tlsAdvice(error) === "" ? [] : [tlsAdvice(error).trim()]),
      "Check that it runs, and that the endpoint is the address of its S3 API: store profile list",
    ],
    cause: error,
  });
}

function toRefusalError(error: S3Refusal, host: string): Error {
  const code = codeOf(error);
  const reason = reasonByCode[code];
  const detail = escapeControls(error.message);
  if (reason !== undefined) return new StoreError(reason, { detail, cause: error });
  return new CommandError(
    `The S3 service at ${host} refused the request: ${escapeControls(code)}: ${detail}`,
    {
      hint: hintByCode[code] ?? [],
      cause: error,
    },
  );
}

/** A response without a body, such as that of a HEAD request, has only a status. */
function codeOf({ code, status }: S3Refusal): string {
  if (!code.startsWith("HTTP status")) return code;
  if (status === 403) return "AccessDenied";
  if (status === 412) return "PreconditionFailed";
  if (status === 301) return "PermanentRedirect";
  return status === 501 ? "NotImplemented" : code;
}

/** Finds the service's answer in an error that was mapped. */
export function findAnswer(error: unknown): S3Refusal | undefined {
  if (error instanceof S3Refusal) return error;
  return error instanceof Error && error.cause instanceof S3Refusal ? error.cause : undefined;
}

export function isCode(error: unknown, codes: readonly string[]): boolean {
  const answer = findAnswer(error);
  return answer !== undefined && codes.includes(codeOf(answer));
}

export function isStatus(error: unknown, status: number): boolean {
  return findAnswer(error)?.status === status;
}
