// The caches of a script: responses kept in the memory of its process, within a bound, those not used for
// longest leaving first. What may be kept and for how long stands in globals-cache-rules.ts.
import { type ByteStream, bodyFrom } from "../fetch/body.ts";
import { frozen, headersFromWire } from "../fetch/headers.ts";
import { requestParts, ScriptRequest } from "../fetch/request.ts";
import type { RequestParts } from "../fetch/request-init.ts";
import { assembleResponse, describeResponse } from "../fetch/response.ts";
import { answerFor, directives, freshMilliseconds, keepsCookiesPrivate, varyingNames } from "./rules.ts";

interface Kept {
  readonly status: number;
  readonly statusText: string;
  /** Byte strings. */
  readonly headers: readonly (readonly [string, string])[];
  readonly bytes: Uint8Array;
  /** What the request said under the names the response depends on. */
  readonly varying: readonly (readonly [string, string | null])[];
  readonly since: number;
  readonly until: number;
}

interface Shelf {
  readonly now: () => number;
  readonly mostBytes: number;
  get(key: string): Kept | undefined;
  put(key: string, kept: Kept): void;
  delete(key: string): boolean;
}

interface QueryOptions {
  readonly ignoreMethod?: boolean;
}

const nothing = new Uint8Array();

/** Beside its bytes an entry costs about this much. */
const entryOverhead = 512;

export function createCaches(mostBytes: number, now: () => number): ScriptCacheStorage {
  return new ScriptCacheStorage(hostMark, createShelf(mostBytes, now));
}

function createShelf(mostBytes: number, now: () => number): Shelf {
  // A Map remembers the order of insertion: the first entry is the one not used for longest.
  const entries = new Map<string, Kept>();
  let heldBytes = 0;

  function remove(key: string): boolean {
    const kept = entries.get(key);
    if (kept === undefined) return false;
    heldBytes -= costOf(key, kept);
    return entries.delete(key);
  }

  return {
    now,
    mostBytes,
    get(key) {
      const kept = entries.get(key);
      if (kept === undefined) return undefined;
      if (kept.until <= now()) {
        remove(key);
        return undefined;
      }
      entries.delete(key);
      entries.set(key, kept);
      return kept;
    },
    put(key, kept) {
      remove(key);
      const cost = costOf(key, kept);
      if (cost > mostBytes) return;
      while (heldBytes + cost > mostBytes) remove(entries.keys().next().value!);
      entries.set(key, kept);
      heldBytes += cost;
    },
    delete(key) {
      const isFresh = (entries.get(key)?.until ?? 0) > now();
      return remove(key) && isFresh;
    },
  };
}

function costOf(key: string, { headers, bytes }: Kept): number {
  const text = headers.reduce((sum, [name, value]) => sum + name.length + value.length, key.length);
  return bytes.length + text + entryOverhead;
}

/** Scripts are given caches; they do not make them. */
const hostMark = Symbol("host");

export class ScriptCacheStorage {
  readonly #shelf: Shelf;
  readonly default: ScriptCache;

  constructor(mark: symbol, shelf: Shelf) {
    if (mark !== hostMark) throw new TypeError("Illegal constructor: use the global caches.");
    this.#shelf = shelf;
    this.default = new ScriptCache(hostMark, shelf, "default");
  }

  async open(name: string): Promise<ScriptCache> {
    return new ScriptCache(hostMark, this.#shelf, `named ${name}`);
  }
}

export class ScriptCache {
  readonly #shelf: Shelf;
  readonly #name: string;

  constructor(mark: symbol, shelf: Shelf, name: string) {
    if (mark !== hostMark)
      throw new TypeError("Illegal constructor: use caches.default or caches.open(name).");
    this.#shelf = shelf;
    this.#name = name;
  }

