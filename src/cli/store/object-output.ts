// How commands print the metadata of an object: as JSON, or as names and values.
import { StoreObject } from "../../binding/object.ts";
import type { ObjectLock } from "../../model/lock.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { Output } from "../framework/output.ts";

export function objectJson(record: ObjectRecord) {
  const { tags, lock } = record;
  return {
    ...new StoreObject(record),
    ...(tags === undefined ? {} : { tags: Object.fromEntries(tags) }),
    ...(lock === undefined ? {} : lockJson(lock)),
  };
}

export function lockJson({ retention, legalHold }: ObjectLock) {
  return {
    retention:
      retention === undefined
        ? null
        : { mode: retention.mode, until: new Date(retention.until).toISOString() },
    legalHold: legalHold === true,
  };
}

export function objectFields(record: ObjectRecord, output: Output): (readonly [string, string])[] {
  const object = new StoreObject(record);
  const { cacheExpiry, ...http } = object.httpMetadata ?? {};
  return [
    ["key", object.key],
    ["size", output.bytes(object.size)],
    ["etag", object.etag],
    ["uploaded", output.time(record.uploaded)],
    ["version", object.version],
    ["storage class", object.storageClass],
    ...Object.entries(http).map(([name, value]) => [headerNames[name] ?? name, value] as const),
    ...(cacheExpiry === undefined ? [] : [["expires", output.time(cacheExpiry.getTime())] as const]),
    ...Object.entries(object.customMetadata ?? {}).map(
      ([name, value]) => [`metadata ${name}`, value] as const,
    ),
    ...[...(record.tags ?? [])].map(([key, value]) => [`tag ${key}`, value] as const),
    ...lockFields(record.lock ?? {}, output),
    ...Object.entries(object.checksums.toJSON()).map(([name, value]) => [name, value] as const),
    ...(object.ssecKeyMd5 === undefined ? [] : [["encryption key MD5", object.ssecKeyMd5] as const]),
  ];
}

function lockFields({ retention, legalHold }: ObjectLock, output: Output): (readonly [string, string])[] {
  return [
    ...(retention === undefined
      ? []
      : [["retention", `${retention.mode} until ${output.time(retention.until)}`] as const]),
    ...(legalHold === true ? [["legal hold", "on"] as const] : []),
  ];
}

const headerNames: Readonly<Record<string, string>> = {
  contentType: "content type",
  contentLanguage: "content language",
  contentDisposition: "content disposition",
  contentEncoding: "content encoding",
  cacheControl: "cache control",
};
