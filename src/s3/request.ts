// An S3 request as it came: the raw target taken apart by hand, since a URL object would fold `..` and `%2e`.
import type { HttpRequest } from "../http/listen.ts";
import { encodePath } from "../http/signing.ts";
import { S3Error } from "./errors.ts";

export interface S3Request {
  readonly method: string;
  /** Decoded, with its leading slash. */
  readonly path: string;
  /** As a signature has it: encoded once, whatever was sent. */
  readonly canonicalPath: string;
  readonly query: Query;
  readonly http: HttpRequest;
  header(name: string): string | undefined;
}

export interface Query {
  /** Names and values decoded, in the order they came. */
  readonly pairs: readonly (readonly [name: string, value: string])[];
  get(name: string): string | undefined;
  has(name: string): boolean;
}

export function readRequest(http: HttpRequest): S3Request {
  const target = http.target.replace(/^https?:\/\/[^/?]*/i, "");
  const mark = target.indexOf("?");
  const rawPath = mark === -1 ? target : target.slice(0, mark);
  const path = decode(rawPath === "" ? "/" : rawPath);
  return {
    method: http.method,
    path,
    canonicalPath: encodePath(path),
    query: readQuery(mark === -1 ? "" : target.slice(mark + 1)),
    http,
    header: (name) => http.header(name),
  };
}

/** The signature's own, how a body is framed, and checksums: SDKs put that of an empty body there. */
const notMoved =
  /^x-amz-(algorithm|credential|date|expires|signedheaders|signature|security-token|content-sha256|trailer|decoded-content-length|(sdk-)?checksum-(?!mode$|type$|algorithm$).*|sdk-checksum-algorithm)$/;

/**
 * As operations see it: SDKs that sign a URL ahead move the headers named x-amz into its query, where the
 * signature covers them too. The signature itself is checked on the request as it came.
 */
export function withMovedHeaders(request: S3Request): S3Request {
  const { query, http } = request;
  if (!query.has("X-Amz-Signature")) return request;
  const moved = new Map<string, string>();
  for (const [given, value] of query.pairs) {
    const name = given.toLowerCase();
    if (!name.startsWith("x-amz-") || notMoved.test(name) || http.header(name) !== undefined) continue;
    moved.set(name, Buffer.from(value, "utf8").toString("latin1"));
  }
  if (moved.size === 0) return request;
  const header = (name: string) => http.header(name) ?? moved.get(name);
  const rawHeaders = [...http.rawHeaders, ...[...moved].flat()];
  return { ...request, header, http: { ...http, header, rawHeaders } };
}

export function readQuery(text: string): Query {
  const pairs = text
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const at = pair.indexOf("=");
      const [name, value] = at === -1 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
      return [decode(name.replaceAll("+", " ")), decode(value.replaceAll("+", " "))] as const;
    });
  const first = new Map<string, string>();
  for (const [name, value] of pairs) if (!first.has(name)) first.set(name, value);
  return { pairs, get: (name) => first.get(name), has: (name) => first.has(name) };
}

const encoded = /[%\x80-\xff]/;

/** What is percent-encoded must be UTF-8; bytes sent raw are taken as UTF-8 too. */
function decode(text: string): string {
  if (!encoded.test(text)) return text;
  try {
    // Node gives raw bytes above 127 as one character each.
    const escaped = text.replace(/[\x80-\xff]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
    return decodeURIComponent(escaped);
  } catch (cause) {
    throw new S3Error("InvalidURI", { cause });
  }
}
