// Rules of a shared cache (RFC 9110 and 9111): how long a response may be cached, and which
// response a request gets from the cache.
import { parseHttpDate, rangeFromHeader } from "../../../http/headers.ts";
import { type ByteRange, resolveRange } from "../../../model/range.ts";

export interface HeaderReader {
  get(name: string): string | null;
}

/** Freshness in seconds without caching headers, by status. Other statuses are not cached. */
const defaultLifetimes: Readonly<Record<number, number>> = {
  200: 7200,
  301: 7200,
  302: 1200,
  303: 1200,
  404: 180,
  410: 180,
};

/** How long a response stays fresh, in milliseconds; 0 when it must not be cached. */
export function freshMilliseconds(
  status: number,
  response: HeaderReader,
  request: HeaderReader,
  now: number,
): number {
  const control = parseDirectives(response.get("cache-control"));
  if (status === 304 || control.has("no-store") || isBare(control, "no-cache") || isBare(control, "private"))
    return 0;
  if (request.get("authorization") !== null && !isShareable(control)) return 0;
  if (response.get("set-cookie") !== null && !keepsCookiesPrivate(control)) return 0;
  const seconds = parseSeconds(control.get("s-maxage")) ?? parseSeconds(control.get("max-age"));
  if (seconds !== undefined) return Math.max(0, seconds - (parseSeconds(response.get("age")) ?? 0)) * 1000;
  const expires = response.get("expires");
  if (expires !== null) return Math.max(0, (parseHttpDate(expires) ?? now) - now);
  return (defaultLifetimes[status] ?? 0) * 1000;
}

/** Whether only Set-Cookie is private, so that the response can be cached without cookies. */
export function keepsCookiesPrivate(control: ReadonlyMap<string, string | undefined>): boolean {
  return /(^|[\s,])set-cookie($|[\s,])/i.test(control.get("private") ?? "");
}

/** RFC 9111 3.5: whether the headers allow caching a response to a request with Authorization. */
function isShareable(control: ReadonlyMap<string, string | undefined>): boolean {
  return control.has("public") || control.has("s-maxage") || control.has("must-revalidate");
}

function isBare(control: ReadonlyMap<string, string | undefined>, name: string): boolean {
  return control.has(name) && control.get(name) === undefined;
}

function parseSeconds(value: string | null | undefined): number | undefined {
  return /^\d+$/.test(value ?? "") ? Number(value) : undefined;
}

/** Parses Cache-Control: values by lower-case directive name, undefined without a value. */
export function parseDirectives(header: string | null): ReadonlyMap<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  for (const [, name, quoted, plain] of (header ?? "").matchAll(
    /([\w-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,]*)))?/g,
  )) {
    found.set(name!.toLowerCase(), quoted ?? plain);
  }
  return found;
}

/** Names of the request headers that Vary lists, in lower case. */
export function varyNames(response: HeaderReader): string[] {
  const names = (response.get("vary") ?? "").toLowerCase().split(",");
  return names.map((name) => name.trim()).filter((name) => name !== "");
}

export type Answer =
  | { readonly kind: "whole" }
  | { readonly kind: "part"; readonly range: ByteRange }
  | { readonly kind: "unchanged" }
  | { readonly kind: "outside" };

/** Evaluates conditions before ranges (RFC 9110 13.2.2). */
export function chooseAnswer(
  request: HeaderReader,
  cached: HeaderReader,
  status: number,
  size: number,
): Answer {
  if (isUnchanged(request, cached)) return { kind: "unchanged" };
  const range = rangeFromHeader(request.get("range"));
  if (range === undefined || status !== 200 || !mayUseRange(request, cached)) return { kind: "whole" };
  try {
    return { kind: "part", range: resolveRange(range, size) };
  } catch {
    return { kind: "outside" };
  }
}

function isUnchanged(request: HeaderReader, cached: HeaderReader): boolean {
  const ifNoneMatch = request.get("if-none-match");
  if (ifNoneMatch !== null) {
    if (ifNoneMatch.trim() === "*") return true;
    const etag = cached.get("etag")?.replace(/^W\//, "");
    const tags: string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
    return etag !== undefined && tags.includes(etag);
  }
  const since = parseHttpDate(request.get("if-modified-since"));
  const modified = parseHttpDate(cached.get("last-modified"));
  return since !== undefined && modified !== undefined && modified <= since;
}

/** If-Range: a range is only valid if the client has a part of the same version. */
function mayUseRange(request: HeaderReader, cached: HeaderReader): boolean {
  const condition = request.get("if-range")?.trim();
  if (condition === undefined) return true;
  if (condition.startsWith('"')) return condition === cached.get("etag");
  const date = parseHttpDate(condition);
  return date !== undefined && date === parseHttpDate(cached.get("last-modified"));
}
