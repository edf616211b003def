// Converts HTTP headers to conditions, ranges and metadata, and back. Shared by front ends.
import { Buffer } from "node:buffer";
import { TextDecoder } from "node:util";
import type { Condition, EntityTag, EtagCondition } from "../model/condition.ts";
import { metadataHeaders } from "../model/metadata.ts";
import type { HttpMetadata } from "../model/object.ts";
import type { RangeCondition, RangeRequest } from "../model/range.ts";

/** Headers that belong to one connection, not to the message (RFC 9110 7.6.1). */
export const hopByHopHeaders: readonly string[] = [
  ...["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"],
];

export interface HeaderReader {
  get(name: string): string | null;
}

/** Parses conditions (RFC 9110 13.1) except If-Range. Invalid dates are ignored, as required. */
export function conditionFromHeaders(headers: HeaderReader): Condition {
  const match = headers.get("if-match");
  const noneMatch = headers.get("if-none-match");
  const before = parseHttpDate(headers.get("if-unmodified-since"));
  const after = parseHttpDate(headers.get("if-modified-since"));
  return {
    ...(match === null ? {} : { etagMatches: parseEtags(match, "if-match") }),
    ...(noneMatch === null ? {} : { etagDoesNotMatch: parseEtags(noneMatch, "if-none-match") }),
    ...(before === undefined ? {} : { uploadedBefore: before }),
    ...(after === undefined ? {} : { uploadedAfter: after }),
    secondsGranularity: true,
    beforeIsInclusive: true,
  };
}

const etagPattern = /\s*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*(?:,|$)/y;

function parseEtags(value: string, header: string): EtagCondition {
  if (value.trim() === "*") return "*";
  const tags: EntityTag[] = [];
  etagPattern.lastIndex = 0;
  while (etagPattern.lastIndex < value.length) {
    const match = etagPattern.exec(value);
    if (match === null) throw new TypeError(`Invalid ETag in ${header} header`);
    tags.push({ value: match[2]!, weak: match[1] !== undefined });
  }
  if (tags.length === 0) throw new TypeError(`Invalid ETag in ${header} header`);
  return tags;
}

const imfOrRfc850 = /^[A-Z][a-z]+, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/** Parses the three date formats of RFC 9110 5.6.7 to milliseconds since the epoch. */
export function parseHttpDate(value: string | null): number | undefined {
  const text = value?.trim() ?? "";
  const withZone = imfOrRfc850.test(text) ? text : asctime.test(text) ? `${text} GMT` : "";
  const time = Date.parse(withZone);
  const day = Number(/\d+/.exec(withZone)?.[0]);
  // Date.parse accepts February 31st and returns a day in March.
  return new Date(time).getUTCDate() === day ? time : undefined;
}

/** Parses one range. A malformed range or several ranges are ignored (RFC 9110 14.2). */
export function rangeFromHeader(value: string | null): RangeRequest | undefined {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(value?.trim() ?? "");
  if (match === null) return undefined;
  const [, first, last] = match;
  if (first === "") return last === "" ? undefined : { suffix: Number(last) };
  const offset = Number(first);
  if (last === "") return { offset };
  return Number(last) < offset ? undefined : { offset, length: Number(last) - offset + 1 };
}

/** Parses If-Range. A weak etag or an invalid date matches no version. */
export function rangeConditionFromHeader(value: string | null): RangeCondition | undefined {
  if (value === null) return undefined;
  const etag = /^"([^"]*)"$/.exec(value.trim())?.[1];
  if (etag !== undefined) return { etag };
  const uploaded = parseHttpDate(value);
  return uploaded === undefined ? {} : { uploaded };
}

export function metadataFromHeaders(headers: HeaderReader): HttpMetadata {
  const metadata: Record<string, string | number> = {};
  for (const [name, header] of metadataHeaders) {
    const value = headers.get(header);
    if (value === null) continue;
    if (name !== "cacheExpiry") metadata[name] = textFromHeader(value);
    else if (parseHttpDate(value) !== undefined) metadata[name] = parseHttpDate(value)!;
  }
  return metadata;
}

export function* headersFromMetadata(metadata: HttpMetadata): Iterable<[string, string]> {
  for (const [name, header] of metadataHeaders) {
    const value = metadata[name];
    if (value === undefined) continue;
    yield [header, typeof value === "number" ? new Date(value).toUTCString() : textToHeader(value)];
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
const isAscii = /^[\x00-\x7f]*$/;

/** Decodes a header value of one character per byte as UTF-8, if it is valid UTF-8. */
function textFromHeader(value: string): string {
  // Most values are ASCII. Values from a script's Headers object are already decoded.
  if (isAscii.test(value) || /[^\x00-\xff]/.test(value)) return value;
  try {
    return utf8.decode(Buffer.from(value, "latin1"));
  } catch {
    return value;
  }
}

function textToHeader(text: string): string {
  if (isAscii.test(text)) return text;
  return Buffer.from(text, "utf8").toString("latin1");
}
