// Multipart uploads: create, upload parts, complete, abort and list parts.
import type { CompletedUpload, PartName, UploadName } from "../../engine/uploads/upload-operations.ts";
import { parseHttpDate } from "../../http/headers.ts";
import { StoreError } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { UploadedPart } from "../../model/upload.ts";
import {
  checksumElements,
  completionChecksum,
  completionChecksumOf,
  expectedChecksums,
  partChecksum,
  partChecksumElements,
  partChecksumHeaders,
  uploadChecksum,
} from "../body/checksums.ts";
import { readWholePayload } from "../body/payload.ts";
import { childText, findChildren, readXml } from "../body/xml-reader.ts";
import { answer, answerXml, type Call, isoTime, ownerElements, quoteEtag, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import { readWriteCondition, refusedWrite, uploadInitiator } from "../headers/conditions.ts";
import { givenKeyHeaders, readCustomerKey } from "../headers/customer-key.ts";
import { readLock } from "../headers/lock.ts";
import { readMetadata } from "../headers/metadata.ts";
import { expirationHeader } from "../headers/object-headers.ts";
import { parseStorageClass, readPassthrough, shownStorageClass } from "../headers/passthrough.ts";
import {
  checkUploadEncryption,
  encryptionHeader,
  encryptionHeaders,
  readEncryption,
} from "../headers/server-side-encryption.ts";
import { readTagHeader } from "../headers/tags.ts";
import { newVersionHeaders } from "../headers/versions.ts";
import { numberParameter } from "./listing.ts";
import { noSuchKey, parsePartNumber } from "./objects.ts";

export async function createMultipartUpload(call: Call): Promise<S3Response> {
  const { engine, operation, request } = call;
  const { bucket, key } = operation;
  const checksum = uploadChecksum(request);
  const upload = await engine.createUpload(bucket, key, {
    ...readMetadata(request),
    storageClass: parseStorageClass(request.header("x-amz-storage-class")),
    customerKey: readCustomerKey(request),
    encryption: readEncryption(request),
    checksum,
    tags: readTagHeader(request),
    lock: readLock(call),
    passthrough: readPassthrough(request, checksum?.algorithm),
    initiator: uploadInitiator(call),
  });
  const headers: [string, string][] = encryptionHeaders(upload.encryption);
  if (checksum !== undefined) {
    headers.push(["x-amz-checksum-algorithm", checksum.algorithm.toUpperCase()]);
    headers.push(["x-amz-checksum-type", checksum.of === "parts" ? "COMPOSITE" : "FULL_OBJECT"]);
  }
  return answerXml(
    "InitiateMultipartUploadResult",
    [
      ["Bucket", bucket],
      ["Key", key],
      ["UploadId", upload.id],
    ],
    headers,
  );
}

function readUploadName({ operation, request }: Call): UploadName {
  return { key: operation.key, id: request.query.get("uploadId") ?? "" };
}

export async function uploadPart(call: Call): Promise<S3Response> {
  const { engine, operation, request, payload } = call;
  const number = parsePartNumber(request.query.get("partNumber"));
  if (!request.http.hasBody) throw new S3Error("MissingContentLength");
  const customerKey = readCustomerKey(request);
  const upload = readUploadName(call);
  await checkUploadEncryption(call, upload);
  const part = await engine.uploadPart(
    operation.bucket,
    upload,
    number,
    payload.bufferedBytes() ?? payload.source,
    { customerKey, checksums: expectedChecksums(request, payload), initiator: uploadInitiator(call) },
  );
  const headers = [...partChecksumHeaders(part.checksums), ...partEncryptionHeaders(part, customerKey)];
  return answer(200, [["etag", quoteEtag(part.etag)], ...headers]);
}

export function partEncryptionHeaders(
  { isStoreEncrypted }: UploadedPart,
  customerKey: Uint8Array | undefined,
): [string, string][] {
  return isStoreEncrypted === true ? [[encryptionHeader, "AES256"]] : givenKeyHeaders(customerKey);
}

export async function completeMultipartUpload(call: Call): Promise<S3Response> {
  const { engine, operation, request, payload } = call;
  const { bucket, key } = operation;
  const upload = readUploadName(call);
  const parts = readParts(await readWholePayload(payload, 4 * 1024 * 1024));
  const condition = readWriteCondition(call);
  try {
    await checkUploadEncryption(call, upload);
    const record = await engine.completeUpload(bucket, upload, parts, {
      partSizes: "s3",
      initiator: uploadInitiator(call),
      condition,
      customerKey: readCustomerKey(request),
      checksum: completionChecksum(request),
      checksumOf: completionChecksumOf(request),
      size: parseObjectSize(request.header("x-amz-mp-object-size")),
    });
    return completedResponse(call, record);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.reason === "PreconditionFailed") {
      const isMissing =
        condition?.etagMatches !== undefined && (await engine.head(bucket, key)) === undefined;
      if (isMissing) throw noSuchKey(key);
      if (!call.canOverwrite) throw refusedWrite(call, "etagDoesNotMatch");
    }
    // A client that did not get the first response retries: return the same result.
    const earlier =
      error.reason === "NoSuchUpload" ? await engine.completedUpload(bucket, upload) : undefined;
    if (earlier === undefined) throw error;
    return completedResponse(call, (await findCompleted(call, earlier)) ?? earlier);
  }
}

