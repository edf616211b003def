// Parses the arguments of `new Request(input, init)` as the standard requires. Unlike in Node, a
// stream as body needs no `duplex`.
import { ReadableStream } from "node:stream/web";
import { type Body, type ByteStream, createBody, extractBody, moveBody } from "./body.ts";
import { ScriptHeaders } from "./headers.ts";
import { isNative, native } from "./native.ts";
import { parseUrl } from "./parse-url.ts";
import {
  checkMode,
  noSettings,
  type RequestSettings,
  readEnumerated,
  settingsFrom,
} from "./request-settings.ts";

const { AbortSignal } = globalThis;

export interface RequestParts {
  readonly method: string;
  readonly url: string;
  readonly headers: ScriptHeaders;
  readonly body: Body | undefined;
  /** The signal that aborts the request, or another Request that has this signal. */
  readonly abortSource: AbortSignal | { readonly signal: AbortSignal } | undefined;
  readonly redirect: string;
  readonly cf: object | undefined;
  readonly settings: RequestSettings;
}

type Fields = Readonly<Record<string, unknown>>;
type GetParts = (value: unknown) => RequestParts | undefined;

export function partsFrom(input: unknown, init: unknown, getParts: GetParts): RequestParts {
  const source = getParts(input) ?? nativeParts(input);
  const url = source?.url ?? absoluteUrl(input);
  const example = getParts(init) ?? nativeParts(init);
  // If `init` is a Request, everything except the URL comes from it; both share one body.
  if (example !== undefined) return { ...example, url, headers: new ScriptHeaders(example.headers) };
  const options = optionsFrom(init);
  const settings = settingsFrom(options, source?.settings ?? noSettings);
  const method = options.method === undefined ? (source?.method ?? "GET") : methodFrom(options.method);
  checkMode(method, settings);
  const abortSource = options.signal === undefined ? source?.abortSource : signalFrom(options.signal);
  const headers = new ScriptHeaders(options.headers ?? source?.headers);
  checkBody(method, options, source);
  return {
    method,
    url,
    headers,
    body: createRequestBody({ options, source, headers, settings }),
    abortSource,
    redirect: readEnumerated(options, "redirect") ?? source?.redirect ?? "follow",
    cf: (options.cf ?? source?.cf) as object | undefined,
    settings,
  };
}

function optionsFrom(init: unknown): Fields {
  if (init === undefined || init === null) return {};
  if (typeof init !== "object" && typeof init !== "function")
    throw new TypeError("The second argument of Request must be an object.");
  return init as Fields;
}

function nativeParts(value: unknown): RequestParts | undefined {
  if (!isNative(value, native.Request)) return undefined;
  const request = value as Request;
  const { method, url, body, signal, redirect } = request;
  const { cache, credentials, integrity, keepalive, mode, referrer, referrerPolicy } = request;
  return {
    method,
    url,
    headers: new ScriptHeaders(request.headers),
    body: body === null ? undefined : createBody(body as ByteStream),
    abortSource: signal,
    redirect,
    cf: undefined,
    settings: { cache, credentials, integrity, keepalive, mode, referrer, referrerPolicy },
  };
}

/** A script can forward a received GET that has a body, but cannot create one. */
function checkBody(method: string, options: Fields, source: RequestParts | undefined): void {
  if (method !== "GET" && method !== "HEAD") return;
  const hasOwnBody = options.body !== undefined && options.body !== null;
  const hasInheritedBody = options.method !== undefined && source?.body !== undefined;
  if (hasOwnBody || hasInheritedBody)
    throw new TypeError(`A Request with method ${method} cannot have a body.`);
}

interface BodyInput {
  readonly options: Fields;
  readonly source: RequestParts | undefined;
  readonly headers: ScriptHeaders;
  readonly settings: RequestSettings;
}

function createRequestBody({ options, source, headers, settings }: BodyInput): Body | undefined {
  if (options.body === undefined || options.body === null) {
    return source?.body === undefined ? undefined : moveBody(source.body);
  }
  if (settings.keepalive === true && options.body instanceof ReadableStream) {
    throw new TypeError("A Request with keepalive cannot have a stream as its body.");
  }
  const { body, contentType } = extractBody(options.body);
  if (contentType !== undefined && !headers.has("content-type")) headers.set("content-type", contentType);
  return body;
}

function absoluteUrl(input: unknown): string {
  const text = `${input as string}`;
  const url = parseUrl(text);
  if (url === undefined) {
    throw new TypeError(
      `Invalid URL ${JSON.stringify(text)}: a Request needs a whole one, such as "https://example.com/path".`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError(
      "A Request's URL cannot carry a user name or password: send an Authorization header.",
    );
  }
  return url.href;
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Methods that the standard converts to upper case; other methods stay unchanged. */
const capitals = /^(delete|get|head|options|post|put)$/i;

function methodFrom(value: unknown): string {
  const method = `${value as string}`;
  if (!token.test(method) || /^(connect|trace|track)$/i.test(method)) {
    throw new TypeError(`${JSON.stringify(method)} is not a method that a Request can have.`);
  }
  return capitals.test(method) ? method.toUpperCase() : method;
}

function signalFrom(value: unknown): AbortSignal | undefined {
  if (value === null) return undefined;
  if (value instanceof AbortSignal) return value;
  throw new TypeError('"signal" must be an AbortSignal.');
}