  /** Keeps the response as long as its headers allow, and not at all when they forbid it. */
  async put(input: unknown, response: Response): Promise<void> {
    const request = requestFrom(input);
    if (request.method !== "GET")
      throw new TypeError(`A cache keeps answers to GET only, not to ${request.method}.`);
    checkResponse(response);
    const { headers } = response;
    const now = this.#shelf.now();
    const fresh = freshMilliseconds(response.status, headers, request.headers, now);
    const control = directives(headers.get("cache-control"));
    const varying = varyingNames(headers).map((name) => [name, request.headers.get(name)] as const);
    const description = describeResponse(response);
    const bytes = fresh > 0 ? await readWithin(description.body, this.#shelf.mostBytes) : undefined;
    if (bytes === undefined) return cancel(description.body);
    this.#shelf.put(this.#keyOf(request), {
      status: description.status,
      statusText: description.statusText,
      headers: [...description.headers].filter(
        ([name]) => name !== "set-cookie" || !keepsCookiesPrivate(control),
      ),
      bytes,
      varying,
      since: now,
      until: now + fresh,
    });
  }

  async match(input: unknown, options?: QueryOptions): Promise<Response | undefined> {
    const request = requestFrom(input);
    if (request.method !== "GET" && options?.ignoreMethod !== true) return undefined;
    const kept = this.#shelf.get(this.#keyOf(request));
    if (kept === undefined) return undefined;
    if (kept.varying.some(([name, value]) => request.headers.get(name) !== value)) return undefined;
    return answer(request, kept, this.#shelf.now());
  }

  async delete(input: unknown, options?: QueryOptions): Promise<boolean> {
    const request = requestFrom(input);
    if (request.method !== "GET" && options?.ignoreMethod !== true) return false;
    return this.#shelf.delete(this.#keyOf(request));
  }

  #keyOf({ url }: RequestParts): string {
    // A path stays as it was written: folding its dots would give one client the answer made for another's.
    const path = url.replace(/^[^/]*\/\/[^/?#]*/, "").replace(/#.*$/, "");
    return `${this.#name}\n${new URL(url).origin}${path.startsWith("/") ? "" : "/"}${path}`;
  }
}

function requestFrom(input: unknown): RequestParts {
  return requestParts(input) ?? requestParts(new ScriptRequest(input))!;
}

function checkResponse(response: Response): void {
  if (!(response instanceof Response)) throw new TypeError("A cache keeps Response objects only.");
  if (response.type === "error") throw new TypeError("A cache cannot keep Response.error().");
  if (response.status === 206) throw new TypeError("A cache cannot keep a part of an answer (status 206).");
  if (varyingNames(response.headers).includes("*")) {
    throw new TypeError('A cache cannot keep an answer with "Vary: *".');
  }
}

/** Undefined when there is more than the cache can hold. */
async function readWithin(
  body: Uint8Array | string | ByteStream | null,
  mostBytes: number,
): Promise<Uint8Array | undefined> {
  if (body === null) return nothing;
  if (typeof body === "string") return Buffer.from(body);
  if (body instanceof Uint8Array) return body;
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    size += value.byteLength;
    if (size > mostBytes) break;
    chunks.push(value);
  }
  reader.releaseLock();
  return undefined;
}

async function cancel(body: Uint8Array | string | ByteStream | null): Promise<void> {
  if (body instanceof ReadableStream) await body.cancel("The cache does not keep this response.");
}

function answer(request: RequestParts, kept: Kept, now: number): Response {
  const { status, statusText, bytes } = kept;
  const headers = headersFromWire(kept.headers);
  headers.set("age", String(Math.floor((now - kept.since) / 1000)));
  const respond = (code: number, text: string, body: Uint8Array) =>
    assembleResponse({
      status: code,
      statusText: text,
      headers: frozen(headers),
      body: body.length === 0 ? undefined : bodyFrom(body),
    });
  const reply = answerFor(request.headers, headers, status, bytes.length);
  if (reply.kind === "whole") return respond(status, statusText, bytes);
  headers.delete("content-length");
  if (reply.kind === "unchanged") return respond(304, "", nothing);
  if (reply.kind === "outside") {
    headers.set("content-range", `bytes */${bytes.length}`);
    return respond(416, "", nothing);
  }
  const { offset, length } = reply.range;
  headers.set("content-range", `bytes ${offset}-${offset + length - 1}/${bytes.length}`);
  return respond(206, "", bytes.subarray(offset, offset + length));
}
