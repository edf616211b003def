// Encryption with the store's keys (SSE-S3) in headers of requests and responses.
import type { UploadName } from "../../engine/uploads/upload-operations.ts";
import type { Encryption } from "../../model/object.ts";
import type { Call } from "../call.ts";
import { S3Error } from "../errors.ts";
import type { OperationName } from "../operation-rights.ts";
import type { S3Request } from "../request.ts";
import { customerKeyHeaders, targetKeyHeaders } from "./customer-key.ts";

export const encryptionHeader = "x-amz-server-side-encryption";
const bucketKeyHeader = "x-amz-server-side-encryption-bucket-key-enabled";

/**
 * Operations that create an object or an upload, and those on an upload, whose encryption the
 * header repeats. Others refuse the header, as S3 does.
 */
const writing: ReadonlySet<OperationName> = new Set<OperationName>([
  "PutObject",
  "CopyObject",
  "CreateMultipartUpload",
  "UploadPart",
  "UploadPartCopy",
  "CompleteMultipartUpload",
  "PostObject",
]);

/** Called with the lower-case name of each header. */
export function checkEncryptionHeader(name: string, operation: OperationName): void {
  if (name !== encryptionHeader || writing.has(operation)) return;
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

/** Checks the encryption that a request on an upload repeats: the upload was created with it. */
export async function checkUploadEncryption(
  { engine, request, operation }: Pick<Call, "engine" | "request" | "operation">,
  upload: UploadName,
): Promise<void> {
  if (readEncryption(request) === undefined) return;
  const { upload: found } = await engine.listParts(operation.bucket, upload, { limit: 1 });
  if (found.encryption?.masterKey !== undefined) return;
  throw new S3Error("InvalidArgument", {
    message: `The upload is not encrypted: send ${encryptionHeader} when you create it.`,
    details: { ArgumentName: encryptionHeader },
  });
}

/** Returns the headers that tell how an object or upload is encrypted. */
export function encryptionHeaders(encryption: Encryption | undefined): [string, string][] {
  if (encryption === undefined) return [];
  if (encryption.masterKey === undefined) return customerKeyHeaders(encryption);
  return [[encryptionHeader, "AES256"]];
}
