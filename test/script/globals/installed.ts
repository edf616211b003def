// Installs the globals of scripts in this process. node:test runs every test file in its own
// process, so other tests are not affected.
import type { ScriptCache, ScriptCacheStorage } from "../../../src/script/globals/cache/caches.ts";
import type { DigestStream } from "../../../src/script/globals/crypto.ts";
import type { ScriptHeaders } from "../../../src/script/globals/fetch/headers.ts";
import type { ScriptRequest } from "../../../src/script/globals/fetch/request.ts";
import { createRequest, type IncomingRequest } from "../../../src/script/globals/fetch/request.ts";
import type { HTMLRewriter } from "../../../src/script/globals/html-rewriter/html-rewriter.ts";
import { installGlobals } from "../../../src/script/globals/install.ts";
import type { IdentityTransformStream } from "../../../src/script/globals/streams.ts";

/** Node's own classes, saved before the installation. */
export const node = {
  Headers: globalThis.Headers,
  Request: globalThis.Request,
  Response: globalThis.Response,
} as const;

/** The current time for the caches; tests can change it. */
export const clock = { now: Date.parse("2026-01-01T00:00:00Z") };

export const cacheBytes = 100_000;

installGlobals({ cacheBytes, now: () => clock.now });

/** Types of the globals that Node lacks or types more strictly. */
export interface ScriptGlobals {
  readonly Headers: new (init?: unknown) => ScriptHeaders;
  readonly Request: new (input: unknown, init?: unknown) => Request & Pick<ScriptRequest, "cf">;
  readonly Response: typeof Response & (new (body?: unknown, init?: unknown) => Response);
  readonly fetch: (input: unknown, init?: unknown) => Promise<Response>;
  readonly caches: ScriptCacheStorage;
  readonly Cache: typeof ScriptCache;
  readonly HTMLRewriter: typeof HTMLRewriter;
  readonly IdentityTransformStream: typeof IdentityTransformStream;
  readonly FixedLengthStream: new (length: number) => TransformStream<Uint8Array, Uint8Array>;
  readonly WebAssembly: {
    compileStreaming(source: Response): Promise<object>;
    readonly Module: new () => object;
  };
  readonly navigator: { readonly userAgent: string };
  readonly crypto: typeof globalThis.crypto & {
    readonly DigestStream: typeof DigestStream;
    readonly subtle: { timingSafeEqual(a: unknown, b: unknown): boolean };
  };
}

export const script = globalThis as unknown as ScriptGlobals;

/** Creates a request as the host passes it to a script. */
export function incoming(given: Partial<IncomingRequest> = {}): Request & Pick<ScriptRequest, "cf"> {
  return createRequest({
    method: "GET",
    url: "http://photos.example.com/a",
    rawHeaders: [],
    body: undefined,
    ...given,
  }) as Request & Pick<ScriptRequest, "cf">;
}

/** Creates a stream that returns one piece per read, in order. */
export function streamOf(...pieces: (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  const left = pieces.map((piece) => new Uint8Array(Buffer.from(piece as string)));
  return new ReadableStream({
    pull(controller) {
      const next = left.shift();
      if (next === undefined) controller.close();
      else controller.enqueue(next);
    },
  });
}
