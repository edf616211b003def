// Installs the globals that scripts expect beyond Node's own: the classes of Cloudflare Workers.
// Called once per process, before the script is loaded.
import { FixedLengthStream } from "../../binding/fixed-length-stream.ts";
import { createCaches, ScriptCache, ScriptCacheStorage } from "./cache/caches.ts";
import { createDigest, DigestStream, timingSafeEqual } from "./crypto.ts";
import { define } from "./define.ts";
import type { ScriptEvents } from "./events.ts";
import { ScriptHeaders } from "./fetch/headers.ts";
import { scriptFetch } from "./fetch/outbound.ts";
import { ScriptRequest } from "./fetch/request.ts";
import { ScriptResponse } from "./fetch/response.ts";
import { HTMLRewriter } from "./html-rewriter/html-rewriter.ts";
import { installPlatformGlobals } from "./platform-globals.ts";
import { IdentityTransformStream } from "./streams.ts";
import { webClasses } from "./web-classes.ts";

export interface GlobalsOptions {
  /** Maximum total size of all caches of the process. */
  readonly cacheBytes?: number | undefined;
  /** Clock of the caches, in milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
}

const defaultCacheBytes = 64 * 1024 * 1024;

/** Returns the events whose listeners the script adds. */
export function installGlobals(options: GlobalsOptions): ScriptEvents {
  const { cacheBytes = defaultCacheBytes, now = Date.now } = options;
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
  });
  define(globalThis.crypto, { DigestStream });
  const { subtle } = globalThis.crypto;
  define(subtle, { timingSafeEqual, digest: createDigest(subtle) });
  return installPlatformGlobals();
}
