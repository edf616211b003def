// Reads the options of reads: condition, range and customer key.
import { rangeFromHeader } from "../../http/headers.ts";
import type { Condition, EntityTag, EtagCondition } from "../../model/condition.ts";
import type { RangeRequest } from "../../model/range.ts";
import type { Fields } from "../../model/shape.ts";
import { invalid } from "./errors.ts";
import {
  checkNames,
  itemFields,
  optionalCount,
  optionalFields,
  optionalFlag,
  optionalList,
  optionalText,
  optionalTime,
  requiredText,
} from "./fields.ts";

const maxEtags = 1000;

export function readCondition(fields: Fields): Condition | undefined {
  const given = optionalFields(fields, "onlyIf");
  if (given === undefined) return undefined;
  checkNames(
    given,
    ["etagMatches", "etagDoesNotMatch", "uploadedBefore", "uploadedAfter", "secondsGranularity"],
    "onlyIf",
  );
  const etagMatches = readEtags(given, "etagMatches");
  const etagDoesNotMatch = readEtags(given, "etagDoesNotMatch");
  const uploadedBefore = optionalTime(given, "uploadedBefore");
  const uploadedAfter = optionalTime(given, "uploadedAfter");
  const secondsGranularity = optionalFlag(given, "secondsGranularity");
  return {
    ...(etagMatches === undefined ? {} : { etagMatches }),
    ...(etagDoesNotMatch === undefined ? {} : { etagDoesNotMatch }),
    ...(uploadedBefore === undefined ? {} : { uploadedBefore }),
    ...(uploadedAfter === undefined ? {} : { uploadedAfter }),
    secondsGranularity,
    // Whole seconds mean If-Unmodified-Since, which the exact date passes (RFC 9110 13.1.4).
    beforeIsInclusive: secondsGranularity,
  };
}

function readEtags(given: Fields, name: string): EtagCondition | undefined {
  const tags = optionalList(given, name, { max: maxEtags, read: (item) => readEtag(item, name) });
  if (tags?.length === 0) throw invalid(`The field "${name}" has no etag.`);
  if (tags === undefined || tags.includes("*")) return tags === undefined ? undefined : "*";
  return tags.filter((tag) => tag !== "*");
}

function readEtag(item: unknown, name: string): EntityTag | "*" {
  const fields = itemFields(item, ["type", "value"], "the etags");
  const type = requiredText(fields, "type");
  if (type === "wildcard") return "*";
  if (type !== "strong" && type !== "weak") {
    throw invalid("The type of an etag must be strong, weak or wildcard.");
  }
  const value = requiredText(fields, "value");
  // The runtime passes W/"…" on, which would match nothing: with etagDoesNotMatch, a put overwrites.
  if (/^(W\/)?"|"$/.test(value)) {
    throw invalid(`"${name}" must be an etag without quotes: pass etag, not httpEtag.`);
  }
  return { value, weak: type === "weak" };
}

export function readRange(fields: Fields): RangeRequest | undefined {
  const header = optionalText(fields, "rangeHeader");
  const given = optionalFields(fields, "range");
  if (header !== undefined) {
    if (given !== undefined) throw invalid('The fields "range" and "rangeHeader" exclude each other.');
    return rangeFromHeader(header);
  }
  if (given === undefined) return undefined;
  checkNames(given, ["offset", "length", "suffix"], "range");
  const offset = optionalCount(given, "offset");
  const length = optionalCount(given, "length");
  const suffix = optionalCount(given, "suffix");
  if (suffix !== undefined) {
    if (offset === undefined && length === undefined) return { suffix };
    throw invalid('"suffix" cannot be combined with "offset" or "length" in a range.');
  }
  if (offset === undefined && length === undefined) return undefined;
  return { ...(offset === undefined ? {} : { offset }), ...(length === undefined ? {} : { length }) };
}

export function readCustomerKey(fields: Fields): Uint8Array | undefined {
  const given = optionalFields(fields, "ssec");
  if (given === undefined) return undefined;
  checkNames(given, ["key"], "ssec");
  const key = requiredText(given, "key");
  if (!/^[0-9a-f]{64}$/i.test(key)) throw invalid("SSE-C Key must be 32 bytes in hexadecimal.");
  return Uint8Array.from(Buffer.from(key, "hex"));
}
