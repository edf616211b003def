// The operations of the protocol that write: put, delete and those of multipart uploads.
import type { Source } from "../../engine/engine.ts";
import { StoreError } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import type { Fields } from "../../model/shape.ts";
import { invalid, reasonResponse } from "./errors.ts";
import { checkNames, itemFields, optionalList, optionalText, requiredCount, requiredText } from "./fields.ts";
import { allFields, toObjectJson } from "./object-json.ts";
import type { Operation } from "./operation.ts";
import { readCondition, readCustomerKey } from "./read-options.ts";
import { jsonResponse } from "./responses.ts";
import { readChecksums, readWriteOptions, writeFieldNames } from "./write-options.ts";

const putFields = [
  ...["version", "method", "object", "onlyIf", "md5", "sha1", "sha256", "sha384", "sha512"],
  ...writeFieldNames,
];

export const put: Operation = async ({ engine, bucket }, fields, source) => {
  checkNames(fields, putFields, "put");
  const result = await engine.put(bucket, requiredText(fields, "object"), source, {
    ...readWriteOptions(fields),
    condition: readCondition(fields),
    checksums: readChecksums(fields),
  });
  return result.outcome === "refused"
    ? reasonResponse("PreconditionFailed")
    : jsonResponse(toObjectJson(result.record, allFields));
};

export const remove: Operation = async ({ engine, bucket }, fields, source) => {
  checkNames(fields, ["version", "method", "object", "objects"], "delete");
  refuseBytes(source);
  await engine.delete(bucket, readKeys(fields));
  return jsonResponse({});
};

function readKeys(fields: Fields): readonly string[] {
  const key = optionalText(fields, "object");
  const { objects } = fields;
  if (Array.isArray(objects) && objects.length > limits.deleteKeys) throw new StoreError("TooManyKeys");
  const keys = optionalList(fields, "objects", { max: limits.deleteKeys, read: readKey });
  if (key !== undefined && keys === undefined) return [key];
  if (keys !== undefined && key === undefined) return keys;
  throw invalid('A delete needs one of the fields "object" and "objects".');
}

function readKey(item: unknown): string {
  if (typeof item === "string") return item;
  throw invalid('Each item of "objects" must be a string.');
}

const createFields = ["version", "method", "object", ...writeFieldNames];

export const createMultipartUpload: Operation = async ({ engine, bucket }, fields, source) => {
  checkNames(fields, createFields, "createMultipartUpload");
  refuseBytes(source);
  const key = requiredText(fields, "object");
  const { id, encryption } = await engine.createUpload(bucket, key, readWriteOptions(fields));
  const keyMd5 = encryption?.keyMd5;
  return jsonResponse({
    uploadId: id,
    ...(keyMd5 === undefined ? {} : { ssec: { algorithm: "AES256", keyMd5 } }),
  });
};

const partFields = ["version", "method", "object", "uploadId", "partNumber", "ssec"];

export const uploadPart: Operation = async ({ engine, bucket }, fields, source) => {
  checkNames(fields, partFields, "uploadPart");
  const number = readPartNumber(fields, "partNumber");
  const customerKey = readCustomerKey(fields);
  const { etag } = await engine.uploadPart(bucket, readUpload(fields), number, source, { customerKey });
  return jsonResponse({ etag });
};

export const completeMultipartUpload: Operation = async ({ engine, bucket }, fields, source) => {
  checkNames(fields, ["version", "method", "object", "uploadId", "parts"], "completeMultipartUpload");
  refuseBytes(source);
  const parts = optionalList(fields, "parts", { max: limits.partNumber, read: readPart });
  const record = await engine.completeUpload(bucket, readUpload(fields), parts ?? []);
  return jsonResponse(toObjectJson(record, allFields));
};

export const abortMultipartUpload: Operation = async ({ engine, bucket }, fields, source) => {
  checkNames(fields, ["version", "method", "object", "uploadId"], "abortMultipartUpload");
  refuseBytes(source);
  await engine.abortUpload(bucket, readUpload(fields));
  return jsonResponse({});
};

function readUpload(fields: Fields) {
  return { key: requiredText(fields, "object"), id: requiredText(fields, "uploadId") };
}

function readPart(item: unknown) {
  const part = itemFields(item, ["etag", "part"], "parts");
  return { number: readPartNumber(part, "part"), etag: requiredText(part, "etag") };
}

function readPartNumber(fields: Fields, name: string): number {
  const number = requiredCount(fields, name);
  if (number >= 1 && number <= limits.partNumber) return number;
  throw invalid(`Part number must be between 1 and ${limits.partNumber} (inclusive), not ${number}.`);
}

/** Bytes where none belong are an error of the sender, which must not lose them silently. */
function refuseBytes(source: Source): void {
  if (source.length !== 0) throw invalid("Only put and uploadPart have bytes after the metadata.");
}