/** If the object was overwritten since, only the etag of the upload is still known. */
async function findCompleted(
  { engine, operation, bucket }: Call,
  { version }: CompletedUpload,
): Promise<ObjectRecord | undefined> {
  const options = bucket?.settings.versioning === undefined ? {} : { version };
  const record = await engine.head(operation.bucket, operation.key, options);
  return record?.version === version ? record : undefined;
}

async function completedResponse(call: Call, result: ObjectRecord | CompletedUpload): Promise<S3Response> {
  const { operation, request } = call;
  const { bucket, key } = operation;
  const isWhole = "checksums" in result;
  const host = request.header("host") ?? "localhost";
  return answerXml(
    "CompleteMultipartUploadResult",
    [
      ["Location", `${request.http.scheme}://${host}${request.canonicalPath}`],
      ["Bucket", bucket],
      ["Key", key],
      ["ETag", quoteEtag(result.etag)],
      ...(isWhole ? checksumElements(result) : []),
    ],
    isWhole
      ? [
          ...newVersionHeaders(result),
          ...encryptionHeaders(result.encryption),
          ...expirationHeader(call, result),
        ]
      : [],
  );
}

function parseObjectSize(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new S3Error("InvalidRequest", { message: "Value for x-amz-mp-object-size header is invalid." });
}

function readParts(bytes: Uint8Array): PartName[] {
  // Each Part element contains a number, an etag and checksums: fewer than ten elements.
  const markup = 10 * limits.partNumber;
  const nodes = findChildren(readXml(bytes, "CompleteMultipartUpload", { markup }), "Part");
  if (nodes.length === 0 || nodes.length > limits.partNumber) throw new S3Error("MalformedXML");
  const parts = nodes.map((node) => {
    const number = Number(childText(node, "PartNumber")?.trim() || Number.NaN);
    const etag = childText(node, "ETag")?.trim();
    if (!Number.isInteger(number) || etag === undefined) throw new S3Error("MalformedXML");
    const checksum = partChecksum((name) => childText(node, name)?.trim());
    return { number, etag: etag.replace(/^"|"$/g, ""), ...(checksum === undefined ? {} : { checksum }) };
  });
  for (const [i, { number }] of parts.entries()) {
    if (i > 0 && number <= parts[i - 1]!.number) throw new S3Error("InvalidPartOrder");
  }
  return parts;
}

export async function abortMultipartUpload(call: Call): Promise<S3Response> {
  const { engine, operation, request } = call;
  const upload = readUploadName(call);
  const initiated = request.header("x-amz-if-match-initiated-time");
  if (initiated !== undefined) {
    const expected = parseHttpDate(initiated);
    if (expected === undefined)
      throw new S3Error("InvalidArgument", { message: "x-amz-if-match-initiated-time is not a date." });
    // The creation time of an upload never changes, so it need not be checked with the abort.
    const { upload: found } = await engine.listParts(operation.bucket, upload, { limit: 1 });
    if (Math.floor(found.created / 1000) !== Math.floor(expected / 1000)) {
      throw new S3Error("PreconditionFailed", { details: { Condition: "x-amz-if-match-initiated-time" } });
    }
  }
  await engine.abortUpload(operation.bucket, upload, { initiator: uploadInitiator(call) });
  return answer(204);
}

export async function listParts(call: Call): Promise<S3Response> {
  const { engine, operation, request, caller } = call;
  const { bucket, key } = operation;
  const limit = numberParameter(request.query, "max-parts", 1000);
  const after = numberParameter(request.query, "part-number-marker", 0, limits.partNumber * 1000);
  const { upload, parts, isTruncated } = await engine.listParts(bucket, readUploadName(call), {
    after,
    limit,
    initiator: uploadInitiator(call),
  });
  const owner = ownerElements(caller.account);
  return answerXml("ListPartsResult", [
    ["Bucket", bucket],
    ["Key", key],
    ["UploadId", upload.id],
    ["PartNumberMarker", after],
    ["NextPartNumberMarker", isTruncated ? parts.at(-1)?.number : undefined],
    ["MaxParts", limit],
    ["IsTruncated", isTruncated],
    ...(upload.checksum === undefined
      ? []
      : ([
          ["ChecksumAlgorithm", upload.checksum.algorithm.toUpperCase()],
          ["ChecksumType", upload.checksum.of === "parts" ? "COMPOSITE" : "FULL_OBJECT"],
        ] as const)),
    ["Initiator", owner],
    ["Owner", owner],
    ["StorageClass", shownStorageClass(upload)],
    ...parts.map(
      (part) =>
        [
          "Part",
          [
            ["PartNumber", part.number],
            ["LastModified", isoTime(part.uploaded)],
            ["ETag", quoteEtag(part.etag)],
            ["Size", part.size],
            ...partChecksumElements(part.checksums),
          ],
        ] as const,
    ),
  ]);
}
