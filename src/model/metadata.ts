// HTTP and custom metadata: valid values and size limits.
import { Buffer } from "node:buffer";
import { StoreError } from "./errors.ts";
import { limits } from "./limits.ts";
import type { CustomMetadata, HttpMetadata, Passthrough } from "./object.ts";
import type { Tags } from "./tags.ts";

type HttpMetadataName = keyof HttpMetadata;

/** The metadata fields and their HTTP headers. */
export const metadataHeaders: readonly (readonly [HttpMetadataName, string])[] = [
  ["contentType", "content-type"],
  ["contentLanguage", "content-language"],
  ["contentDisposition", "content-disposition"],
  ["contentEncoding", "content-encoding"],
  ["cacheControl", "cache-control"],
  ["cacheExpiry", "expires"],
];

export function checkMetadata(http: HttpMetadata, custom: CustomMetadata): void {
  if (httpMetadataBytes(http) > limits.httpMetadataBytes) throw new StoreError("MetadataTooLarge");
  if (customMetadataBytes(custom) > limits.customMetadataBytes) throw new StoreError("MetadataTooLarge");
}

export function checkPassthrough(passthrough: Passthrough): void {
  if (customMetadataBytes(passthrough) > limits.passthroughBytes) throw new StoreError("MetadataTooLarge");
}

/** Returns the size of an object's metadata, which counts toward the page limit of a listing. */
export function metadataBytes(metadata: {
  httpMetadata: HttpMetadata;
  customMetadata: CustomMetadata;
  tags?: Tags;
  passthrough?: Passthrough;
}): number {
  const { tags, passthrough } = metadata;
  let bytes = httpMetadataBytes(metadata.httpMetadata) + customMetadataBytes(metadata.customMetadata);
  if (tags !== undefined) bytes += customMetadataBytes(tags);
  if (passthrough !== undefined) bytes += customMetadataBytes(passthrough);
  return bytes;
}

function customMetadataBytes(custom: CustomMetadata): number {
  let bytes = 0;
  for (const [name, value] of custom) bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  return bytes;
}

/** Fields are listed because this runs for every write: access by a computed name is slower. */
function httpMetadataBytes(http: HttpMetadata): number {
  return (
    textBytes(http.contentType) +
    textBytes(http.contentLanguage) +
    textBytes(http.contentDisposition) +
    textBytes(http.contentEncoding) +
    textBytes(http.cacheControl) +
    (http.cacheExpiry === undefined ? 0 : 8)
  );
}

function textBytes(text: string | undefined): number {
  return text === undefined ? 0 : Buffer.byteLength(text);
}

/** Whether the value can be sent in a header: it has no control characters (RFC 9110 5.5). */
export function isSendable(value: string): boolean {
  return !/[\x00-\x08\x0a-\x1f\x7f]/.test(value);
}
