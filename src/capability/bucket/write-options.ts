// Reads the options of writes: metadata, storage class, customer key and checksums.
import type { UploadOptions } from "../../engine/uploads/upload-operations.ts";
import {
  checksumAlgorithms,
  checksumLengths,
  type ExpectedChecksum,
} from "../../model/checksums/checksum.ts";
import { StoreError } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import { metadataHeaders } from "../../model/metadata.ts";
import type { CustomMetadata, HttpMetadata } from "../../model/object.ts";
import type { Fields } from "../../model/shape.ts";
import { invalid } from "./errors.ts";
import {
  checkNames,
  itemFields,
  optionalFields,
  optionalList,
  optionalText,
  optionalTime,
  requiredText,
} from "./fields.ts";
import { readCustomerKey } from "./read-options.ts";

export const writeFieldNames = ["customFields", "httpFields", "storageClass", "ssec"] as const;

export function readWriteOptions(fields: Fields): UploadOptions {
  return {
    httpMetadata: readHttpMetadata(fields),
    customMetadata: readCustomMetadata(fields),
    storageClass: optionalText(fields, "storageClass"),
    customerKey: readCustomerKey(fields),
  };
}

function readHttpMetadata(fields: Fields): HttpMetadata {
  const given = optionalFields(fields, "httpFields");
  if (given === undefined) return {};
  const names = metadataHeaders.map(([name]) => name);
  checkNames(given, names, "httpFields");
  const metadata: Record<string, string | number> = {};
  for (const name of names) {
    const value = name === "cacheExpiry" ? optionalTime(given, name) : optionalText(given, name);
    if (value === undefined) continue;
    if (typeof value === "string" && (/[\x00-\x1f\x7f]/.test(value) || !value.isWellFormed())) {
      throw invalid(
        `"${name}" contains a control character or a lone surrogate, which a header cannot carry.`,
      );
    }
    metadata[name] = value;
  }
  return metadata;
}

function readCustomMetadata(fields: Fields): CustomMetadata {
  const metadata = new Map<string, string>();
  const entries = fields.customFields;
  // Without this check, a list of many empty names would get the message of a malformed request.
  if (Array.isArray(entries) && entries.length > limits.customMetadataBytes) {
    throw new StoreError("MetadataTooLarge");
  }
  const read = (item: unknown) => {
    const entry = itemFields(item, ["k", "v"], "customFields");
    const name = requiredText(entry, "k");
    const value = requiredText(entry, "v");
    if (!name.isWellFormed() || !value.isWellFormed()) {
      throw invalid(`Custom metadata "${name.toWellFormed()}" contains a lone surrogate.`);
    }
    if (metadata.has(name)) throw invalid(`Custom metadata "${name}" is given twice.`);
    metadata.set(name, value);
  };
  optionalList(fields, "customFields", { max: limits.customMetadataBytes, read });
  return metadata;
}

export function readChecksums(fields: Fields): readonly ExpectedChecksum[] {
  const given = checksumAlgorithms.filter((algorithm) => fields[algorithm] !== undefined);
  if (given.length > 1) throw invalid("You cannot specify multiple hashing algorithms.");
  return given.map((algorithm) => {
    const text = requiredText(fields, algorithm);
    // The schema of the protocol has MD5 in base64 and all others in hexadecimal.
    const encoding = algorithm === "md5" ? "base64" : "hex";
    const value = Buffer.from(text, encoding);
    const isExact = value.toString(encoding) === (encoding === "hex" ? text.toLowerCase() : text);
    if (!isExact || value.length !== checksumLengths[algorithm]) {
      throw invalid(`The field "${algorithm}" must be ${checksumLengths[algorithm]} bytes in ${encoding}.`);
    }
    return { algorithm, value: Uint8Array.from(value) };
  });
}
