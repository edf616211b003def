// Reads customer-provided keys (SSE-C) from headers. A key never appears in a response or a log.
import { createHash } from "node:crypto";
import { limits } from "../../model/limits.ts";
import { constantTimeEqual } from "../auth/authenticate.ts";
import { S3Error } from "../errors.ts";
import type { S3Request } from "../request.ts";

/** Header names are built once, because header lookup by a newly built string is slow. */
interface KeyHeaderNames {
  readonly algorithm: string;
  readonly key: string;
  readonly md5: string;
}

export const targetKeyHeaders = namesWithPrefix("x-amz-server-side-encryption-customer-");
export const sourceKeyHeaders = namesWithPrefix("x-amz-copy-source-server-side-encryption-customer-");

function namesWithPrefix(prefix: string): KeyHeaderNames {
  return { algorithm: `${prefix}algorithm`, key: `${prefix}key`, md5: `${prefix}key-md5` };
}

export function readCustomerKey(
  request: S3Request,
  names: KeyHeaderNames = targetKeyHeaders,
): Uint8Array | undefined {
  const algorithm = request.header(names.algorithm);
  const key = request.header(names.key);
  const md5 = request.header(names.md5);
  if (algorithm === undefined && key === undefined && md5 === undefined) return undefined;
  if (!isPrivateConnection(request)) {
    throw new S3Error("InvalidRequest", {
      message:
        "Requests specifying Server Side Encryption with Customer provided keys must be made over a secure connection.",
    });
  }
  if (algorithm === undefined) {
    throw invalid(
      "Requests specifying Server Side Encryption with Customer provided keys must provide a valid encryption algorithm.",
    );
  }
  if (algorithm !== "AES256") throw new S3Error("InvalidEncryptionAlgorithmError");
  if (key === undefined || md5 === undefined) {
    throw invalid(
      "Requests specifying Server Side Encryption with Customer provided keys must provide an appropriate secret key.",
    );
  }
  const bytes = Buffer.from(key, "base64");
  if (bytes.length !== limits.ssecKeyBytes) {
    throw invalid("The secret key was invalid for the specified algorithm.");
  }
  if (!constantTimeEqual(createHash("md5").update(bytes).digest("base64"), md5)) {
    throw invalid("The calculated MD5 hash of the key did not match the hash that was provided.");
  }
  return bytes;
}

const loopback = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1)$/;

/** Whether the client uses TLS or is local. A client on a Unix socket has no address. */
function isPrivateConnection({ http }: S3Request): boolean {
  if (http.scheme === "https") return true;
  const address = http.address();
  return address === "" || loopback.test(address);
}

function invalid(message: string): S3Error {
  return new S3Error("InvalidArgument", { message });
}

export function customerKeyHeaders(
  encryption: { readonly keyMd5?: string | undefined } | undefined,
): [string, string][] {
  if (encryption?.keyMd5 === undefined) return [];
  return [
    [targetKeyHeaders.algorithm, "AES256"],
    [
      "x-amz-server-side-encryption-customer-key-MD5",
      Buffer.from(encryption.keyMd5, "hex").toString("base64"),
    ],
  ];
}

/** Returns the headers of a part. Its record has no MD5 of the key: compute it from the key. */
export function givenKeyHeaders(key: Uint8Array | undefined): [string, string][] {
  if (key === undefined) return [];
  return customerKeyHeaders({ keyMd5: createHash("md5").update(key).digest("hex") });
}
