// Converts between the records of objects and the headers and documents of an S3 service.

import type { WriteOptions } from "../../../engine/engine.ts";
import { headersFromMetadata, metadataFromHeaders, parseHttpDate } from "../../../http/headers.ts";
import type { Condition, EtagCondition } from "../../../model/condition.ts";
import type { ObjectLock } from "../../../model/lock.ts";
import type { Checksums, ObjectRecord, StorageClass } from "../../../model/object.ts";
import { checkStorageClass } from "../../../model/object.ts";
import { childText, type XmlNode } from "../../../s3/body/xml-reader.ts";
import { lockHeaders, parseMode } from "../../../s3/headers/lock.ts";
import { metadataHeaders, readCustomMetadata } from "../../../s3/headers/metadata.ts";
import {
  parseStorageClass,
  readPassthrough,
  redirectHeaders,
  shownStorageClass,
} from "../../../s3/headers/passthrough.ts";
import { parseNumber } from "../../../s3-client/errors.ts";
import type { Answer } from "../../../s3-client/http-client.ts";
import { CommandError } from "../../framework/command-error.ts";

/** Version of an object whose bucket is not versioned: the service gives none. */
const noVersion = "null";

export function recordFromHeaders(key: string, { headers, rawHeaders }: Answer, size: number): ObjectRecord {
  const header = (name: string) => {
    const value = headers[name];
    return typeof value === "string" ? value : null;
  };
  const etag = (header("etag") ?? "").replaceAll('"', "");
  const version = header("x-amz-version-id");
  const lock = readLock(header);
  return {
    key,
    version: version ?? noVersion,
    ...(version !== null && version !== noVersion ? { isVersioned: true as const } : {}),
    size,
    etag,
    uploaded: parseHttpDate(header("last-modified")) ?? 0,
    checksums: md5Checksum(etag, header("x-amz-server-side-encryption")),
    httpMetadata: metadataFromHeaders({ get: header }),
    customMetadata: readCustomMetadata(rawHeaders),
    storageClass: readStorageClass(header("x-amz-storage-class") ?? undefined),
    ...readPassed(header),
    ...(lock === undefined ? {} : { lock }),
  };
}

/** A listing has no metadata. */
export function recordFromElement(node: XmlNode, key: string): ObjectRecord {
  const etag = (childText(node, "ETag") ?? "").replaceAll('"', "");
  const version = childText(node, "VersionId") ?? "";
  const size = parseNumber(childText(node, "Size"));
  if (size === undefined || !Number.isSafeInteger(size))
    throw new CommandError("The service listed an object without a size.");
  return {
    key,
    version,
    ...(version !== "" && version !== noVersion ? { isVersioned: true as const } : {}),
    size,
    etag,
    uploaded: readTime(node),
    checksums: md5Checksum(etag, null),
    httpMetadata: {},
    customMetadata: new Map(),
    storageClass: readStorageClass(childText(node, "StorageClass")),
  };
}

export function readTime(node: XmlNode): number {
  const time = Date.parse(childText(node, "LastModified") ?? childText(node, "CreationDate") ?? "");
  return Number.isNaN(time) ? 0 : time;
}

/** The etag of an object that was put in one request is its MD5, except with a key of a KMS. */
function md5Checksum(etag: string, encryption: string | null): Checksums {
  const isMd5 = /^[0-9a-f]{32}$/.test(etag) && !(encryption ?? "").includes("kms");
  return isMd5 ? { md5: Buffer.from(etag, "hex") } : {};
}

/** Other services have other classes; a class that is not known is shown as Standard. */
function readStorageClass(text: string | undefined): StorageClass {
  try {
    return parseStorageClass(text) ?? "Standard";
  } catch {
    return "Standard";
  }
}

/** Names that Store passes on. A name or a redirect that Store does not accept is left out. */
function readPassed(header: (name: string) => string | null): Pick<ObjectRecord, "passthrough"> {
  try {
    const passthrough = readPassthrough({ header: (name) => header(name) ?? undefined }, undefined);
    return passthrough === undefined ? {} : { passthrough };
  } catch {
    return {};
  }
}

function readLock(header: (name: string) => string | null): ObjectLock | undefined {
  const mode = parseMode(header("x-amz-object-lock-mode") ?? undefined);
  const until = Date.parse(header("x-amz-object-lock-retain-until-date") ?? "");
  const hasHold = header("x-amz-object-lock-legal-hold") === "ON";
  const isRetained = mode !== undefined && !Number.isNaN(until);
  if (!isRetained && !hasHold) return undefined;
  return {
    ...(isRetained ? { retention: { mode, until } } : {}),
    ...(hasHold ? { legalHold: true as const } : {}),
  };
}

/** Headers of a write. Metadata that cannot be sent in a header is refused, never omitted. */
export function writeHeaders(options: WriteOptions): Record<string, string> {
  const { httpMetadata = {}, customMetadata = new Map(), storageClass, tags, lock, passthrough } = options;
  const passed = passthrough === undefined ? {} : { passthrough };
  const sent = metadataHeaders({ httpMetadata, customMetadata });
  const expected = [...headersFromMetadata(httpMetadata)].length + customMetadata.size;
  if (sent.filter(([name]) => name !== "x-amz-missing-meta").length !== expected) {
    throw new CommandError("The metadata has characters that cannot be sent to an S3 service.");
  }
  const encoded = [...(tags ?? [])].map((pair) => pair.map(encodeURIComponent).join("="));
  return {
    ...Object.fromEntries(sent),
    ...(storageClass === undefined
      ? {}
      : {
          "x-amz-storage-class": shownStorageClass({
            storageClass: checkStorageClass(storageClass),
            ...passed,
          }),
        }),
    ...Object.fromEntries(redirectHeaders(passed)),
    ...(encoded.length === 0 ? {} : { "x-amz-tagging": encoded.join("&") }),
    ...(options.encryption === "store" ? { "x-amz-server-side-encryption": "AES256" } : {}),
    ...Object.fromEntries(lockHeaders(lock ?? {})),
  };
}

/** Only conditions on the etag can be sent; commands use no others. */
export function conditionHeaders({ etagMatches, etagDoesNotMatch }: Condition = {}): Record<string, string> {
  return {
    ...(etagMatches === undefined ? {} : { "if-match": formatEtags(etagMatches) }),
    ...(etagDoesNotMatch === undefined ? {} : { "if-none-match": formatEtags(etagDoesNotMatch) }),
  };
}

function formatEtags(condition: EtagCondition): string {
  return condition === "*" ? condition : condition.map(({ value }) => `"${value}"`).join(", ");
}
