// Caches of a script: an in-memory LRU cache of responses, limited in size. rules.ts decides what
// may be cached and for how long.
import { Buffer } from "node:buffer";
import { ReadableStream } from "node:stream/web";
import { URL } from "node:url";
import { type ByteStream, createBody } from "../fetch/body.ts";
import { freezeHeaders, headersFromWire } from "../fetch/headers.ts";
import { requestParts, ScriptRequest } from "../fetch/request.ts";
import type { RequestParts } from "../fetch/request-init.ts";
import { assembleResponse, describeResponse, ScriptResponse } from "../fetch/response.ts";
import { chooseAnswer, freshMilliseconds, keepsCookiesPrivate, parseDirectives, varyNames } from "./rules.ts";

interface CachedResponse {
  readonly status: number;
  readonly statusText: string;
  /** Header names and values, as byte strings. */
  readonly headers: readonly (readonly [string, string])[];
  readonly bytes: Uint8Array;
  /** Values of the request headers that Vary names. */
  readonly varyValues: readonly (readonly [string, string | null])[];
  readonly storedAt: number;
  readonly expiresAt: number;
}

interface CacheStore {
  readonly now: () => number;
  readonly maxBytes: number;
  get(key: string): CachedResponse | undefined;
  put(key: string, cached: CachedResponse): void;
  delete(key: string): boolean;
}

interface QueryOptions {
  readonly ignoreMethod?: boolean;
}

const emptyBytes = new Uint8Array();

/** Approximate memory overhead of an entry, in bytes. */
const entryOverhead = 512;

export function createCaches(maxBytes: number, now: () => number): ScriptCacheStorage {
  return new ScriptCacheStorage(hostMark, createCacheStore(maxBytes, now));
}

function createCacheStore(maxBytes: number, now: () => number): CacheStore {
  // A Map keeps insertion order: the first entry is the least recently used.
  const entries = new Map<string, CachedResponse>();
  let usedBytes = 0;

  function remove(key: string): boolean {
    const cached = entries.get(key);
    if (cached === undefined) return false;
    usedBytes -= computeCost(key, cached);
    return entries.delete(key);
  }

  return {
    now,
    maxBytes,
    get(key) {
      const cached = entries.get(key);
      if (cached === undefined) return undefined;
      if (cached.expiresAt <= now()) {
        remove(key);
        return undefined;
      }
      entries.delete(key);
      entries.set(key, cached);
      return cached;
    },
    put(key, cached) {
      remove(key);
      const cost = computeCost(key, cached);
      if (cost > maxBytes) return;
      while (usedBytes + cost > maxBytes) remove(entries.keys().next().value!);
      entries.set(key, cached);
      usedBytes += cost;
    },
    delete(key) {
      const isFresh = (entries.get(key)?.expiresAt ?? 0) > now();
      return remove(key) && isFresh;
    },
  };
}

function computeCost(key: string, { headers, bytes }: CachedResponse): number {
  const text = headers.reduce((sum, [name, value]) => sum + name.length + value.length, key.length);
  return bytes.length + text + entryOverhead;
}

/** Constructor argument that scripts do not have, so that they cannot construct a cache. */
const hostMark = Symbol("host");

export class ScriptCacheStorage {
  readonly #store: CacheStore;
  readonly default: ScriptCache;

  constructor(mark: symbol, store: CacheStore) {
    if (mark !== hostMark) throw new TypeError("Illegal constructor: use the global caches.");
    this.#store = store;
    this.default = new ScriptCache(hostMark, store, "default");
  }

  async open(name: string): Promise<ScriptCache> {
    return new ScriptCache(hostMark, this.#store, `named ${name}`);
  }
}

export class ScriptCache {
  readonly #store: CacheStore;
  readonly #name: string;

  constructor(mark: symbol, store: CacheStore, name: string) {
    if (mark !== hostMark)
      throw new TypeError("Illegal constructor: use caches.default or caches.open(name).");
    this.#store = store;
    this.#name = name;
  }

