// Keys of customers (SSE-C) in headers: checked to the letter, and never told to anybody.
import { createHash } from "node:crypto";
import { limits } from "../model/limits.ts";
import type { Encryption } from "../model/object.ts";
import { sameText } from "./authenticate.ts";
import { S3Error } from "./errors.ts";
import type { S3Request } from "./request.ts";

export const ofTarget = "x-amz-server-side-encryption-customer-";
export const ofSource = "x-amz-copy-source-server-side-encryption-customer-";

export function customerKeyOf(request: S3Request, prefix: string = ofTarget): Uint8Array | undefined {
  const [algorithm, key, md5] = ["algorithm", "key", "key-md5"].map((name) => request.header(prefix + name));
  if (algorithm === undefined && key === undefined && md5 === undefined) return undefined;
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
  if (!sameText(createHash("md5").update(bytes).digest("base64"), md5)) {
    throw invalid("The calculated MD5 hash of the key did not match the hash that was provided.");
  }
  return bytes;
}

function invalid(message: string): S3Error {
  return new S3Error("InvalidArgument", { message });
}

export function customerKeyHeaders(encryption: Pick<Encryption, "keyMd5"> | undefined): [string, string][] {
  if (encryption === undefined) return [];
  return [
    [`${ofTarget}algorithm`, "AES256"],
    [`${ofTarget}key-MD5`, Buffer.from(encryption.keyMd5, "hex").toString("base64")],
  ];
}

/** Of a part, which says nothing of its key: the one it came with was the upload's. */
export function givenKeyHeaders(key: Uint8Array | undefined): [string, string][] {
  if (key === undefined) return [];
  return customerKeyHeaders({ keyMd5: createHash("md5").update(key).digest("hex") });
}
