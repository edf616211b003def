// Parses the heads of HTTP/1.1 messages in their common form, much faster than Node does. A head in
// any other form is not an error here: requests are left to Node's parser.
import { Buffer } from "node:buffer";

export interface HeaderFields {
  /** Alternating names and values, as sent. */
  readonly rawHeaders: string[];
  /** Values by name in lower case; of a repeated header, the last value. */
  readonly byName: ReadonlyMap<string, string>;
  readonly hasRepeated: boolean;
}

export interface RequestHead extends Omit<HeaderFields, "hasRepeated"> {
  readonly method: string;
  readonly target: string;
  /** Undefined if the request has no body. */
  readonly contentLength: number | undefined;
  /** Whether the client wants the connection to be closed after the response. */
  readonly closes: boolean;
}

export interface ResponseHead extends HeaderFields {
  readonly status: number;
  readonly statusText: string;
}

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS"]);
const requestVersion = " HTTP/1.1";
const plainTarget = /^\/[\x21-\x7e]*$/;
/** Control characters other than tabs and line breaks. */
const control = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/;
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const length = /^\d{1,15}$/;
/** Node refuses a tab after the number, so it decides. */
const lengthWithTab = /\ncontent-length:[^\r]*\t/i;
const keepAlive = "keep-alive";

/** Headers that change how a request is read or answered. */
const specialHeaders = ["transfer-encoding", "expect", "upgrade"] as const;

/** `text` ends with the line break of the last header. Returns undefined for an uncommon form. */
export function parseRequestHead(text: string): RequestHead | undefined {
  const lineEnd = text.indexOf("\r\n");
  const space = text.indexOf(" ");
  const targetEnd = lineEnd - requestVersion.length;
  if (space === -1 || targetEnd <= space || !text.startsWith(requestVersion, targetEnd)) return undefined;
  const method = text.slice(0, space);
  const target = text.slice(space + 1, targetEnd);
  if (!methods.has(method) || !plainTarget.test(target)) return undefined;
  const fields = parseHeaders(text, lineEnd + 2);
  if (fields === undefined || fields.hasRepeated) return undefined;
  const { rawHeaders, byName } = fields;
  for (const name of specialHeaders) if (byName.has(name)) return undefined;
  const connection = byName.get("connection")?.toLowerCase() ?? keepAlive;
  const closes = connection === "close";
  if (!byName.has("host") || (!closes && connection !== keepAlive)) return undefined;
  const declared = byName.get("content-length");
  if (declared !== undefined && (!length.test(declared) || lengthWithTab.test(text))) return undefined;
  const contentLength = declared === undefined ? undefined : Number(declared);
  return { method, target, rawHeaders, byName, contentLength, closes };
}

/** Returns undefined if the head is not valid. */
export function parseResponseHead(text: string): ResponseHead | undefined {
  const lineEnd = text.indexOf("\r\n");
  const [, status, statusText = ""] = /^HTTP\/1\.1 ([1-9]\d\d)(?: (.*))?$/.exec(text.slice(0, lineEnd)) ?? [];
  const fields = status === undefined ? undefined : parseHeaders(text, lineEnd + 2);
  if (fields === undefined || control.test(statusText)) return undefined;
  return {
    status: Number(status),
    statusText,
    rawHeaders: fields.rawHeaders,
    byName: fields.byName,
    hasRepeated: fields.hasRepeated,
  };
}

function parseHeaders(text: string, start: number): HeaderFields | undefined {
  if (control.test(text.slice(start))) return undefined;
  const rawHeaders: string[] = [];
  const byName = new Map<string, string>();
  let hasRepeated = false;
  for (let from = start; from < text.length; ) {
    const colon = text.indexOf(":", from);
    const end = text.indexOf("\r", from);
    // Each line ends with CR LF, and has neither of the two elsewhere.
    if (text.indexOf("\n", from) !== end + 1) return undefined;
    if (colon === -1 || colon > end) return undefined;
    const name = text.slice(from, colon);
    // A line that starts with a space continues the previous one, which is not valid either.
    const lowerCase = toLowerCase(name);
    if (lowerCase === undefined) return undefined;
    const value = text.slice(skipSpaces(text, colon + 1, end), skipSpacesBack(text, colon + 1, end));
    hasRepeated ||= byName.has(lowerCase);
    byName.set(lowerCase, value);
    rawHeaders.push(name, value);
    from = end + 2;
  }
  return { rawHeaders, byName, hasRepeated };
}

function skipSpaces(text: string, from: number, end: number): number {
  let i = from;
  while (i < end && isSpace(text.charCodeAt(i))) i++;
  return i;
}

function skipSpacesBack(text: string, from: number, end: number): number {
  let i = end;
  while (i > from && isSpace(text.charCodeAt(i - 1))) i--;
  return i;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Cache of header names: few are used, and checking one costs more than finding it. */
const lowerCaseNames = new Map<string, string>();
const maxCachedNames = 500;
const maxCachedLength = 40;

/** Returns undefined if the name is not valid. */
export function toLowerCase(name: string): string | undefined {
  const cached = lowerCaseNames.get(name);
  if (cached !== undefined) return cached;
  if (!token.test(name)) return undefined;
  const lowerCase = name.toLowerCase();
  if (name.length <= maxCachedLength && lowerCaseNames.size < maxCachedNames) {
    // A copy: a slice would keep the whole head in memory.
    lowerCaseNames.set(Buffer.from(name, "latin1").toString("latin1"), lowerCase);
  }
  return lowerCase;
}
