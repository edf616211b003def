// Requests without any authorization. Their caller may do what a bucket's policy allows everyone.
import { anonymous } from "../../access/decide.ts";
import { unsignedPayload } from "../../http/sigv4.ts";
import { S3Error } from "../errors.ts";
import type { S3Request } from "../request.ts";
import type { Authentication } from "./authenticate.ts";

const signatureParameters = [
  ...["X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-Security-Token"],
  ...["AWSAccessKeyId", "Signature"],
];

/** A request with a part of a signature is not unsigned: it is refused as wrongly signed. */
export function isUnsigned({ header, query }: S3Request): boolean {
  return (
    header("authorization") === undefined &&
    header("x-amz-security-token") === undefined &&
    (query.pairs.length === 0 || !signatureParameters.some((name) => query.has(name)))
  );
}

export function authenticateAnonymous({ header }: S3Request): Authentication {
  const payload = header("x-amz-content-sha256") ?? unsignedPayload;
  // Chunks cannot be signed without a key.
  if (payload.startsWith("STREAMING-AWS4-")) throw new S3Error("AccessDenied");
  return { caller: anonymous, payload, signing: undefined };
}
