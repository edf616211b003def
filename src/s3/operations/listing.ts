// ListObjects, ListObjectsV2 and ListMultipartUploads.
import type { Listing } from "../../engine/engine.ts";
import { encodePath } from "../../http/sigv4.ts";
import { limits } from "../../model/limits.ts";
import { decodeCursor, encodeCursor, type Position } from "../../model/listing.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { shownAlgorithms, toChecksumType } from "../body/checksums.ts";
import type { XmlElement } from "../body/xml-writer.ts";
import { answerXml, type Call, isoTime, ownerElements, quoteEtag, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import { shownStorageClass } from "../headers/passthrough.ts";
import { readTime } from "../headers/versions.ts";
import type { Query } from "../request.ts";

export function numberParameter(query: Query, name: string, defaultValue: number, max = 1000): number {
  const text = query.get(name);
  if (text === undefined || text === "") return defaultValue;
  if (/^\d{1,10}$/.test(text) && Number(text) < 2 ** 31) return Math.min(Number(text), max);
  throw new S3Error("InvalidArgument", {
    message: `Argument ${name} must be an integer between 0 and 2147483647`,
    details: { ArgumentName: name, ArgumentValue: text },
  });
}

export interface ListParameters {
  readonly prefix: string;
  readonly delimiter: string;
  readonly limit: number;
  /** Formats a key in the requested encoding. */
  readonly text: (key: string) => string;
  readonly encoding: string | undefined;
}

export function readListParameters({ query }: { query: Query }, limitName: string): ListParameters {
  const encoding = query.get("encoding-type");
  if (encoding !== undefined && encoding !== "" && encoding !== "url") {
    throw new S3Error("InvalidArgument", { message: "Invalid Encoding Method specified in Request" });
  }
  return {
    prefix: query.get("prefix") ?? "",
    delimiter: query.get("delimiter") ?? "",
    limit: numberParameter(query, limitName, limits.listEntries),
    text: encoding === "url" ? encodePath : (key) => key,
    encoding: encoding === "url" ? "url" : undefined,
  };
}

/** Converts a marker to a position. As in S3, a common prefix skips all keys of that prefix. */
export function positionAfter(marker: string, { prefix, delimiter }: ListParameters): Position | undefined {
  if (marker === "") return undefined;
  const at = delimiter === "" ? -1 : marker.indexOf(delimiter, prefix.length);
  const isGroup = at !== -1 && marker.startsWith(prefix) && at + delimiter.length === marker.length;
  return { kind: isGroup ? "prefix" : "key", value: marker };
}

export async function listObjects(call: Call): Promise<S3Response> {
  const { engine, operation, request } = call;
  const given = readListParameters(request, "max-keys");
  const { prefix, delimiter, limit, text, encoding } = given;
  const marker = request.query.get("marker") ?? "";
  const after = positionAfter(marker, given);
  const time = readTime(call);
  const page = await engine.list(operation.bucket, { prefix, delimiter, limit, after, time });
  const isTruncated = limit > 0 && page.next !== undefined;
  return answerXml("ListBucketResult", [
    ["Name", operation.bucket],
    ["Prefix", text(prefix)],
    ["Marker", text(marker)],
    ["NextMarker", isTruncated ? text(page.next!.value) : undefined],
    ["MaxKeys", limit],
    ["Delimiter", delimiter === "" ? undefined : text(delimiter)],
    ["IsTruncated", isTruncated],
    ["EncodingType", encoding],
    ...entryElements(page, text, ownerElement(call)),
  ]);
}

export async function listObjectsV2(call: Call): Promise<S3Response> {
  const { engine, operation, request } = call;
  const { query } = request;
  const given = readListParameters(request, "max-keys");
  const { prefix, delimiter, limit, text } = given;
  const token = query.get("continuation-token");
  const startAfter = query.get("start-after") ?? "";
  const page = await engine.list(operation.bucket, {
    prefix,
    delimiter,
    limit,
    // Some clients send an empty token for the first page.
    after: token === undefined || token === "" ? positionAfter(startAfter, given) : decodeToken(token),
    time: readTime(call),
  });
  const isTruncated = limit > 0 && page.next !== undefined;
  const owner = query.get("fetch-owner") === "true" ? ownerElement(call) : undefined;
  return answerXml("ListBucketResult", [
    ["Name", operation.bucket],
    ["Prefix", text(prefix)],
    ["StartAfter", startAfter === "" ? undefined : text(startAfter)],
    ["ContinuationToken", token],
    ["NextContinuationToken", isTruncated ? encodeCursor(page.next!) : undefined],
    ["KeyCount", page.objects.length + page.prefixes.length],
    ["MaxKeys", limit],
    ["Delimiter", delimiter === "" ? undefined : text(delimiter)],
    ["IsTruncated", isTruncated],
    ["EncodingType", given.encoding],
    ...entryElements(page, text, owner),
  ]);
}

function decodeToken(token: string): Position {
  try {
    return decodeCursor(token);
  } catch (cause) {
    throw new S3Error("InvalidArgument", { message: "The continuation token provided is incorrect", cause });
  }
}

function entryElements(
  page: Listing,
  text: ListParameters["text"],
  owner: XmlElement | undefined,
): XmlElement[] {
  return [
    ...page.objects.map((record): XmlElement => ["Contents", objectElements(record, text, owner)]),
    ...prefixElements(page.prefixes, text),
  ];
}

export function prefixElements(prefixes: readonly string[], text: ListParameters["text"]): XmlElement[] {
  return prefixes.map((prefix): XmlElement => ["CommonPrefixes", [["Prefix", text(prefix)]]]);
}

export function objectElements(
  record: ObjectRecord,
  text: ListParameters["text"],
  owner: XmlElement | undefined,
): XmlElement[] {
  const found = shownAlgorithms(record);
  return [
    ["Key", text(record.key)],
    ["LastModified", isoTime(record.uploaded)],
    ["ETag", quoteEtag(record.etag)],
    ...found.map((algorithm): XmlElement => ["ChecksumAlgorithm", algorithm.toUpperCase()]),
    ["ChecksumType", found.length > 0 ? toChecksumType(record) : undefined],
    ["Size", record.size],
    ...(owner === undefined ? [] : [owner]),
    ["StorageClass", shownStorageClass(record)],
  ];
}

export function ownerElement({ bucket }: Pick<Call, "bucket">): XmlElement {
  return ["Owner", ownerElements(bucket?.account ?? "")];
}

export async function listMultipartUploads(call: Call): Promise<S3Response> {
  const { engine, operation, request, caller } = call;
  const { query } = request;
  const given = readListParameters(request, "max-uploads");
  const { prefix, delimiter, limit, text } = given;
  const keyMarker = query.get("key-marker") ?? "";
  const idMarker = query.get("upload-id-marker") ?? "";
  const after =
    keyMarker === "" ? undefined : { key: keyMarker, ...(idMarker === "" ? {} : { id: idMarker }) };
  const page = await engine.listUploads(operation.bucket, { prefix, delimiter, limit, after });
  const isTruncated = limit > 0 && page.next !== undefined;
  const owner = ownerElements(caller.account);
  return answerXml("ListMultipartUploadsResult", [
    ["Bucket", operation.bucket],
    ["KeyMarker", text(keyMarker)],
    ["UploadIdMarker", idMarker],
    ["NextKeyMarker", isTruncated ? text(page.next!.key) : undefined],
    ["NextUploadIdMarker", isTruncated ? page.next!.id : undefined],
    ["Prefix", text(prefix)],
    ["Delimiter", delimiter === "" ? undefined : text(delimiter)],
    ["MaxUploads", limit],
    ["IsTruncated", isTruncated],
    ["EncodingType", given.encoding],
    ...page.uploads.map(
      (upload): XmlElement => [
        "Upload",
        [
          ["Key", text(upload.key)],
          ["UploadId", upload.id],
          ["Initiator", owner],
          ["Owner", owner],
          ["StorageClass", shownStorageClass(upload)],
          ["Initiated", isoTime(upload.created)],
          ["ChecksumAlgorithm", upload.checksum?.algorithm.toUpperCase()],
        ],
      ],
    ),
    ...prefixElements(page.prefixes, text),
  ]);
}
