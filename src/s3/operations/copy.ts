// CopyObject and UploadPartCopy: the source is read as any other read, authorized as one, and stored anew.
import type { GetOutcome } from "../../engine/engine.ts";
import type { ExpectedChecksum } from "../../model/checksum.ts";
import { limits } from "../../model/limits.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { RangeRequest } from "../../model/range.ts";
import { reach } from "../auth/authorize.ts";
import { ownerOf } from "../auth/credentials.ts";
import { algorithmNamed, checksumElements, partChecksumElements, s3Algorithms } from "../body/checksums.ts";
import { answerXml, type Call, isoTime, quoted, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import { preconditionFailed, readCondition, writeCondition } from "../headers/conditions.ts";
import { customerKeyHeaders, customerKeyOf, givenKeyHeaders, ofSource } from "../headers/customer-key.ts";
import { classOf, metadataOf } from "../headers/metadata.ts";
import { expirationHeader } from "../headers/object-headers.ts";
import type { S3Request } from "../request.ts";
import { noSuchKey, partNumber } from "./objects.ts";

interface CopySource {
  readonly bucket: string;
  readonly key: string;
}

type Found = Extract<GetOutcome, { outcome: "found" }>;

export async function copyObject(call: Call): Promise<S3Response> {
  const { engine, operation, request } = call;
  const source = sourceOf(request);
  const replaces = directive(request);
  const storageClass = classOf(request.header("x-amz-storage-class"));
  const customerKey = customerKeyOf(request);
  const isSelf = source.bucket === operation.bucket && source.key === operation.key;
  if (isSelf && !replaces && storageClass === undefined && customerKey === undefined) {
    throw new S3Error("InvalidRequest", {
      message:
        "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
    });
  }
  const condition = writeCondition(request);
  const given = replaces ? metadataOf(request) : undefined;
  const checksum = request.header("x-amz-checksum-algorithm");
  const algorithm = checksum === undefined ? undefined : algorithmNamed(checksum);
  // Opened when nothing of the request can be wrong any more: who opens a body must see it read or cancelled.
  const found = await openSource(call, source, undefined);
  const { record, bytes } = found;
  if (record.size > limits.singleWriteBytes) {
    await bytes.cancel();
    throw new S3Error("InvalidRequest", {
      message: "The specified copy source is larger than the maximum allowable size for a copy source.",
    });
  }
  const outcome = await engine.put(operation.bucket, operation.key, bytesSource(found), {
    event: "s3:ObjectCreated:Copy",
    httpMetadata: (given ?? record).httpMetadata,
    customMetadata: (given ?? record).customMetadata,
    storageClass: storageClass ?? "Standard",
    customerKey,
    condition,
    checksums: algorithm === undefined ? checksumsOf(record) : [{ algorithm }],
  });
  if (outcome.outcome === "refused") throw preconditionFailed(outcome.clause);
  const stored = outcome.record;
  return answerXml(
    "CopyObjectResult",
    [["LastModified", isoTime(stored.uploaded)], ["ETag", quoted(stored.etag)], ...checksumElements(stored)],
    [...customerKeyHeaders(stored.encryption), ...expirationHeader(call, stored)],
  );
}

export async function uploadPartCopy(call: Call): Promise<S3Response> {
  const { engine, operation, request } = call;
  const number = partNumber(request.query.get("partNumber"));
  const upload = { key: operation.key, id: request.query.get("uploadId") ?? "" };
  const customerKey = customerKeyOf(request);
  const found = await openSource(call, sourceOf(request), copyRange(request));
  const source = bytesSource(found);
  const part = await engine.uploadPart(operation.bucket, upload, number, source, { customerKey });
  return answerXml(
    "CopyPartResult",
    [
      ["LastModified", isoTime(part.uploaded)],
      ["ETag", quoted(part.etag)],
      ...partChecksumElements(part.checksums),
    ],
    givenKeyHeaders(customerKey),
  );
}

/** `bucket/key` in percent-encoding, with or without a slash before it. */
function sourceOf(request: S3Request): CopySource {
  const [path, version] = request.header("x-amz-copy-source")!.split("?versionId=");
  if (version !== undefined && version !== "null") throw new S3Error("NoSuchVersion");
  let text: string;
  try {
    text = decodeURIComponent(Buffer.from(path!, "latin1").toString("utf8").replaceAll("+", "%20"));
  } catch (cause) {
    throw invalidSource(cause);
  }
  const match = /^\/?([^/]+)\/(.+)$/s.exec(text);
  if (match === null) throw invalidSource();
  return { bucket: match[1]!, key: match[2]! };
}

function invalidSource(cause?: unknown): S3Error {
  return new S3Error("InvalidArgument", {
    message: "Copy Source must mention the source bucket and key: sourcebucket/sourcekey",
    cause,
  });
}

function directive(request: S3Request): boolean {
  const text = request.header("x-amz-metadata-directive") ?? "COPY";
  if (text !== "COPY" && text !== "REPLACE") {
    throw new S3Error("InvalidArgument", { message: "Unknown metadata directive." });
  }
  return text === "REPLACE";
}

async function openSource(
  call: Call,
  { bucket, key }: CopySource,
  range: RangeRequest | undefined,
): Promise<Found> {
  const { engine, caller, request } = call;
  const { account } = await reach(engine, caller, bucket, "read");
  const expected = request.header("x-amz-source-expected-bucket-owner");
  if (expected !== undefined && expected !== ownerOf(account).id) throw new S3Error("AccessDenied");
  const outcome = await engine.get(bucket, key, {
    condition: readCondition(request, "x-amz-copy-source-"),
    customerKey: customerKeyOf(request, ofSource),
    range,
  });
  if (outcome.outcome === "missing") throw noSuchKey(key);
  if (outcome.outcome === "refused") throw preconditionFailed(outcome.clause);
  if (range !== undefined && !isInside(range, outcome)) {
    await outcome.bytes.cancel();
    throw new S3Error("InvalidRange", { message: "The requested range is not inside the source." });
  }
  return outcome;
}

/** Unlike a read, a copy must have every byte it asks for. */
function isInside(range: RangeRequest, { range: given }: Found): boolean {
  return "suffix" in range || range.length === given.length;
}

function copyRange(request: S3Request): RangeRequest | undefined {
  const text = request.header("x-amz-copy-source-range");
  if (text === undefined) return undefined;
  const match = /^bytes=(\d+)-(\d+)$/.exec(text);
  const [first, last] = [Number(match?.[1]), Number(match?.[2])];
  if (match === null || last < first) {
    throw new S3Error("InvalidArgument", {
      message:
        "The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy",
    });
  }
  return { offset: first, length: last - first + 1 };
}

function bytesSource({ bytes }: Found) {
  return { length: bytes.length, chunks: () => bytes.chunks(), cancel: () => bytes.cancel() };
}

/** Those the source has are made anew of the copy. */
function checksumsOf({ checksums }: ObjectRecord): ExpectedChecksum[] {
  return s3Algorithms.filter((one) => checksums[one] !== undefined).map((algorithm) => ({ algorithm }));
}
