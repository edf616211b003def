// What scripts find in their global scope beyond Node's own: the classes of the platform they were written
// for. Called once in a process, before its script is loaded.
import { FixedLengthStream } from "../binding/fixed-length-stream.ts";
import { createCaches, ScriptCache, ScriptCacheStorage } from "./caches.ts";
import { ScriptHeaders } from "./fetch-headers.ts";
import { scriptFetch } from "./fetch-outbound.ts";
import { ScriptRequest } from "./fetch-request.ts";
import { ScriptResponse } from "./fetch-response.ts";
import { webClasses } from "./globals/web-classes.ts";
import { DigestStream, timingSafeEqual } from "./globals-crypto.ts";
import { IdentityTransformStream } from "./globals-streams.ts";
import { HTMLRewriter } from "./html-rewriter.ts";

export interface GlobalsOptions {
  /** How much all caches of the process may hold together. */
  readonly cacheBytes?: number | undefined;
  /** The clock of the caches, in milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
}

const defaultCacheBytes = 64 * 1024 * 1024;

export function installGlobals({ cacheBytes = defaultCacheBytes, now = Date.now }: GlobalsOptions): void {
  define(globalThis, {
    ...webClasses(),
    Headers: ScriptHeaders,
    Request: ScriptRequest,
    Response: ScriptResponse,
    fetch: function fetch(input: unknown, init?: unknown) {
      return scriptFetch(input, init);
    },
    FixedLengthStream,
    IdentityTransformStream,
    HTMLRewriter,
    Cache: ScriptCache,
    CacheStorage: ScriptCacheStorage,
    caches: createCaches(cacheBytes, now),
    navigator: Object.freeze({ userAgent: "Store" }),
  });
  define(globalThis.crypto, { DigestStream });
  define(globalThis.crypto.subtle, { timingSafeEqual });
}

/** As built-ins are: not enumerable, and free to be replaced by a script. */
function define(target: object, values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
  }
}
