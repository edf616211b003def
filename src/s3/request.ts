// An S3 request as it came: the raw target taken apart by hand, since a URL object would fold `..` and `%2e`.
import type { HttpRequest } from "../http/server/listen.ts";
import { canonicalQuery, encodePath } from "../http/sigv4.ts";
import { decodedTarget, targetParts } from "../http/target.ts";
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
  /** As a signature has it, which is not among what it signs. */
  signed(): string;
  /** Those that stand for headers, in lowercase, one character a byte. */
  moved(): readonly (readonly [name: string, value: string])[];
}

export function readRequest(http: HttpRequest): S3Request {
  const { path, canonicalPath, query } = targetOf(http.target);
  return { method: http.method, path, canonicalPath, query, http, header: (name) => http.header(name) };
}

type Target = Pick<S3Request, "path" | "canonicalPath" | "query">;

/** Targets that were taken apart of late: the same ones come again and again, and cost as much as a read. */
const known = new Map<string, Target>();
const mostKnown = 1000;
const longestKnown = 1024;

function targetOf(text: string): Target {
  const before = known.get(text);
  if (before !== undefined) return before;
  const target = readTarget(text);
  if (known.size >= mostKnown) known.clear();
  if (text.length <= longestKnown) known.set(text, target);
  return target;
}

function readTarget(text: string): Target {
  const { rawPath, rawQuery } = targetParts(text);
  const path = decode(rawPath);
  const query = readQuery(rawQuery);
  return { path, canonicalPath: encodePath(path), query };
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
  if (query.moved().length === 0) return request;
  const moved = new Map(query.moved().filter(([name]) => http.header(name) === undefined));
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
  let signed: string | undefined;
  let moved: readonly (readonly [string, string])[] | undefined;
  return {
    pairs,
    get: (name) => first.get(name),
    has: (name) => first.has(name),
    signed() {
      signed ??= canonicalQuery(pairs.filter(([name]) => name !== "X-Amz-Signature"));
      return signed;
    },
    moved() {
      moved ??= pairs
        .map(([name, value]) => [name.toLowerCase(), Buffer.from(value, "utf8").toString("latin1")] as const)
        .filter(([name]) => name.startsWith("x-amz-") && !notMoved.test(name));
      return moved;
    },
  };
}

function decode(text: string): string {
  const decoded = decodedTarget(text);
  if (decoded === undefined) throw new S3Error("InvalidURI");
  return decoded;
}