  /** Stores the response for as long as its headers allow. */
  async put(input: unknown, response: Response): Promise<void> {
    const request = toRequestParts(input);
    if (request.method !== "GET")
      throw new TypeError(`A cache keeps only responses to GET, not to ${request.method}.`);
    checkResponse(response);
    const { headers } = response;
    const now = this.#store.now();
    const fresh = freshMilliseconds(response.status, headers, request.headers, now);
    const control = parseDirectives(headers.get("cache-control"));
    const varyValues = varyNames(headers).map((name) => [name, request.headers.get(name)] as const);
    const description = describeResponse(response);
    const bytes = fresh > 0 ? await readWithin(description.body, this.#store.maxBytes) : undefined;
    if (bytes === undefined) return cancel(description.body);
    this.#store.put(this.#cacheKey(request), {
      status: description.status,
      statusText: description.statusText,
      headers: [...description.headers].filter(
        ([name]) => name !== "set-cookie" || !keepsCookiesPrivate(control),
      ),
      bytes,
      varyValues,
      storedAt: now,
      expiresAt: now + fresh,
    });
  }

  async match(input: unknown, options?: QueryOptions): Promise<Response | undefined> {
    const request = toRequestParts(input);
    if (request.method !== "GET" && options?.ignoreMethod !== true) return undefined;
    const cached = this.#store.get(this.#cacheKey(request));
    if (cached === undefined) return undefined;
    if (cached.varyValues.some(([name, value]) => request.headers.get(name) !== value)) return undefined;
    return toResponse(request, cached, this.#store.now());
  }

  async delete(input: unknown, options?: QueryOptions): Promise<boolean> {
    const request = toRequestParts(input);
    if (request.method !== "GET" && options?.ignoreMethod !== true) return false;
    return this.#store.delete(this.#cacheKey(request));
  }

  #cacheKey({ url }: RequestParts): string {
    // The path is kept as written: resolving dot segments could return the response of another URL.
    const path = url.replace(/^[^/]*\/\/[^/?#]*/, "").replace(/#.*$/, "");
    return `${this.#name}\n${new URL(url).origin}${path.startsWith("/") ? "" : "/"}${path}`;
  }
}

function toRequestParts(input: unknown): RequestParts {
  return requestParts(input) ?? requestParts(new ScriptRequest(input))!;
}

function checkResponse(response: Response): void {
  if (!(response instanceof ScriptResponse)) throw new TypeError("A cache keeps Response objects only.");
  if (response.type === "error") throw new TypeError("A cache cannot keep Response.error().");
  if (response.status === 206) throw new TypeError("A cache cannot keep a partial response (status 206).");
  if (varyNames(response.headers).includes("*")) {
    throw new TypeError('A cache cannot keep a response with "Vary: *".');
  }
}

/** Undefined when a streamed body has more than `maxBytes` bytes. */
async function readWithin(
  body: Uint8Array | string | ByteStream | null,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  if (body === null) return emptyBytes;
  if (typeof body === "string") return Buffer.from(body);
  if (body instanceof Uint8Array) return body;
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    size += value.byteLength;
    if (size > maxBytes) break;
    chunks.push(value);
  }
  reader.releaseLock();
  return undefined;
}

async function cancel(body: Uint8Array | string | ByteStream | null): Promise<void> {
  if (body instanceof ReadableStream) await body.cancel("The cache does not keep this response.");
}

function toResponse(request: RequestParts, cached: CachedResponse, now: number): Response {
  const { status, statusText, bytes } = cached;
  const headers = headersFromWire(cached.headers);
  headers.set("age", String(Math.floor((now - cached.storedAt) / 1000)));
  const respond = (code: number, text: string, body: Uint8Array) =>
    assembleResponse({
      status: code,
      statusText: text,
      headers: freezeHeaders(headers),
      body: body.length === 0 ? undefined : createBody(body),
    });
  const reply = chooseAnswer(request.headers, headers, status, bytes.length);
  if (reply.kind === "whole") return respond(status, statusText, bytes);
  headers.delete("content-length");
  if (reply.kind === "unchanged") return respond(304, "", emptyBytes);
  if (reply.kind === "outside") {
    headers.set("content-range", `bytes */${bytes.length}`);
    return respond(416, "", emptyBytes);
  }
  const { offset, length } = reply.range;
  headers.set("content-range", `bytes ${offset}-${offset + length - 1}/${bytes.length}`);
  return respond(206, "", bytes.subarray(offset, offset + length));
}
