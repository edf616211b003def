// Maps errors of the S3 service of a backup to messages that say what to do.
import { BackupError } from "../model/backup.ts";
import { isFull, isTransient, S3Refusal, tlsAdvice } from "../s3-client/errors.ts";

export interface ServiceLocation {
  /** Host, bucket and prefix. */
  readonly where: string;
  readonly bucket: string;
}

/** The message contains the answer of the service, but never a secret. */
export function serviceError(error: unknown, { where, bucket }: ServiceLocation): unknown {
  if (!(error instanceof Error) || error instanceof BackupError) return error;
  if (!(error instanceof S3Refusal)) {
    return new BackupError(
      `The S3 service of ${where} cannot be reached or used: ${error.message}${tlsAdvice(error)}`,
      ["Check the address and the network, then run the same command again: it resumes."],
      error,
    );
  }
  const said = `${error.code}: ${error.message}`;
  if (error.code === "NoSuchBucket") {
    return new BackupError(
      `The bucket "${bucket}" of ${where} does not exist.`,
      ["Create the bucket, or check the address: s3://host:port/bucket/prefix"],
      error,
    );
  }
  if (isFull(error)) {
    return new BackupError(
      `The S3 service of ${where} is full: ${said}`,
      ["Free some space there, for example with --keep, then run the same command again: it resumes."],
      error,
    );
  }
  const hint = isTransient(error)
    ? "Try again later: the same command resumes."
    : (hints[error.code] ?? (error.status === 403 ? accessHint : credentialHint));
  return new BackupError(`The S3 service refuses the request to ${where}: ${said}`, [hint], error);
}

const accessHint =
  "A backup needs a key that may list, read, write and delete objects in the bucket; a restore needs list and read.";
const credentialHint = "Check the address, the region (AWS_REGION) and the access key.";
const keyHint = "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.";

const hints: Readonly<Record<string, string>> = {
  AccessDenied: accessHint,
  InvalidAccessKeyId: keyHint,
  SignatureDoesNotMatch: keyHint,
  InvalidToken: "Check AWS_SESSION_TOKEN.",
  ExpiredToken: "The session of the access key has ended: get new credentials.",
  RequestTimeTooSkewed: "Set the clock of this machine.",
};
