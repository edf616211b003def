// Encryption with the store's keys (SSE-S3) in headers of requests and responses.
import type { Encryption } from "../../model/object.ts";
import { S3Error } from "../errors.ts";
import type { OperationName } from "../operation-rights.ts";
import type { S3Request } from "../request.ts";
import { customerKeyHeaders, targetKeyHeaders } from "./customer-key.ts";

export const encryptionHeader = "x-amz-server-side-encryption";
const bucketKeyHeader = "x-amz-server-side-encryption-bucket-key-enabled";

/** Operations that create an object or an upload. Others refuse the header, as S3 does. */
const creating: ReadonlySet<OperationName> = new Set<OperationName>([
  "PutObject",
  "CopyObject",
  "CreateMultipartUpload",
  "PostObject",
]);

/** Called with the lower-case name of each header. */
export function checkEncryptionHeader(name: string, operation: OperationName): void {
  if (name !== encryptionHeader || creating.has(operation)) return;
  throw new S3Error("InvalidArgument", {
    message: `${encryptionHeader} header is not supported for this operation.`,
    details: { ArgumentName: encryptionHeader },
  });
}

/** Reads the encryption that a request asks for. */
export function readEncryption(request: S3Request): "store" | undefined {
  const algorithm = request.header(encryptionHeader);
  if (algorithm === undefined) return undefined;
  checkAlgorithm(algorithm);
  const bucketKey = request.header(bucketKeyHeader)?.toLowerCase() ?? "false";
  if (bucketKey !== "true" && bucketKey !== "false") {
    throw new S3Error("InvalidArgument", { message: `${bucketKeyHeader} must be true or false.` });
  }
  if (request.header(targetKeyHeaders.algorithm) !== undefined) {
    throw new S3Error("InvalidArgument", {
      message:
        "Server Side Encryption with Customer provided key is incompatible with the encryption method specified",
      details: { ArgumentName: encryptionHeader, ArgumentValue: algorithm },
    });
  }
  return "store";
}

export function checkAlgorithm(algorithm: string): void {
  if (algorithm === "AES256") return;
  if (!algorithm.startsWith("aws:kms") && algorithm !== "aws:fsx") {
    throw new S3Error("InvalidEncryptionAlgorithmError");
  }
  throw new S3Error("NotImplemented", {
    message: `The encryption ${algorithm} is not supported: use AES256, which encrypts with the store's keys.`,
  });
}

/** Returns the headers that tell how an object or upload is encrypted. */
export function encryptionHeaders(encryption: Encryption | undefined): [string, string][] {
  if (encryption === undefined) return [];
  if (encryption.masterKey === undefined) return customerKeyHeaders(encryption);
  return [[encryptionHeader, "AES256"]];
}
