// Converts the options of a bucket's methods to options of the engine.
import type { ListOptions, PutOptions } from "../engine/engine.ts";
import type { UploadOptions } from "../engine/uploads/upload-operations.ts";
import {
  checksumArgument,
  conditionArgument,
  customerKeyArgument,
  customMetadataArgument,
  type Fields,
  httpMetadataArgument,
  limitArgument,
  stringField,
} from "./arguments.ts";
import type { Compatibility } from "./compatibility.ts";
import { allMetadata, type IncludedMetadata } from "./object.ts";
import { lockField, tagsField, timeArgument } from "./version-arguments.ts";

export function putOptions(given: Fields): PutOptions {
  const { httpMetadata, customMetadata, storageClass, customerKey, tags, lock } = writeOptions(given);
  const condition = conditionArgument(given);
  const checksums = checksumArgument(given);
  return { httpMetadata, customMetadata, storageClass, customerKey, tags, lock, condition, checksums };
}

export function writeOptions(given: Fields): UploadOptions {
  return {
    httpMetadata: httpMetadataArgument(given),
    customMetadata: customMetadataArgument(given),
    storageClass: stringField(given, "storageClass"),
    customerKey: customerKeyArgument(given),
    tags: tagsField(given),
    lock: lockField(given),
  };
}

export function listOptions(given: Fields, included: IncludedMetadata): ListOptions {
  return {
    prefix: stringField(given, "prefix"),
    delimiter: stringField(given, "delimiter"),
    cursor: cursorField(given),
    startAfter: stringField(given, "startAfter"),
    limit: limitArgument(given),
    withMetadata: included.http || included.custom || included.tags,
    time: timeArgument(given),
  };
}

/** A missing query parameter often becomes an empty cursor: start at the first page. */
export function cursorField(given: Fields): string | undefined {
  return stringField(given, "cursor") || undefined;
}

export function includedMetadata(given: Fields, { honorInclude }: Compatibility): IncludedMetadata {
  if (!honorInclude) return allMetadata;
  const include = given.include ?? [];
  if (
    !Array.isArray(include) ||
    !include.every((name) => name === "httpMetadata" || name === "customMetadata" || name === "tags")
  ) {
    throw new TypeError('"include" must be an array of "httpMetadata", "customMetadata" and "tags".');
  }
  return {
    http: include.includes("httpMetadata"),
    custom: include.includes("customMetadata"),
    tags: include.includes("tags"),
  };
}
