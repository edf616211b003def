// The Request a script is given, light: nothing is parsed or opened before the script asks for it. The class
// is the one scripts construct, too.
import { type Body, bodyFrom, cloneBody } from "./fetch-body.ts";
import { defineBodyMembers } from "./fetch-body-members.ts";
import { headersFromRaw, ScriptHeaders } from "./fetch-headers.ts";
import { native, standInFor } from "./fetch-native.ts";
import { defaultSettings, partsFrom, type RequestParts } from "./fetch-request-parts.ts";

export interface IncomingRequest {
  readonly method: string;
  /** Absolute, as the client wrote it. */
  readonly url: string;
  /** Names and values in turn; what is to be called is so when the script looks at its headers. */
  readonly rawHeaders: readonly string[] | (() => readonly string[]);
  readonly body: (() => ReadableStream<Uint8Array>) | undefined;
  /** Calls once when the client is gone before its answer. */
  readonly onDisconnect?: ((listener: () => void) => void) | undefined;
}

/** The first argument of the calls of the constructor that scripts cannot make. */
const incomingMark = Symbol("incoming");
const partsMark = Symbol("parts");

const noSettings = {};
const noHeaders: readonly string[] = [];

let bodyOf: (request: ScriptRequest) => Body | undefined;
let partsOf: (request: ScriptRequest) => RequestParts;
let isOurs: (value: unknown) => value is ScriptRequest;

export class ScriptRequest {
  readonly #method: string;
  readonly #url: string;
  #headers: ScriptHeaders | undefined;
  readonly #rawHeaders: IncomingRequest["rawHeaders"];
  readonly #body: Body | undefined;
  #signal: AbortSignal | undefined;
  readonly #onDisconnect: IncomingRequest["onDisconnect"];
  readonly #redirect: string;
  readonly #cf: object | undefined;
  readonly #settings: RequestParts["settings"];

  static {
    bodyOf = (request) => request.#body;
    isOurs = (value): value is ScriptRequest =>
      typeof value === "object" && value !== null && #method in value;
    partsOf = (request) => ({
      method: request.#method,
      url: request.#url,
      headers: request.headers,
      body: request.#body,
      signal: request.#signal,
      redirect: request.#redirect,
      cf: request.#cf,
      settings: request.#settings,
    });
  }

  constructor(input: unknown, init?: unknown) {
    if (input === incomingMark) {
      const incoming = init as IncomingRequest;
      this.#method = incoming.method;
      this.#url = incoming.url;
      this.#rawHeaders = incoming.rawHeaders;
      this.#body = incoming.body === undefined ? undefined : bodyFrom(incoming.body);
      this.#onDisconnect = incoming.onDisconnect;
      // What a script passes on must not follow redirects on behalf of its client.
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
    this.#signal = parts.signal;
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

  /** Facts the platform would tell about the connection; here there are none, or those a script gave. */
  get cf(): object | undefined {
    return this.#cf;
  }

  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      const controller = new AbortController();
      this.#onDisconnect?.(() => controller.abort(new DOMException("The client went away.", "AbortError")));
      this.#signal = controller.signal;
    }
    return this.#signal;
  }

  clone(): ScriptRequest {
    const body = this.#body === undefined ? undefined : cloneBody(this.#body);
    return new ScriptRequest(partsMark, { ...partsOf(this), headers: new ScriptHeaders(this.headers), body });
  }
}

standInFor(ScriptRequest, native.Request);
defineBodyMembers(ScriptRequest.prototype, (request) => bodyOf(request));
for (const [name, standard] of Object.entries(defaultSettings)) {
  Object.defineProperty(ScriptRequest.prototype, name, {
    configurable: true,
    get(this: ScriptRequest): unknown {
      return partsOf(this).settings[name] ?? standard;
    },
  });
}

/** What a request is made of, if it is one of ours. */
export function requestParts(value: unknown): RequestParts | undefined {
  return isOurs(value) ? partsOf(value) : undefined;
}

export function createRequest(incoming: IncomingRequest): Request {
  return new ScriptRequest(incomingMark, incoming) as unknown as Request;
}
