// CopyObject and UploadPartCopy: authorizes and reads the source like GetObject, and stores it.

import { isUnderPolicy } from "../../access/decide.ts";
import { toOwner } from "../../access/keys/credentials.ts";
import type { GetOutcome } from "../../engine/engine.ts";
import type { Bucket } from "../../model/bucket.ts";
import type { ChecksumAlgorithm } from "../../model/checksums/checksum.ts";
import { limits } from "../../model/limits.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { RangeRequest } from "../../model/range.ts";
import type { DeleteMarker } from "../../model/version.ts";
import { decideAccess, requireAccess, type Wanted } from "../auth/authorize.ts";
import {
  checksumElements,
  parseAlgorithm,
  partChecksumElements,
  shownAlgorithms,
} from "../body/checksums.ts";
import { answerXml, type Call, isoTime, quoteEtag, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import {
  preconditionFailed,
  readCondition,
  readWriteCondition,
  refusedWrite,
  uploadInitiator,
} from "../headers/conditions.ts";
import { readCustomerKey, sourceKeyHeaders } from "../headers/customer-key.ts";
import { readLock } from "../headers/lock.ts";
import { readMetadata } from "../headers/metadata.ts";
import { expirationHeader } from "../headers/object-headers.ts";
import { parseStorageClass, readPassthrough } from "../headers/passthrough.ts";
import {
  checkUploadEncryption,
  encryptionHeaders,
  readEncryption,
} from "../headers/server-side-encryption.ts";
import { readTagHeader } from "../headers/tags.ts";
import {
  checkVersionId,
  missingObject,
  newVersionHeaders,
  sourceVersionHeaders,
} from "../headers/versions.ts";
import type { S3Request } from "../request.ts";
import { noSuchKey, parsePartNumber } from "./objects.ts";
import { partEncryptionHeaders } from "./uploads.ts";

interface CopySource {
  readonly bucket: string;
  readonly key: string;
  /** Default: the current version. */
  readonly version: string | undefined;
}

type FoundObject = Extract<GetOutcome, { outcome: "found" }>;

interface OpenSource {
  readonly found: FoundObject;
  readonly bucket: Bucket;
}

export async function copyObject(call: Call): Promise<S3Response> {
  const { engine, operation, request } = call;
  const source = parseCopySource(request);
  const replaces = isReplaced(request, "x-amz-metadata-directive");
  const storageClass = parseStorageClass(request.header("x-amz-storage-class"));
  const customerKey = readCustomerKey(request);
  const encryption = readEncryption(request);
  const isEncryptionGiven = customerKey !== undefined || encryption !== undefined;
  // A copy of an older version to its own key restores that version.
  const isSelf =
    source.bucket === operation.bucket && source.key === operation.key && source.version === undefined;
  const isRedirectGiven = request.header("x-amz-website-redirect-location") !== undefined;
  const isUnchanged =
    isSelf && !replaces && storageClass === undefined && !isRedirectGiven && !isEncryptionGiven;
  const condition = readWriteCondition(call);
  const given = replaces ? readMetadata(request) : undefined;
  const replacesTags = isReplaced(request, "x-amz-tagging-directive");
  const givenTags = replacesTags ? readTagHeader(request) : undefined;
  const lock = readLock(call);
  const checksum = request.header("x-amz-checksum-algorithm");
  const algorithm = checksum === undefined ? undefined : parseAlgorithm(checksum);
  // Open the source after all other checks, because an open body must be read or cancelled.
  const { found, bucket: sourceBucket } = await openSource(call, source, undefined);
  const { record, bytes } = found;
  const algorithms = algorithm === undefined ? copiedAlgorithms(record) : [algorithm];
  if (isUnchanged && !changesEncryption(call, record)) {
    await bytes.cancel();
    throw illegalSelfCopy();
  }
  if (!replacesTags && record.tags !== undefined) await checkTagCopy(call, source, sourceBucket, found);
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
    encryption,
    condition,
    checksums: algorithms.map((algorithm) => ({ algorithm })),
    passthrough: readPassthrough(
      request,
      algorithms.find((algorithm) => algorithm === "md5"),
    ),
    tags: replacesTags ? givenTags : record.tags,
    lock,
  });
  if (outcome.outcome === "refused") throw refusedWrite(call, outcome.clause);
  const stored = outcome.record;
  return answerXml(
    "CopyObjectResult",
    [
      ["LastModified", isoTime(stored.uploaded)],
      ["ETag", quoteEtag(stored.etag)],
      ...checksumElements(stored),
    ],
    [
      ...newVersionHeaders(stored),
      ...sourceVersionHeaders(sourceBucket, record),
      ...encryptionHeaders(stored.encryption),
      ...expirationHeader(call, stored),
    ],
  );
}

/** Whether a copy that asks for no encryption is encrypted otherwise than its source. */
function changesEncryption({ engine, bucket }: Call, { encryption }: ObjectRecord): boolean {
  const isEncrypted = bucket?.settings.encryption !== undefined || engine.encryption.mode === "always";
  const isSourceStoreEncrypted = encryption?.masterKey !== undefined;
  return isEncrypted ? !isSourceStoreEncrypted : encryption !== undefined;
}

