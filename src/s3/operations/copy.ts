// CopyObject and UploadPartCopy: authorizes and reads the source like GetObject, and stores it.
import type { GetOutcome } from "../../engine/engine.ts";
import type { ExpectedChecksum } from "../../model/checksum.ts";
import { limits } from "../../model/limits.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { RangeRequest } from "../../model/range.ts";
import { requireAccess } from "../auth/authorize.ts";
import { toOwner } from "../auth/credentials.ts";
import { checksumElements, parseAlgorithm, partChecksumElements, s3Algorithms } from "../body/checksums.ts";
import { answerXml, type Call, isoTime, quoteEtag, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import { preconditionFailed, readCondition, writeCondition } from "../headers/conditions.ts";
import {
  customerKeyHeaders,
  givenKeyHeaders,
  readCustomerKey,
  sourceKeyHeaders,
} from "../headers/customer-key.ts";
import { parseStorageClass, readMetadata } from "../headers/metadata.ts";
import { expirationHeader } from "../headers/object-headers.ts";
import type { S3Request } from "../request.ts";
import { noSuchKey, parsePartNumber } from "./objects.ts";

interface CopySource {
  readonly bucket: string;
  readonly key: string;
}

type FoundObject = Extract<GetOutcome, { outcome: "found" }>;

export async function copyObject(call: Call): Promise<S3Response> {
  const { engine, operation, request } = call;
  const source = parseCopySource(request);
  const replaces = replacesMetadata(request);
  const storageClass = parseStorageClass(request.header("x-amz-storage-class"));
  const customerKey = readCustomerKey(request);
  const isSelf = source.bucket === operation.bucket && source.key === operation.key;
  if (isSelf && !replaces && storageClass === undefined && customerKey === undefined) {
    throw new S3Error("InvalidRequest", {
      message:
        "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
    });
  }
  const condition = writeCondition(request);
  const given = replaces ? readMetadata(request) : undefined;
  const checksum = request.header("x-amz-checksum-algorithm");
  const algorithm = checksum === undefined ? undefined : parseAlgorithm(checksum);
  // Open the source after all other checks, because an open body must be read or cancelled.
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
    checksums: algorithm === undefined ? toExpectedChecksums(record) : [{ algorithm }],
  });
  if (outcome.outcome === "refused") throw preconditionFailed(outcome.clause);
  const stored = outcome.record;
  return answerXml(
    "CopyObjectResult",
    [
      ["LastModified", isoTime(stored.uploaded)],
      ["ETag", quoteEtag(stored.etag)],
      ...checksumElements(stored),
    ],
    [...customerKeyHeaders(stored.encryption), ...expirationHeader(call, stored)],
  );
}

export async function uploadPartCopy(call: Call): Promise<S3Response> {
  const { engine, operation, request } = call;
  const number = parsePartNumber(request.query.get("partNumber"));
  const upload = { key: operation.key, id: request.query.get("uploadId") ?? "" };
  const customerKey = readCustomerKey(request);
  const found = await openSource(call, parseCopySource(request), copyRange(request));
  const source = bytesSource(found);
  const part = await engine.uploadPart(operation.bucket, upload, number, source, { customerKey });
  return answerXml(
    "CopyPartResult",
    [
      ["LastModified", isoTime(part.uploaded)],
      ["ETag", quoteEtag(part.etag)],
      ...partChecksumElements(part.checksums),
    ],
    givenKeyHeaders(customerKey),
  );
}

/** Parses the header `bucket/key` or `/bucket/key`, which is percent-encoded. */
function parseCopySource(request: S3Request): CopySource {
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

function replacesMetadata(request: S3Request): boolean {
  const text = request.header("x-amz-metadata-directive") ?? "COPY";
  if (text !== "COPY" && text !== "REPLACE") {
    throw new S3Error("InvalidArgument", { message: "x-amz-metadata-directive must be COPY or REPLACE." });
  }
  return text === "REPLACE";
}

async function openSource(
  call: Call,
  { bucket, key }: CopySource,
  range: RangeRequest | undefined,
): Promise<FoundObject> {
  const { engine, caller, request } = call;
  const { account } = await requireAccess(engine, caller, bucket, "read");
  const expected = request.header("x-amz-source-expected-bucket-owner");
  if (expected !== undefined && expected !== toOwner(account).id) throw new S3Error("AccessDenied");
  const outcome = await engine.get(bucket, key, {
    condition: readCondition(request, "x-amz-copy-source-"),
    customerKey: readCustomerKey(request, sourceKeyHeaders),
    range,
  });
  if (outcome.outcome === "missing") throw noSuchKey(key);
  if (outcome.outcome === "refused") throw preconditionFailed(outcome.clause);
  if (range !== undefined && !isInside(range, outcome)) {
    await outcome.bytes.cancel();
    throw new S3Error("InvalidRange", {
      message: "The requested range exceeds the size of the source object.",
    });
  }
  return outcome;
}

/** Whether the range is inside the source: unlike a read, a copy fails if it is not. */
function isInside(range: RangeRequest, { range: given }: FoundObject): boolean {
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

function bytesSource({ bytes }: FoundObject) {
  return { length: bytes.length, chunks: () => bytes.chunks(), cancel: () => bytes.cancel() };
}

/** The copy gets checksums of the same algorithms as the source; they are computed again. */
function toExpectedChecksums({ checksums }: ObjectRecord): ExpectedChecksum[] {
  return s3Algorithms.filter((one) => checksums[one] !== undefined).map((algorithm) => ({ algorithm }));
}
