// The Request class of scripts. For incoming requests it is lazy: headers are parsed and the body
// is opened only when the script reads them.
import type { ReadableStream } from "node:stream/web";
import { type Body, cloneBody, createBody } from "./body.ts";
import { defineBodyMembers } from "./body-mixin.ts";
import { headersFromRaw, ScriptHeaders } from "./headers.ts";
import { defineInspection, native, standInFor } from "./native.ts";
import { partsFrom, type RequestParts } from "./request-init.ts";
import { defaultSettings, noSettings } from "./request-settings.ts";

// Taken at load, because scripts replace globals.
const { AbortController, AbortSignal, DOMException } = globalThis;

export interface IncomingRequest {
  readonly method: string;
  /** Absolute URL, as the client sent it. */
  readonly url: string;
  /** Alternating names and values, or a function that returns them on first use. */
  readonly rawHeaders: readonly string[] | (() => readonly string[]);
  readonly body: (() => ReadableStream<Uint8Array>) | undefined;
  /** Registers a listener, which is called once if the client disconnects before the response. */
  readonly onDisconnect?: ((listener: () => void) => void) | undefined;
}

/** First argument of internal constructor calls; scripts have no access to it. */
const incomingMark = Symbol("incoming");
const partsMark = Symbol("parts");
const noHeaders: readonly string[] = [];

let getBody: (request: ScriptRequest) => Body | undefined;
let getParts: (request: ScriptRequest) => RequestParts;
let getSettings: (request: ScriptRequest) => RequestParts["settings"];
let getActiveSignal: (request: ScriptRequest) => AbortSignal | undefined;
let isOurs: (value: unknown) => value is ScriptRequest;

export class ScriptRequest {
  readonly #method: string;
  readonly #url: string;
  #headers: ScriptHeaders | undefined;
  readonly #rawHeaders: IncomingRequest["rawHeaders"];
  readonly #body: Body | undefined;
  /** Created when the script first reads it. */
  #signal: AbortSignal | undefined;
  readonly #abortSource: RequestParts["abortSource"];
  readonly #onDisconnect: IncomingRequest["onDisconnect"];
  readonly #redirect: string;
  readonly #cf: object | undefined;
  readonly #settings: RequestParts["settings"];

  static {
    getBody = (request) => request.#body;
    isOurs = (value): value is ScriptRequest =>
      typeof value === "object" && value !== null && #method in value;
    getSettings = (request) => request.#settings;
    getActiveSignal = (request) => {
      const abortSource = request.#abortSource;
      if (request.#signal !== undefined || abortSource === undefined) return request.#signal;
      return isOurs(abortSource) ? getActiveSignal(abortSource) : (abortSource as AbortSignal);
    };
    getParts = (request) => ({
      method: request.#method,
      url: request.#url,
      headers: request.headers,
      body: request.#body,
      abortSource: request,
      redirect: request.#redirect,
      cf: request.#cf,
      settings: request.#settings,
    });
  }

  constructor(input: unknown, init: unknown = undefined) {
    if (arguments.length === 0) throw new TypeError("A Request needs a URL or another Request.");
    if (input === incomingMark) {
      const incoming = init as IncomingRequest;
      this.#method = incoming.method;
      this.#url = incoming.url;
      this.#rawHeaders = incoming.rawHeaders;
      this.#body = incoming.body === undefined ? undefined : createBody(incoming.body);
      this.#onDisconnect = incoming.onDisconnect;
      // A script that forwards a request must return redirects to the client, not follow them.
      this.#redirect = "manual";
      this.#cf = {};
      this.#settings = noSettings;
      return;
    }
    const parts = input === partsMark ? (init as RequestParts) : partsFrom(input, init, requestParts);
    this.#method = parts.method;
    this.#url = parts.url;
    this.#rawHeaders = noHeaders;
    this.#headers = parts.headers;
    this.#body = parts.body;
    this.#abortSource = parts.abortSource;
    this.#redirect = parts.redirect;
    this.#cf = parts.cf;
    this.#settings = parts.settings;
  }

  get method(): string {
    return this.#method;
  }

  get url(): string {
    return this.#url;
  }

  get headers(): ScriptHeaders {
    if (this.#headers === undefined) {
      const raw = this.#rawHeaders;
      this.#headers = headersFromRaw(typeof raw === "function" ? raw() : raw);
    }
    return this.#headers;
  }

  get redirect(): string {
    return this.#redirect;
  }

  /** Connection metadata in Cloudflare Workers; in Store, only what the script has set. */
  get cf(): object | undefined {
    return this.#cf;
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#abortSource === undefined ? this.#ownSignal() : deriveSignal(this.#abortSource);
    return this.#signal;
  }

  #ownSignal(): AbortSignal {
    const controller = new AbortController();
    this.#onDisconnect?.(() => controller.abort(new DOMException("The client disconnected.", "AbortError")));
    return controller.signal;
  }

  clone(): ScriptRequest {
    const body = this.#body === undefined ? undefined : cloneBody(this.#body);
    return new ScriptRequest(partsMark, {
      ...getParts(this),
      headers: new ScriptHeaders(this.headers),
      body,
    });
  }
}

for (const [name, defaultValue] of Object.entries(defaultSettings)) {
  const { get } = {
    get(this: ScriptRequest): unknown {
      return getSettings(this)[name] ?? defaultValue;
    },
  };
  Object.defineProperty(get, "name", { value: `get ${name}` });
  Object.defineProperty(ScriptRequest.prototype, name, { configurable: true, get });
}
defineBodyMembers(ScriptRequest.prototype, (request) => getBody(request));
standInFor({ ours: ScriptRequest, theirs: native.Request, isOurs });
defineInspection(ScriptRequest, ["method", "url", "headers", "redirect", "signal"]);

function deriveSignal(abortSource: NonNullable<RequestParts["abortSource"]>): AbortSignal {
  return AbortSignal.any([abortSource instanceof AbortSignal ? abortSource : abortSource.signal]);
}

/** Undefined when the value is not an instance of Store's Request. */
export function requestParts(value: unknown): RequestParts | undefined {
  return isOurs(value) ? getParts(value) : undefined;
}

/** The signal that may abort the request, if there is one. Does not create a signal. */
export function activeSignal(request: ScriptRequest): AbortSignal | undefined {
  return getActiveSignal(request);
}

export function createRequest(incoming: IncomingRequest): Request {
  return new ScriptRequest(incomingMark, incoming) as unknown as Request;
}
