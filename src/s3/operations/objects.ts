// GetObject, HeadObject, PutObject and DeleteObject.
import { isUnderPolicy } from "../../access/decide.ts";
import type { GetOptions, GetOutcome } from "../../engine/engine.ts";
import { rangeConditionFromHeader, rangeFromHeader } from "../../http/headers.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { applicableRange, type ByteRange, partRange, resolveRange } from "../../model/range.ts";
import { type DeleteMarker, isDeleteMarker } from "../../model/version.ts";
import { decideAccess } from "../auth/authorize.ts";
import { checksumHeaders, expectedChecksums, givenChecksum, partChecksumHeaders } from "../body/checksums.ts";
import { answer, type Call, quoteEtag, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import {
  deleteCondition,
  preconditionFailed,
  readCondition,
  readWriteCondition,
  refusedWrite,
  refuseRead,
} from "../headers/conditions.ts";
import { readCustomerKey } from "../headers/customer-key.ts";
import { readBypass, readLock, requireChecksum } from "../headers/lock.ts";
import { readMetadata } from "../headers/metadata.ts";
import { expirationHeader, objectHeaders, readOverrides } from "../headers/object-headers.ts";
import { parseStorageClass, readPassthrough } from "../headers/passthrough.ts";
import { encryptionHeaders, readEncryption } from "../headers/server-side-encryption.ts";
import { readTagHeader } from "../headers/tags.ts";
import {
  deletedVersionHeaders,
  markerHeaders,
  missingObject,
  newVersionHeaders,
  readTime,
  versionHeaders,
} from "../headers/versions.ts";
import type { S3Request } from "../request.ts";
import { deleteVersions } from "./delete-versions.ts";

export async function getObject(call: Call): Promise<S3Response> {
  const { engine, operation, request } = call;
  const overridden = readOverrides(call);
  const selection = readSelection(request);
  const { range, rangeCondition, part } = selection;
  const outcome = await engine.get(operation.bucket, operation.key, {
    condition: readCondition(request),
    range,
    rangeCondition,
    part,
    customerKey: readCustomerKey(request),
    version: operation.version,
    time: readTime(call),
  });
  if (outcome.outcome === "missing") throw await notFound(call, outcome.marker);
  if (outcome.outcome === "refused") return refuseRead(outcome.clause, outcome.record);
  const { record, bytes } = outcome;
  const isPartial = isPartialContent(outcome, selection);
  const headers = [
    ...objectHeaders(record, overridden),
    ...versionHeaders(call.bucket, record),
    ...currentExpiration(call, record),
    ...spanHeaders(outcome, part, isPartial),
    ...(wantsChecksum(request) ? spanChecksums(outcome, part) : []),
  ];
  return answer(isPartial ? 206 : 200, headers, bytes.inline ?? bytes);
}

/** Returns the same status and headers as GetObject, without opening the body. */
export async function headObject(call: Call): Promise<S3Response> {
  const { engine, operation, request } = call;
  const overridden = readOverrides(call);
  const selection = readSelection(request);
  const { part } = selection;
  const outcome = await engine.describe(operation.bucket, operation.key, {
    condition: readCondition(request),
    customerKey: readCustomerKey(request),
    version: operation.version,
    time: readTime(call),
    parts: part === undefined ? "omit" : undefined,
  });
  if (outcome.outcome === "missing") throw await notFound(call, outcome.marker);
  if (outcome.outcome === "refused") return refuseRead(outcome.clause, outcome.record);
  const { record } = outcome;
  const range = applicableRange(selection.range, selection.rangeCondition, record);
  // Decoding thousands of parts takes long, so they are read only if a part is requested.
  const parts = part === undefined ? undefined : outcome.parts;
  const span = part === undefined ? resolveRange(range, record.size) : partRange(parts, part, record.size);
  const described = { record, range: span, parts };
  const isPartial = isPartialContent(described, selection);
  return answer(isPartial ? 206 : 200, [
    ...objectHeaders(record, overridden),
    ...versionHeaders(call.bucket, record),
    ...currentExpiration(call, record),
    ...spanHeaders(described, part, isPartial),
    ...(wantsChecksum(request) ? spanChecksums(described, part) : []),
  ]);
}

/** Lifecycle rules state when the current version expires, not an older one. */
function currentExpiration(call: Call, record: ObjectRecord): [string, string][] {
  return call.operation.version === undefined ? expirationHeader(call, record) : [];
}

/** The part of an object that a request asks for. */
type Selection = Pick<GetOptions, "range" | "rangeCondition" | "part">;

function readSelection(request: S3Request): Selection {
  const range = rangeFromHeader(request.header("range") ?? null);
  const text = request.query.get("partNumber");
  if (text === undefined) {
    if (range === undefined) return {};
    return { range, rangeCondition: rangeConditionFromHeader(request.header("if-range") ?? null) };
  }
  if (range !== undefined) {
    throw new S3Error("InvalidRequest", {
      message: "Cannot specify both Range header and partNumber query parameter",
    });
  }
  return { part: parsePartNumber(text) };
}

export function parsePartNumber(text: string | undefined): number {
  const number = /^\d{1,5}$/.test(text ?? "") ? Number(text) : 0;
  if (number >= 1 && number <= 10_000) return number;
  throw new S3Error("InvalidArgument", {
    message: "Part number must be an integer between 1 and 10000, inclusive",
    details: { ArgumentName: "partNumber", ArgumentValue: text ?? "" },
  });
}

type FoundObject = Pick<Extract<GetOutcome, { outcome: "found" }>, "record" | "range" | "parts">;

/** Returns the checksums of the whole object or of a part; other ranges have none. */
function spanChecksums(found: FoundObject, part: number | undefined): [string, string][] {
  const { record, range } = found;
  const one = part === undefined ? undefined : found.parts?.[part - 1];
  if (one !== undefined) return partChecksumHeaders(one.checksums, record);
  return range.length === record.size ? checksumHeaders(record) : [];
}

/** Whether the status is 206. An empty part gets 200: Content-Range cannot describe zero bytes. */
function isPartialContent({ record, range }: FoundObject, selection: Selection): boolean {
  const isSelected =
    selection.part !== undefined ||
    applicableRange(selection.range, selection.rangeCondition, record) !== undefined;
  return isSelected && range.length > 0;
}

function spanHeaders(found: FoundObject, part: number | undefined, isPartial: boolean): [string, string][] {
  const { record, range } = found;
  const { offset, length }: ByteRange = range;
  const headers: [string, string][] = [["content-length", String(length)]];
  if (isPartial) headers.push(["content-range", `bytes ${offset}-${offset + length - 1}/${record.size}`]);
  const parts = part === undefined ? undefined : found.parts;
  if (parts !== undefined) headers.push(["x-amz-mp-parts-count", String(parts.length)]);
  return headers;
}

function wantsChecksum(request: S3Request): boolean {
  return request.header("x-amz-checksum-mode")?.toUpperCase() === "ENABLED";
}

/** As in S3, a caller of a bucket with a policy learns that a key is missing only if it may list. */
async function notFound(call: Call, marker: DeleteMarker | undefined): Promise<S3Error> {
  const { operation, request, bucket } = call;
  const { key, version } = operation;
  if (bucket !== undefined && isUnderPolicy(call.caller, bucket)) {
    const listing = { name: "ListObjects", prefix: key } as const;
    if ((await decideAccess(call, bucket, listing)) === "denied") return new S3Error("AccessDenied");
  }
  return missingObject({ key, version, method: request.method, marker });
}

export function noSuchKey(key: string): S3Error {
  return new S3Error("NoSuchKey", { details: { Key: key } });
}

export async function putObject(call: Call): Promise<S3Response> {
  const { engine, operation, request, payload } = call;
  const { bucket, key } = operation;
  if (!request.http.hasBody) throw new S3Error("MissingContentLength");
  const { httpMetadata, customMetadata } = readMetadata(request);
  const lock = readLock(call);
  if (lock?.retention !== undefined || lock?.legalHold === true) requireChecksum(request, checksumRequired);
  const checksum = givenChecksum(request, payload);
  const outcome = await engine.put(bucket, key, payload.bufferedBytes() ?? payload.source, {
    httpMetadata,
    customMetadata,
    storageClass: parseStorageClass(request.header("x-amz-storage-class")),
    customerKey: readCustomerKey(request),
    encryption: readEncryption(request),
    condition: readWriteCondition(call),
    checksums: expectedChecksums(request, payload, checksum),
    tags: readTagHeader(request),
    lock,
    passthrough: readPassthrough(request, checksum?.algorithm),
  });
  if (outcome.outcome === "refused") {
    const isMissing = outcome.clause === "etagMatches" && (await engine.head(bucket, key)) === undefined;
    throw isMissing ? noSuchKey(key) : refusedWrite(call, outcome.clause);
  }
  return answer(200, [...storedHeaders(outcome.record), ...expirationHeader(call, outcome.record)]);
}

const checksumRequired =
  "Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters";

/** Returns the response headers after an object was stored. */
export function storedHeaders(record: ObjectRecord): (readonly [string, string])[] {
  return [
    ["etag", quoteEtag(record.etag)],
    ...newVersionHeaders(record),
    ...checksumHeaders(record),
    ...encryptionHeaders(record.encryption),
  ];
}

export async function deleteObject(call: Call): Promise<S3Response> {
  const { engine, operation, request } = call;
  if (operation.version !== undefined) return deleteVersion(call, operation.version);
  const condition = deleteCondition(request);
  const [marker] = await engine.delete(operation.bucket, [operation.key], { condition });
  return answer(204, marker === undefined ? [] : markerHeaders(marker));
}

/** A version that does not exist is not an error: repeating a delete has the same result. */
async function deleteVersion(call: Call, version: string): Promise<S3Response> {
  const { engine, operation, request } = call;
  const target = { key: operation.key, version, condition: deleteCondition(request) };
  const [result] = await deleteVersions(engine, operation.bucket, [target], await readBypass(call));
  if (result?.outcome === "refused") throw preconditionFailed(result.clause);
  if (result?.outcome === "locked") throw new S3Error("AccessDenied", { message: result.message });
  const wasMarker = result?.outcome === "deleted" && isDeleteMarker(result.version);
  return answer(204, deletedVersionHeaders(call.bucket, version, wasMarker));
}
