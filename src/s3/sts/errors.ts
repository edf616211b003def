// Error codes of the AWS Security Token Service with status and message.
import { S3Error } from "../errors.ts";

export const stsErrors = {
  AccessDenied: [403, "Access denied"],
  /** The caller's own session token has expired, not the ID token that it presents. */
  ExpiredToken: [403, "The security token included in the request is expired"],
  ExpiredTokenException: [400, "The web identity token that was passed is expired."],
  IDPCommunicationError: [400, "The identity provider cannot be reached. Please try again."],
  IncompleteSignature: [400, "The request signature does not conform to the standards of AWS."],
  InternalFailure: [500, "The request processing has failed because of an unknown error."],
  InvalidAction: [400, "The action or operation requested is invalid."],
  InvalidClientTokenId: [403, "The security token included in the request is invalid."],
  InvalidIdentityToken: [400, "The web identity token that was passed could not be validated."],
  MalformedPolicyDocument: [400, "The policy is not valid."],
  MissingAction: [400, "The request is missing an action."],
  MissingAuthenticationToken: [403, "Request is missing Authentication Token"],
  PackedPolicyTooLarge: [400, "The packed policy is larger than a session token can carry."],
  RequestExpired: [400, "The request has expired, or its time is too far in the future."],
  SignatureDoesNotMatch: [
    403,
    "The request signature we calculated does not match the signature you provided.",
  ],
  Throttling: [400, "Rate exceeded"],
  ValidationError: [400, "A parameter of the request is not valid."],
} as const satisfies Readonly<Record<string, readonly [status: number, message: string]>>;

export type StsErrorCode = keyof typeof stsErrors;

export class StsError extends Error {
  override readonly name = "StsError";
  readonly code: StsErrorCode;
  readonly status: number;

  constructor(code: StsErrorCode, message?: string, options?: ErrorOptions) {
    const [status, text] = stsErrors[code];
    super(message ?? text, options);
    this.code = code;
    this.status = status;
  }
}

/** Codes of S3 that authentication can cause. Others about the request become ValidationError. */
const codesOfS3: ReadonlyMap<string, StsErrorCode> = new Map([
  ["AccessDenied", "AccessDenied"],
  ["AuthorizationHeaderMalformed", "IncompleteSignature"],
  ["ExpiredToken", "ExpiredToken"],
  ["InvalidAccessKeyId", "InvalidClientTokenId"],
  ["InvalidToken", "InvalidClientTokenId"],
  ["RequestTimeTooSkewed", "RequestExpired"],
  ["SignatureDoesNotMatch", "SignatureDoesNotMatch"],
  ["SlowDown", "Throttling"],
]);

export function toStsError(error: unknown): StsError {
  if (error instanceof StsError) return error;
  if (!(error instanceof S3Error) || error.code === "InternalError")
    return new StsError("InternalFailure", undefined, { cause: error });
  const code = codesOfS3.get(error.code) ?? "ValidationError";
  // Clients of STS look for its sentence about a key that is not known.
  const message = code === "InvalidClientTokenId" ? undefined : error.message;
  return new StsError(code, message, { cause: error });
}
