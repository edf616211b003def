// Converts arguments of scripts to arguments of the engine. Invalid arguments throw a TypeError or
// a RangeError before any work is done.
import { Buffer } from "node:buffer";
import { types } from "node:util";
import { conditionFromHeaders, metadataFromHeaders, rangeFromHeader } from "../http/headers.ts";
import {
  checksumAlgorithms,
  checksumLengths,
  checksumNames,
  type ExpectedChecksum,
} from "../model/checksums/checksum.ts";
import type { Condition, EtagCondition } from "../model/condition.ts";
import { limits } from "../model/limits.ts";
import { metadataHeaders } from "../model/metadata.ts";
import type { HttpMetadata } from "../model/object.ts";
import type { RangeRequest } from "../model/range.ts";

/** Taken at load, because scripts replace globals; it recognizes the Headers of scripts too. */
const { Headers } = globalThis;

export type Fields = Readonly<Record<string, unknown>>;

/** Converts the value to a string like JavaScript's ToString: a Symbol throws a TypeError. */
export function stringArgument(value: unknown, name: string): string {
  if (value === undefined) throw new TypeError(`The argument "${name}" is missing.`);
  return `${value as string}`;
}

/** Returns the options; empty for undefined and null. */
export function optionsArgument(value: unknown, name = "options"): Fields {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object") throw new TypeError(`"${name}" must be an object, not ${describe(value)}.`);
  return value as Fields;
}

/** Refuses values that are not strings: converting a prefix or a cursor would hide a mistake. */
export function stringField(options: Fields, name: string): string | undefined {
  const value = options[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new TypeError(`"${name}" must be a string, not ${describe(value)}.`);
  return value;
}

export function toBytes(value: unknown): Uint8Array | undefined {
  if (types.isAnyArrayBuffer(value)) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return undefined;
}

export function describe(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (typeof value !== "object") return typeof value;
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" ? name : "an object";
}

export function customerKeyArgument(options: Fields): Uint8Array | undefined {
  const value = options.ssecKey;
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && !/^([0-9a-f]{2})*$/i.test(value))
    throw new TypeError("SSE-C Key has invalid format");
  const key = typeof value === "string" ? Buffer.from(value, "hex") : toBytes(value);
  if (key === undefined) throw new TypeError("SSE-C Key has invalid format");
  if (key.length !== limits.ssecKeyBytes) throw new TypeError("SSE-C Key must be 32 bytes in length");
  return Uint8Array.from(key);
}

export function checksumArgument(options: Fields): readonly ExpectedChecksum[] {
  let algorithm: (typeof checksumAlgorithms)[number] | undefined;
  for (const one of checksumAlgorithms) {
    if (options[one] === undefined || options[one] === null) continue;
    if (algorithm !== undefined) throw new TypeError("You cannot specify multiple hashing algorithms.");
    algorithm = one;
  }
  if (algorithm === undefined) return [];
  const value = options[algorithm];
  const length = checksumLengths[algorithm];
  const isHex = typeof value === "string" && /^([0-9a-f]{2})*$/i.test(value);
  const bytes = isHex ? Buffer.from(value, "hex") : toBytes(value);
  if (bytes?.length !== length) {
    throw new TypeError(
      `"${algorithm}" must be ${length} bytes or ${length * 2} hex digits: ${checksumNames[algorithm]} has no other length.`,
    );
  }
  return [{ algorithm, value: Uint8Array.from(bytes) }];
}

export function conditionArgument(options: Fields): Condition | undefined {
  if (options.onlyIf === undefined) return undefined;
  const given = optionsArgument(options.onlyIf, "onlyIf");
  if (given instanceof Headers) return conditionFromHeaders(given);
  const etagMatches = etagField(given, "etagMatches");
  const etagDoesNotMatch = etagField(given, "etagDoesNotMatch");
  const uploadedBefore = dateField(given, "uploadedBefore");
  const uploadedAfter = dateField(given, "uploadedAfter");
  const condition = {
    ...(etagMatches === undefined ? {} : { etagMatches }),
    ...(etagDoesNotMatch === undefined ? {} : { etagDoesNotMatch }),
    ...(uploadedBefore === undefined ? {} : { uploadedBefore }),
    ...(uploadedAfter === undefined ? {} : { uploadedAfter }),
  };
  if (Object.keys(condition).length === 0) return undefined;
  return { ...condition, secondsGranularity: Boolean(given.secondsGranularity) };
}

