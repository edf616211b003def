// Completes an upload (spec 3): one commit turns the given parts into the body of an object.
import { Buffer } from "node:buffer";
import type { Bucket } from "../../model/bucket.ts";
import { type ExpectedChecksum, isCyclic, verifyChecksum } from "../../model/checksums/checksum.ts";
import { combineChecksums } from "../../model/checksums/crc-combine.ts";
import { hashBytes } from "../../model/checksums/hashes.ts";
import { StoreError } from "../../model/errors.ts";
import { checkKey, type Key } from "../../model/key.ts";
import { limits } from "../../model/limits.ts";
import type { ObjectRecord } from "../../model/object.ts";
import {
  endUpload,
  isActive,
  multipartEtag,
  type PartRecord,
  type UploadRecord,
} from "../../model/upload.ts";
import { type Context, newId } from "../context.ts";
import { isSameKey } from "../encryption/customer-keys.ts";
import { createdEventMutations } from "../event-outbox.ts";
import type { Check, StoredUpload } from "../records.ts";
import { lockedObjectChecks, withVersioning } from "../versions/protection.ts";
import { evaluateWrite } from "../write-condition.ts";
import { requireBucket } from "../write-path.ts";
import type { CompleteOptions, InitiatorOptions, PartName, UploadName } from "./upload-operations.ts";

export async function complete(
  context: Context,
  bucket: string,
  upload: UploadName,
  parts: readonly PartName[],
  options: CompleteOptions,
): Promise<ObjectRecord> {
  checkKey(upload.key);
  for (;;) {
    const stored = await activeUpload(context, bucket, upload, options);
    try {
      const object = await tryComplete(context, bucket, stored, parts, options);
      if (object !== undefined) return object;
    } catch (error) {
      // The outcome of a failed commit may be unknown, and a retry would hide the failure.
      if (isStorageFailure(error)) throw error;
      // An error about the parts is valid only if the upload has not changed since they were read.
      const now = await activeUpload(context, bucket, upload);
      if (now.revision === stored.revision) throw error;
    }
  }
}

function isStorageFailure(error: unknown): boolean {
  if (!(error instanceof StoreError)) return true;
  return ["ServiceUnavailable", "InsufficientStorage", "InternalError", "Damaged"].includes(error.reason);
}

export async function activeUpload(
  context: Context,
  bucket: string,
  { key, id }: UploadName,
  options: InitiatorOptions = {},
): Promise<StoredUpload> {
  const stored = await context.records.upload(bucket, key, id);
  if (stored !== undefined) checkInitiator(stored.record, options);
  if (stored === undefined || !isActive(stored.record, context.now())) throw new StoreError("NoSuchUpload");
  return stored;
}

export function checkInitiator(upload: UploadRecord, { initiator }: InitiatorOptions): void {
  if (initiator === undefined || initiator === upload.initiator) return;
  throw new StoreError("AccessDenied", {
    detail: "Another caller created the upload, and this one may only use its own uploads.",
  });
}

function checkGivenKey({ encryption }: UploadRecord, given: Uint8Array | undefined): void {
  if (given === undefined || (encryption !== undefined && isSameKey(given, encryption))) return;
  throw new StoreError("InvalidArgument", {
    detail: "The SSE-C key must be the same for the upload and its completion.",
  });
}

async function tryComplete(
  context: Context,
  bucket: string,
  { record: upload, revision }: StoredUpload,
  requested: readonly PartName[],
  options: CompleteOptions,
): Promise<ObjectRecord | undefined> {
  checkGivenKey(upload, options.customerKey);
  const parts = chooseParts(await context.records.parts(bucket, upload.id), requested);
  checkSizes(parts, options.partSizes ?? "uniform", context.s3PartBytes);
  const { key, httpMetadata, customMetadata, storageClass, encryption } = upload;
  const bucketRecord = await requireBucket(context, bucket);
  const replaced = await checkReplaced(context, bucketRecord, upload.key, options);
  const { tags, lock, passthrough } = upload;
  const object = withVersioning(context, bucketRecord, {
    key,
    version: newId(context),
    size: parts.reduce((sum, part) => sum + part.size, 0),
    etag: multipartEtag(parts.map(({ etag }) => etag)),
    uploaded: context.now(),
    httpMetadata,
    customMetadata,
    storageClass,
    ...wholeChecksum(upload, parts, options),
    ...(encryption === undefined ? {} : { encryption }),
    ...(tags === undefined ? {} : { tags }),
    ...(lock === undefined ? {} : { lock }),
    ...(passthrough === undefined ? {} : { passthrough }),
  });
  if (object.size > limits.objectBytes) throw new StoreError("EntityTooLarge");
  if (options.size !== undefined && options.size !== object.size) {
    throw new StoreError("InvalidArgument", {
      detail: `The parts have ${object.size} bytes in total, not the declared ${options.size}.`,
    });
  }
  const body = parts.map(({ number, size, blob, stored, checksums }) => ({
    number,
    size,
    blob: { id: blob, size: stored },
    ...(checksums === undefined ? {} : { checksums }),
  }));
  const result = { version: object.version, etag: object.etag };
  const locked = await lockedObjectChecks(context, bucketRecord, key);
  const outcome = await context.quotas.commit(bucketRecord, {
    checks: [{ kind: "upload", key, id: upload.id, revision }, ...replaced, ...locked],
    protection: bucketRecord.settings,
    mutations: [
      { kind: "put object", record: object, body: { storage: "parts", parts: body } },
      { kind: "put upload", record: { ...endUpload(upload, "completed", context.now()), result } },
      { kind: "end parts", uploadId: upload.id, taken: parts.map(({ number }) => number) },
      ...createdEventMutations(context, bucketRecord, "s3:ObjectCreated:CompleteMultipartUpload", object),
    ],
  });
  return outcome === "committed" ? object : undefined;
}

