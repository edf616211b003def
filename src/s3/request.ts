// Parses the raw target of an S3 request. A URL object would resolve `..`, which is valid in keys.
import type { HttpRequest } from "../http/server/listen.ts";
import { canonicalQuery, encodePath } from "../http/sigv4.ts";
import { decodeTarget, splitTarget } from "../http/target.ts";
import { S3Error } from "./errors.ts";

export interface S3Request {
  readonly method: string;
  /** Decoded path with its leading slash. */
  readonly path: string;
  /** Canonical path of Signature Version 4: decoded, then percent-encoded once. */
  readonly canonicalPath: string;
  readonly query: Query;
  readonly http: HttpRequest;
  header(name: string): string | undefined;
}

export interface Query {
  /** Decoded names and values in their original order. */
  readonly pairs: readonly (readonly [name: string, value: string])[];
  get(name: string): string | undefined;
  has(name: string): boolean;
  /** Canonical query of Signature Version 4, without X-Amz-Signature. */
  canonical(): string;
  /** Returns headers that an SDK moved into a presigned URL: lowercase names, latin1 values. */
  movedHeaders(): readonly (readonly [name: string, value: string])[];
}

export function readRequest(http: HttpRequest): S3Request {
  const { path, canonicalPath, query } = cachedTarget(http.target);
  return { method: http.method, path, canonicalPath, query, http, header: (name) => http.header(name) };
}

type Target = Pick<S3Request, "path" | "canonicalPath" | "query">;

/** Cache of parsed targets: clients repeat them, and parsing costs as much as a small read. */
const targetCache = new Map<string, Target>();
const maxCachedTargets = 1000;
const maxCachedLength = 1024;

function cachedTarget(text: string): Target {
  const cached = targetCache.get(text);
  if (cached !== undefined) return cached;
  const target = parseTarget(text);
  if (targetCache.size >= maxCachedTargets) targetCache.clear();
  if (text.length <= maxCachedLength) targetCache.set(text, target);
  return target;
}

function parseTarget(text: string): Target {
  const { rawPath, rawQuery } = splitTarget(text);
  const path = decode(rawPath);
  const query = parseQuery(rawQuery);
  return { path, canonicalPath: encodePath(path), query };
}

/** Parameters that are not used as headers. SDKs presign checksums without knowing the body. */
const notMovedHeader =
  /^x-amz-(algorithm|credential|date|expires|signedheaders|signature|security-token|content-sha256|trailer|decoded-content-length|(sdk-)?checksum-(?!mode$|type$|algorithm$).*|sdk-checksum-algorithm)$/;

/**
 * SDKs move x-amz headers into the query of a presigned URL. This function adds them to the headers
 * for operations; the signature is verified on the original request.
 */
export function withMovedHeaders(request: S3Request): S3Request {
  const { query, http } = request;
  if (!query.has("X-Amz-Signature")) return request;
  if (query.movedHeaders().length === 0) return request;
  const movedHeaders = new Map(query.movedHeaders().filter(([name]) => http.header(name) === undefined));
  if (movedHeaders.size === 0) return request;
  const header = (name: string) => http.header(name) ?? movedHeaders.get(name);
  const rawHeaders = [...http.rawHeaders, ...[...movedHeaders].flat()];
  return { ...request, header, http: { ...http, header, rawHeaders } };
}

/** Parameters of a request. Each is decoded, encoded and sorted before the signature is checked. */
export const maxParameters = 1000;

/** Splits a query or form; undefined if it has too many parameters. */
export function splitParameters(text: string): string[] | undefined {
  const parts = text.split("&", maxParameters + 1);
  return parts.length > maxParameters ? undefined : parts;
}

export function parseQuery(text: string): Query {
  const parts = splitParameters(text);
  if (parts === undefined) {
    throw new S3Error("InvalidRequest", {
      message: `The request has more than ${maxParameters} query parameters.`,
    });
  }
  const pairs = parts
    .filter((pair) => pair !== "")
    .map((pair) => {
      const at = pair.indexOf("=");
      const [name, value] = at === -1 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
      return [decode(name.replaceAll("+", " ")), decode(value.replaceAll("+", " "))] as const;
    });
  const first = new Map<string, string>();
  for (const [name, value] of pairs) if (!first.has(name)) first.set(name, value);
  let canonical: string | undefined;
  let movedHeaders: readonly (readonly [string, string])[] | undefined;
  return {
    pairs,
    get: (name) => first.get(name),
    has: (name) => first.has(name),
    canonical() {
      canonical ??= canonicalQuery(pairs.filter(([name]) => name !== "X-Amz-Signature"));
      return canonical;
    },
    movedHeaders() {
      movedHeaders ??= pairs
        .map(([name, value]) => [name.toLowerCase(), Buffer.from(value, "utf8").toString("latin1")] as const)
        .filter(([name]) => name.startsWith("x-amz-") && !notMovedHeader.test(name));
      return movedHeaders;
    },
  };
}

function decode(text: string): string {
  const decoded = decodeTarget(text);
  if (decoded === undefined) throw new S3Error("InvalidURI");
  return decoded;
}
