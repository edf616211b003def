// Parses method and target of a request to a namespace. Parameters that the protocol does not have
// are refused, so that an option of a later runtime is never ignored.
import type { KeyValueListOptions } from "../../engine/key-value/key-value.ts";
import { decodeTarget, splitTarget } from "../../http/target.ts";
import type { Key } from "../../model/key.ts";
import { type ExpirationOptions, KeyValueError, keyValueLimits } from "../../model/key-value.ts";

export type KvRequest =
  | { readonly operation: "get"; readonly key: Key }
  | { readonly operation: "put"; readonly key: Key; readonly options: ExpirationOptions }
  | { readonly operation: "delete"; readonly key: Key }
  | { readonly operation: "list"; readonly options: KeyValueListOptions }
  | { readonly operation: "bulk get" };

type Parameters = ReadonlyMap<string, string>;

export function parseRequest(method: string, target: string): KvRequest {
  const { rawPath, rawQuery } = splitTarget(target);
  if (method === "GET" && rawPath === "/") {
    return { operation: "list", options: listOptions(parseQuery(rawQuery, listNames)) };
  }
  if (method === "POST" && rawPath === "/bulk/get") {
    parseQuery(rawQuery, []);
    return { operation: "bulk get" };
  }
  if (method === "GET") {
    const query = parseQuery(rawQuery, getNames);
    checkCacheTtl(query.get("cache_ttl"));
    return { operation: "get", key: parseKey(rawPath, query) };
  }
  if (method === "PUT") {
    const query = parseQuery(rawQuery, putNames);
    const expiration = integer(query.get("expiration"));
    const expirationTtl = integer(query.get("expiration_ttl"));
    return { operation: "put", key: parseKey(rawPath, query), options: { expiration, expirationTtl } };
  }
  if (method === "DELETE") {
    return { operation: "delete", key: parseKey(rawPath, parseQuery(rawQuery, deleteNames)) };
  }
  throw new KeyValueError(400, "The method of this request is not supported by key-value namespaces.");
}

const deleteNames = ["urlencoded"];
const getNames = [...deleteNames, "cache_ttl"];
const putNames = [...deleteNames, "expiration", "expiration_ttl"];
const listNames = ["key_count_limit", "prefix", "cursor"];

/** The runtime encodes each slash of a key, so the key is the only segment of the path. */
function parseKey(rawPath: string, query: Parameters): Key {
  const segment = rawPath.slice(1);
  const isEncoded = rawPath.startsWith("/") && !segment.includes("/") && query.get("urlencoded") === "true";
  const key = isEncoded ? decodeText(segment) : undefined;
  if (key === undefined) throw new KeyValueError(400, "Could not URL-decode key name");
  return key;
}

/** Replaces encoded lone surrogates by U+FFFD, as in values: they have no UTF-8 form. */
function decodeText(text: string): string | undefined {
  return decodeTarget(text.replace(/%ED%[AB][0-9A-F]%[89AB][0-9A-F]/gi, "%EF%BF%BD"));
}

function listOptions(query: Parameters): KeyValueListOptions {
  return {
    limit: integer(query.get("key_count_limit")),
    prefix: query.get("prefix"),
    // An unset variable often becomes an empty cursor: start at the first page.
    cursor: query.get("cursor") || undefined,
  };
}

/** The runtime sends the parameter as a query, and as text in the body of a bulk get. */
export function checkCacheTtl(text: string | undefined): void {
  const cacheTtl = integer(text);
  const { minCacheTtl } = keyValueLimits;
  if (cacheTtl === undefined || cacheTtl >= minCacheTtl) return;
  throw new KeyValueError(
    400,
    `Invalid cache_ttl of ${cacheTtl}. Cache TTL must be at least ${minCacheTtl}.`,
  );
}

/** Returns NaN for other text, which every later check refuses. */
function integer(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
}

function parseQuery(rawQuery: string, names: readonly string[]): Parameters {
  const query = new Map<string, string>();
  if (rawQuery === "") return query;
  for (const part of rawQuery.split("&")) {
    const equals = part.indexOf("=");
    const name = equals === -1 ? part : part.slice(0, equals);
    const value = equals === -1 ? "" : decodeText(part.slice(equals + 1).replaceAll("+", " "));
    if (value === undefined || !names.includes(name) || query.has(name)) {
      throw new KeyValueError(400, "The query of this request has an unknown or invalid parameter.");
    }
    query.set(name, value);
  }
  return query;
}
