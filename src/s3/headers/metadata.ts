// Converts metadata between headers and records. Bytes that are not valid UTF-8 are preserved.
import { headersFromMetadata, metadataFromHeaders } from "../../http/headers.ts";
import type { Bucket } from "../../model/bucket.ts";
import { isSendable } from "../../model/metadata.ts";
import type { CustomMetadata, Metadata } from "../../model/object.ts";
import { s3Algorithms } from "../body/checksums.ts";
import { S3Error } from "../errors.ts";
import type { OperationName } from "../operation-rights.ts";
import type { S3Request } from "../request.ts";
import { checkAclHeader } from "./acl.ts";
import { checkEncryptionHeader } from "./server-side-encryption.ts";

export type GivenMetadata = Pick<Metadata, "httpMetadata" | "customMetadata">;

const prefix = "x-amz-meta-";

/** Headers of unsupported features. They are refused: ignoring them would mislead the client. */
const refusedHeaders = [
  /^x-amz-server-side-encryption-(aws-kms.*|context)$/,
  /^x-amz-(mfa|write-offset-bytes)$/,
];
const checksumPrefix = "x-amz-checksum-";
const checksumHeaders: readonly string[] = [...s3Algorithms, "mode", "type", "algorithm"];

export function checkRefusedHeaders(request: S3Request, operation: OperationName, bucket?: Bucket): void {
  const { rawHeaders } = request.http;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    checkRefused(name, "Header");
    checkAclHeader(name, rawHeaders[i + 1]!, bucket);
    checkEncryptionHeader(name, operation);
  }
}

/** Fields of a form stand for headers. */
export function checkRefusedFields(fields: ReadonlyMap<string, string>, bucket: Bucket): void {
  for (const [name, value] of fields) {
    checkRefused(name, "Field");
    checkAclHeader(name === "acl" ? "x-amz-acl" : name, value, bucket);
  }
}

function checkRefused(name: string, subject: "Header" | "Field"): void {
  if (!name.startsWith("x-amz-")) return;
  if (refusedHeaders.some((pattern) => pattern.test(name))) {
    throw new S3Error("NotImplemented", { details: { [subject]: name } });
  }
  if (name.startsWith(checksumPrefix) && !checksumHeaders.includes(name.slice(checksumPrefix.length))) {
    throw new S3Error("InvalidRequest", {
      message: "The algorithm type you specified in x-amz-checksum- header is invalid.",
      details: { [subject]: name },
    });
  }
}

export function readMetadata(request: S3Request): GivenMetadata {
  const header = (name: string) => {
    const value = request.header(name);
    if (value === undefined) return null;
    return name === "content-encoding" ? withoutChunking(value) : value;
  };
  return {
    httpMetadata: metadataFromHeaders({ get: header }),
    customMetadata: readCustomMetadata(request.http.rawHeaders),
  };
}

/** Removes aws-chunked from Content-Encoding: it describes the transfer, not the object. */
function withoutChunking(value: string): string | null {
  const remaining = value.split(",").filter((coding) => coding.trim().toLowerCase() !== "aws-chunked");
  const text = remaining.join(",").trim();
  return text === "" ? null : text;
}

export function readCustomMetadata(rawHeaders: readonly string[]): CustomMetadata {
  const custom = new Map<string, string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (!name.startsWith(prefix)) continue;
    const value = decodeHeaderBytes(rawHeaders[i + 1]!);
    const short = name.slice(prefix.length);
    const previous = custom.get(short);
    custom.set(short, previous === undefined ? value : `${previous},${value}`);
  }
  return custom;
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Metadata that is not valid in a header is omitted and counted in x-amz-missing-meta. */
export function metadataHeaders({ httpMetadata, customMetadata }: GivenMetadata): [string, string][] {
  const headers = [...headersFromMetadata(httpMetadata)].filter(([, value]) => isSendable(value));
  let missing = 0;
  for (const [name, text] of customMetadata) {
    const value = encodeHeaderBytes(text);
    if (token.test(name) && isSendable(value)) headers.push([prefix + name, value]);
    else missing++;
  }
  if (missing > 0) headers.push(["x-amz-missing-meta", String(missing)]);
  return headers;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Bytes that are not UTF-8 become lone surrogates, which valid text never contains. */
function decodeHeaderBytes(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value;
  try {
    return utf8.decode(Buffer.from(value, "latin1"));
  } catch {
    return value.replace(/[\x80-\xff]/g, (c) => String.fromCharCode(0xdc00 + c.charCodeAt(0)));
  }
}

function encodeHeaderBytes(text: string): string {
  if (/[\udc80-\udcff]/.test(text) && !text.isWellFormed()) {
    return text.replace(/[\udc80-\udcff]/g, (c) => String.fromCharCode(c.charCodeAt(0) - 0xdc00));
  }
  return Buffer.from(text, "utf8").toString("latin1");
}