function illegalSelfCopy(): S3Error {
  return new S3Error("InvalidRequest", {
    message:
      "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
  });
}

/** As in S3, copying tags needs the right to read and to write tags, if a policy is what allows it. */
async function checkTagCopy(
  call: Call,
  { key, version }: CopySource,
  sourceBucket: Bucket,
  { bytes }: FoundObject,
): Promise<void> {
  const target = { name: "PutObjectTagging", key: call.operation.key } as const;
  const decisions = [
    await decideTags(call, sourceBucket, { name: "GetObjectTagging", key, version }),
    await decideTags(call, call.bucket!, target),
  ];
  if (!decisions.includes("denied")) return;
  await bytes.cancel();
  throw new S3Error("AccessDenied");
}

/** Without a policy, who may read or write an object may do so with its tags. */
function decideTags(call: Call, bucket: Bucket, wanted: Wanted) {
  return isUnderPolicy(call.caller, bucket) ? decideAccess(call, bucket, wanted) : "allowed";
}

export async function uploadPartCopy(call: Call): Promise<S3Response> {
  const { engine, operation, request } = call;
  const number = parsePartNumber(request.query.get("partNumber"));
  const upload = { key: operation.key, id: request.query.get("uploadId") ?? "" };
  const customerKey = readCustomerKey(request);
  await checkUploadEncryption(call, upload);
  const { found, bucket } = await openSource(call, parseCopySource(request), copyRange(request));
  const source = bytesSource(found);
  const part = await engine.uploadPart(operation.bucket, upload, number, source, {
    customerKey,
    initiator: uploadInitiator(call),
  });
  return answerXml(
    "CopyPartResult",
    [
      ["LastModified", isoTime(part.uploaded)],
      ["ETag", quoteEtag(part.etag)],
      ...partChecksumElements(part.checksums),
    ],
    [...sourceVersionHeaders(bucket, found.record), ...partEncryptionHeaders(part, customerKey)],
  );
}

/** Parses `bucket/key` or `/bucket/key`, percent-encoded, with an optional `?versionId=`. */
function parseCopySource(request: S3Request): CopySource {
  const [path, version] = request.header("x-amz-copy-source")!.split("?versionId=");
  if (version !== undefined) checkVersionId(version, "x-amz-copy-source");
  let text: string;
  try {
    text = decodeURIComponent(Buffer.from(path!, "latin1").toString("utf8").replaceAll("+", "%20"));
  } catch (cause) {
    throw invalidSource(cause);
  }
  const match = /^\/?([^/]+)\/(.+)$/s.exec(text);
  if (match === null) throw invalidSource();
  return { bucket: match[1]!, key: match[2]!, version };
}

function invalidSource(cause?: unknown): S3Error {
  return new S3Error("InvalidArgument", {
    message: "Copy Source must mention the source bucket and key: sourcebucket/sourcekey",
    cause,
  });
}

function isReplaced(request: S3Request, directive: string): boolean {
  const text = request.header(directive) ?? "COPY";
  if (text !== "COPY" && text !== "REPLACE") {
    throw new S3Error("InvalidArgument", { message: `${directive} must be COPY or REPLACE.` });
  }
  return text === "REPLACE";
}

async function openSource(
  call: Call,
  { bucket: name, key, version }: CopySource,
  range: RangeRequest | undefined,
): Promise<OpenSource> {
  const { engine, request } = call;
  const { bucket } = await requireAccess(call, name, { name: "GetObject", key, version });
  const expected = request.header("x-amz-source-expected-bucket-owner");
  if (expected !== undefined && expected !== toOwner(bucket.account).id) throw new S3Error("AccessDenied");
  const outcome = await engine.get(name, key, {
    version,
    condition: readCondition(request, "x-amz-copy-source-"),
    customerKey: readCustomerKey(request, sourceKeyHeaders),
    range,
  });
  if (outcome.outcome === "missing") throw missingSource(key, version, outcome.marker);
  if (outcome.outcome === "refused") throw preconditionFailed(outcome.clause);
  if (range !== undefined && !isInside(range, outcome)) {
    await outcome.bytes.cancel();
    throw new S3Error("InvalidRange", {
      message: "The requested range exceeds the size of the source object.",
    });
  }
  return { found: outcome, bucket };
}

function missingSource(key: string, version: string | undefined, marker: DeleteMarker | undefined): S3Error {
  if (version === undefined) return noSuchKey(key);
  if (marker === undefined) return missingObject({ key, version, method: "GET", marker });
  return new S3Error("InvalidRequest", {
    message: "The source of a copy request may not specifically refer to a delete marker by version id.",
  });
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

/** The checksums of the source are computed again. As in S3, a source without any gets a CRC64NVME. */
function copiedAlgorithms(record: ObjectRecord): readonly ChecksumAlgorithm[] {
  const found = shownAlgorithms(record);
  return found.length === 0 ? ["crc64nvme"] : found;
}