/** Returns the requested parts, sorted by number. */
function chooseParts(stored: readonly PartRecord[], requested: readonly PartName[]): PartRecord[] {
  if (requested.length === 0) throw new StoreError("InvalidPart");
  const byNumber = new Map(stored.map((part) => [part.number, part]));
  const chosen = requested.map(({ number, etag, checksum }) => {
    const part = byNumber.get(number);
    if (part === undefined || part.etag !== etag || !hasChecksum(part, checksum)) {
      throw new StoreError("InvalidPart");
    }
    return part;
  });
  if (new Set(chosen).size !== chosen.length) throw new StoreError("UnevenParts");
  return chosen.sort((a, b) => a.number - b.number);
}

/** A checksum that the part does not have cannot be verified, so the part is not the expected one. */
function hasChecksum({ checksums }: PartRecord, expected: ExpectedChecksum | undefined): boolean {
  if (expected === undefined) return true;
  const actual = checksums?.[expected.algorithm];
  if (actual === undefined || !(expected.value instanceof Uint8Array)) return false;
  return Buffer.compare(expected.value, actual) === 0;
}

/** Computes the object's checksum from its parts' checksums, and verifies the expected value. */
function wholeChecksum(
  { checksum }: UploadRecord,
  parts: readonly PartRecord[],
  { checksum: expected, checksumOf }: CompleteOptions,
): Pick<ObjectRecord, "checksums" | "checksumParts"> {
  const isOther = expected !== undefined && expected.algorithm !== checksum?.algorithm;
  if (isOther || (checksumOf !== undefined && checksumOf !== checksum?.of)) {
    throw new StoreError("InvalidArgument", {
      detail: "The checksum algorithm and type must be those with which the upload was created.",
    });
  }
  if (checksum === undefined) return { checksums: {} };
  const { algorithm } = checksum;
  const values = parts.map(({ size, checksums }) => ({ size, value: checksums![algorithm]! }));
  const isOfParts = checksum.of === "parts" || !isCyclic(algorithm);
  const whole = isOfParts
    ? hashBytes(algorithm, Buffer.concat(values.map(({ value }) => value)))
    : combineChecksums(algorithm, values);
  if (expected !== undefined) verifyChecksum(expected, whole);
  return { checksums: { [algorithm]: whole }, ...(isOfParts ? { checksumParts: parts.length } : {}) };
}

/** Evaluates the condition. Returns a check that fails the commit if the version has changed. */
async function checkReplaced(
  context: Context,
  bucket: Bucket,
  key: Key,
  { condition }: CompleteOptions,
): Promise<Check[]> {
  const evaluation = await evaluateWrite(context, bucket, key, condition);
  if (evaluation === undefined) return [];
  if (evaluation.clause !== undefined) throw new StoreError("PreconditionFailed");
  return [{ kind: "object", key, version: evaluation.version }];
}

function checkSizes(parts: readonly PartRecord[], rule: "uniform" | "s3", minBytes: number): void {
  const last = parts.at(-1)!;
  const leading = parts.slice(0, -1);
  if (rule === "s3") {
    if (leading.some(({ size }) => size < minBytes)) throw new StoreError("EntityTooSmall");
    return;
  }
  const size = leading[0]?.size ?? last.size;
  if (leading.some((part) => part.size !== size) || last.size > size) throw new StoreError("UnevenParts");
}
