// Builds the response headers of GetObject and HeadObject.

import { isSendable } from "../../model/metadata.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { findExpiry } from "../../model/settings/lifecycle.ts";
import { type Call, httpTime, quoteEtag } from "../call.ts";
import { S3Error } from "../errors.ts";
import type { S3Request } from "../request.ts";
import { lockHeaders } from "./lock.ts";
import { metadataHeaders } from "./metadata.ts";
import { redirectHeaders, shownStorageClass } from "./passthrough.ts";
import { encryptionHeaders } from "./server-side-encryption.ts";

/** Headers that a query parameter such as `response-content-type` can override. */
const overridable = [
  "content-type",
  "content-language",
  "expires",
  "cache-control",
  "content-disposition",
  "content-encoding",
] as const;

export type Overrides = ReadonlyMap<string, string>;

const none: Overrides = new Map();

export function readOverrides({ request: { query }, caller }: Pick<Call, "request" | "caller">): Overrides {
  if (!query.pairs.some(([name]) => name.startsWith("response-"))) return none;
  const found = readGiven(query);
  // A link without a signature must not choose how browsers treat an object of somebody else.
  if (found.size > 0 && caller.isAnonymous === true) {
    throw new S3Error("InvalidRequest", {
      message: "Request specific response headers cannot be used for anonymous requests. Sign the request.",
    });
  }
  return found;
}

function readGiven(query: S3Request["query"]): Overrides {
  const found = new Map<string, string>();
  for (const name of overridable) {
    const value = query.get(`response-${name}`);
    if (value === undefined) continue;
    const bytes = Buffer.from(value, "utf8").toString("latin1");
    if (!isSendable(bytes)) {
      throw new S3Error("InvalidArgument", {
        message: `response-${name} contains characters that are not allowed in a header.`,
      });
    }
    found.set(name, bytes);
  }
  return found;
}

/** Cache of headers by record. A record object never changes. */
const headerCache = new WeakMap<ObjectRecord, readonly (readonly [string, string])[]>();

export function objectHeaders(
  record: ObjectRecord,
  overridden: Overrides,
): readonly (readonly [string, string])[] {
  if (overridden.size > 0) return buildObjectHeaders(record, overridden);
  const cached = headerCache.get(record);
  if (cached !== undefined) return cached;
  const headers = buildObjectHeaders(record, overridden);
  headerCache.set(record, headers);
  return headers;
}

function buildObjectHeaders(record: ObjectRecord, overridden: Overrides): [string, string][] {
  const { etag, uploaded, encryption, tags, lock } = record;
  const stored = metadataHeaders(record).filter(([name]) => !overridden.has(name));
  const headers: [string, string][] = [
    ["last-modified", httpTime(uploaded)],
    ["etag", quoteEtag(etag)],
    ["accept-ranges", "bytes"],
    ...stored,
    ...overridden,
  ];
  if (!headers.some(([name]) => name === "content-type"))
    headers.push(["content-type", "binary/octet-stream"]);
  const storageClass = shownStorageClass(record);
  if (storageClass !== "STANDARD") headers.push(["x-amz-storage-class", storageClass]);
  headers.push(...redirectHeaders(record));
  if (tags !== undefined) headers.push(["x-amz-tagging-count", String(tags.size)]);
  if (lock !== undefined) headers.push(...lockHeaders(lock));
  return [...headers, ...encryptionHeaders(encryption)];
}

/** The latest time a Date can hold; a later expiry is not reported. */
const maxDate = 8.64e15;

/** Returns x-amz-expiration, which states when a lifecycle rule will delete the object. */
export function expirationHeader({ bucket }: Pick<Call, "bucket">, record: ObjectRecord): [string, string][] {
  const lifecycle = bucket?.settings.lifecycle;
  const expiry = lifecycle === undefined ? undefined : findExpiry(lifecycle, record);
  if (expiry === undefined || expiry.time > maxDate) return [];
  const id = encodeURIComponent(expiry.rule.id);
  return [["x-amz-expiration", `expiry-date="${httpTime(expiry.time)}", rule-id="${id}"`]];
}
