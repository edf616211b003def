// The headers of an object that is read.

import { findExpiry } from "../../model/lifecycle.ts";
import { isSendable } from "../../model/metadata.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { type Call, httpTime, quoteEtag } from "../call.ts";
import { S3Error } from "../errors.ts";
import type { S3Request } from "../request.ts";
import { customerKeyHeaders } from "./customer-key.ts";
import { formatStorageClass, metadataHeaders } from "./metadata.ts";

/** What a request may have said instead of what is stored: `response-content-type` and its like. */
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

export function readOverrides({ query }: S3Request): Overrides {
  const given = query.pairs.filter(([name]) => name.startsWith("response-"));
  if (given.length === 0) return none;
  const found = new Map<string, string>();
  for (const name of overridable) {
    const value = query.get(`response-${name}`);
    if (value === undefined) continue;
    const bytes = Buffer.from(value, "utf8").toString("latin1");
    if (!isSendable(bytes)) {
      throw new S3Error("InvalidArgument", {
        message: `response-${name} has characters that no header may have.`,
      });
    }
    found.set(name, bytes);
  }
  return found;
}

/** A record that has not changed is the same one, and is told of in the same words. */
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
  const { etag, uploaded, storageClass, encryption } = record;
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
  if (storageClass !== "Standard") headers.push(["x-amz-storage-class", formatStorageClass(storageClass)]);
  return [...headers, ...customerKeyHeaders(encryption)];
}

/** The last that can be written: what a rule ends later than this lasts for ever. */
const maxDate = 8.64e15;

/** When the bucket's rules will delete it, if they will. */
export function expirationHeader({ bucket }: Pick<Call, "bucket">, record: ObjectRecord): [string, string][] {
  const lifecycle = bucket?.settings.lifecycle;
  const expiry = lifecycle === undefined ? undefined : findExpiry(lifecycle, record);
  if (expiry === undefined || expiry.time > maxDate) return [];
  const id = encodeURIComponent(expiry.rule.id);
  return [["x-amz-expiration", `expiry-date="${httpTime(expiry.time)}", rule-id="${id}"`]];
}
