// The operations of the protocol that read: head, get and list.
import type { Engine, Listing, ListOptions } from "../../engine/engine.ts";
import type { HttpResponse } from "../../http/server/listen.ts";
import { StoreError } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import type { Fields } from "../../model/shape.ts";
import { invalid, reasonResponse } from "./errors.ts";
import {
  checkNames,
  optionalCount,
  optionalFlag,
  optionalList,
  optionalText,
  requiredText,
} from "./fields.ts";
import { allFields, type IncludedFields, toObjectJson } from "./object-json.ts";
import type { ListingForm, Operation } from "./operation.ts";
import { readCondition, readCustomerKey, readRange } from "./read-options.ts";
import { metadataResponse, sizeHeader, toJsonBytes } from "./responses.ts";

export const head: Operation = async ({ engine, bucket }, fields) => {
  checkNames(fields, ["version", "method", "object"], "head");
  const record = await engine.head(bucket, requiredText(fields, "object"));
  return record === undefined
    ? reasonResponse("NoSuchKey")
    : metadataResponse(toObjectJson(record, allFields));
};

const getFields = ["version", "method", "object", "range", "rangeHeader", "onlyIf", "ssec"];

export const get: Operation = async ({ engine, bucket }, fields) => {
  checkNames(fields, getFields, "get");
  const result = await engine.get(bucket, requiredText(fields, "object"), {
    condition: readCondition(fields),
    range: readRange(fields),
    customerKey: readCustomerKey(fields),
  });
  if (result.outcome === "missing") return reasonResponse("NoSuchKey");
  if (result.outcome === "refused") {
    const metadata = toJsonBytes(toObjectJson(result.record, allFields));
    return reasonResponse("PreconditionFailed", { headers: [sizeHeader(metadata)], body: metadata });
  }
  return metadataResponse(toObjectJson(result.record, allFields, result.range), result.bytes);
};

const listFields = [
  ...["version", "method", "limit", "prefix", "cursor", "delimiter", "startAfter", "include", "newRuntime"],
];

/** The runtime refuses larger metadata. */
const maxPageBytes = 1024 * 1024;

export const list: Operation = async ({ engine, bucket, listing }, fields) => {
  checkNames(fields, listFields, "list");
  const included = readIncluded(fields, listing);
  const options: ListOptions = {
    prefix: optionalText(fields, "prefix"),
    // A missing query parameter often becomes an empty cursor: start at the first page.
    cursor: optionalText(fields, "cursor") || undefined,
    delimiter: optionalText(fields, "delimiter"),
    startAfter: optionalText(fields, "startAfter"),
    withMetadata: included.http || included.custom,
  };
  const cut = listing?.keepDelimiter === false ? (options.delimiter?.length ?? 0) : 0;
  return listPage(engine, bucket, { options, form: { included, cut }, limit: readLimit(fields) });
};

interface PageForm {
  readonly included: IncludedFields;
  /** Number of characters at the end of a prefix that are not returned. */
  readonly cut: number;
}

interface PageRequest {
  readonly options: ListOptions;
  readonly form: PageForm;
  readonly limit: number;
}

/** A page of long keys or of much metadata is larger than the runtime reads: list fewer. */
async function listPage(
  engine: Engine,
  bucket: string,
  { options, form, limit }: PageRequest,
): Promise<HttpResponse> {
  const page = await engine.list(bucket, { ...options, limit });
  const response = metadataResponse(toPageJson(page, form));
  const { length } = response.body as Uint8Array;
  if (length <= maxPageBytes) return response;
  return listPage(engine, bucket, { options, form, limit: Math.floor(limit / 2) });
}

function toPageJson({ objects, prefixes, cursor }: Listing, { included, cut }: PageForm) {
  return {
    objects: objects.map((record) => toObjectJson(record, included)),
    truncated: cursor !== undefined,
    ...(cursor === undefined ? {} : { cursor }),
    delimitedPrefixes: cut === 0 ? prefixes : prefixes.map((prefix) => prefix.slice(0, -cut)),
  };
}

/** The runtime converts a negative limit to a large unsigned number. */
function readLimit(fields: Fields): number {
  const limit = optionalCount(fields, "limit") ?? limits.listEntries;
  if (limit >= 2 ** 31) throw new StoreError("InvalidMaxKeys");
  return Math.min(limit, limits.listEntries);
}

/** Without `newRuntime`, the request is of a version that did not send what to include. */
function readIncluded(fields: Fields, listing: ListingForm | undefined): IncludedFields {
  const include = optionalList(fields, "include", { max: 16, read: readIncludedField });
  if (!optionalFlag(fields, "newRuntime") || listing?.honorInclude === false) return allFields;
  return { http: include?.includes(0) ?? false, custom: include?.includes(1) ?? false };
}

function readIncludedField(item: unknown): number {
  if (item === 0 || item === 1) return item;
  throw invalid('The field "include" can contain 0 for HTTP metadata and 1 for custom metadata.');
}