function etagField(given: Fields, name: string): EtagCondition | undefined {
  const etag = stringField(given, name);
  if (etag === undefined || etag === "*") return etag;
  if (/^(W\/)?"|"$/.test(etag)) {
    throw new TypeError(`"${name}" must be an etag without quotes: pass etag, not httpEtag.`);
  }
  return [{ value: etag, weak: false }];
}

export function dateField(given: Fields, name: string): number | undefined {
  const value = given[name];
  if (value === undefined || value === null) return undefined;
  const time = value instanceof Date ? value.getTime() : value;
  if (typeof time !== "number" || Number.isNaN(time)) {
    throw new TypeError(`"${name}" must be a valid Date or a number of milliseconds.`);
  }
  return time;
}

export function rangeArgument(options: Fields): RangeRequest | undefined {
  const given = optionsArgument(options.range, "range");
  if (given instanceof Headers) return rangeFromHeader(given.get("range"));
  const offset = countField(given, "offset");
  const length = countField(given, "length");
  const suffix = countField(given, "suffix");
  if (suffix !== undefined) {
    if (offset !== undefined || length !== undefined) {
      throw new TypeError('"suffix" cannot be combined with "offset" or "length" in a range.');
    }
    return { suffix };
  }
  if (offset === undefined && length === undefined) return undefined;
  return { ...(offset === undefined ? {} : { offset }), ...(length === undefined ? {} : { length }) };
}

function countField(given: Fields, name: string): number | undefined {
  const value = given[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number") throw new TypeError(`"${name}" must be a number, not ${describe(value)}.`);
  if (!Number.isInteger(value) || value < 0) {
    throw new RangeError(`"${name}" must be a whole number of bytes, 0 or more: ${value}`);
  }
  return value;
}

export function httpMetadataArgument(options: Fields): HttpMetadata {
  if (options.httpMetadata === undefined) return {};
  const given = optionsArgument(options.httpMetadata, "httpMetadata");
  if (given instanceof Headers) return checkText(metadataFromHeaders(given));
  const metadata: Record<string, string | number> = {};
  for (const [name] of metadataHeaders) {
    const value = given[name];
    if (value === undefined || value === null) continue;
    metadata[name] = name === "cacheExpiry" ? expiryField(given, name) : stringArgument(value, name);
  }
  return checkText(metadata);
}

/** Returns a time within the range of Date, so that it can be written as a header. */
function expiryField(given: Fields, name: string): number {
  const time = dateField(given, name)!;
  if (!Number.isNaN(new Date(time).getTime())) return time;
  throw new TypeError(`"${name}" must be a valid Date or a number of milliseconds.`);
}

function checkText(metadata: HttpMetadata): HttpMetadata {
  for (const [name, value] of Object.entries(metadata)) {
    if (typeof value !== "string") continue;
    if (/[\x00-\x1f\x7f]/.test(value) || !value.isWellFormed()) {
      throw new TypeError(
        `"${name}" contains a control character or a lone surrogate, which a header cannot carry.`,
      );
    }
  }
  return metadata;
}

export function customMetadataArgument(options: Fields): ReadonlyMap<string, string> {
  const given = optionsArgument(options.customMetadata, "customMetadata");
  const metadata = new Map<string, string>();
  for (const name of Object.keys(given)) {
    const value = `${given[name] as string}`;
    if (!name.isWellFormed() || !value.isWellFormed()) {
      throw new TypeError(`Custom metadata "${name.toWellFormed()}" contains a lone surrogate.`);
    }
    metadata.set(name, value);
  }
  return metadata;
}

/** Accepts a string, as from a query parameter. Other values become NaN, which is refused. */
export function limitArgument(options: Fields): number | undefined {
  const { limit } = options;
  if (limit === undefined || limit === null || limit === "") return undefined;
  if (typeof limit === "number") return limit;
  return typeof limit === "string" && /^\s*[+-]?[0-9]+\s*$/.test(limit) ? Number(limit) : Number.NaN;
}

export function partNumberArgument(value: unknown): number {
  const number = Math.trunc(Number(value));
  if (!(number >= 1 && number <= limits.partNumber)) {
    const isPlain = typeof value === "string" || Number.isFinite(value);
    const given = isPlain ? ` ${value as string | number}` : "";
    throw new TypeError(
      `Part number must be between 1 and ${limits.partNumber} (inclusive), not ${describe(value)}${given}.`,
    );
  }
  return number;
}
