// What `new Request(input, init)` is made of, checked as the standard asks, without the `duplex` that Node
// wants beside a stream.
import { type Body, type ByteStream, bodyFrom, extractBody, moveBody } from "./fetch-body.ts";
import { ScriptHeaders } from "./fetch-headers.ts";
import { native } from "./fetch-native.ts";

export interface RequestParts {
  readonly method: string;
  readonly url: string;
  readonly headers: ScriptHeaders;
  readonly body: Body | undefined;
  readonly signal: AbortSignal | undefined;
  readonly redirect: string;
  readonly cf: object | undefined;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** The fields of the standard that change nothing here but what they say of themselves, and what fetch is told. */
export const defaultSettings: Readonly<Record<string, unknown>> = {
  cache: "default",
  credentials: "same-origin",
  destination: "",
  duplex: "half",
  integrity: "",
  isHistoryNavigation: false,
  isReloadNavigation: false,
  keepalive: false,
  mode: "cors",
  referrer: "about:client",
  referrerPolicy: "",
};

/** Those that fetch is told. */
const given = ["cache", "credentials", "integrity", "keepalive", "mode", "referrer", "referrerPolicy"];

type Fields = Readonly<Record<string, unknown>>;
type PartsOf = (value: unknown) => RequestParts | undefined;

export function partsFrom(input: unknown, init: unknown, oursOf: PartsOf): RequestParts {
  const source = oursOf(input) ?? nativeParts(input);
  const url = source?.url ?? absoluteUrl(input);
  const example = oursOf(init) ?? nativeParts(init);
  // A request in place of options says everything; the two share one body.
  if (example !== undefined) return { ...example, url, headers: new ScriptHeaders(example.headers) };
  const options = optionsFrom(init);
  const method = options.method === undefined ? (source?.method ?? "GET") : methodFrom(options.method);
  const headers = new ScriptHeaders(options.headers ?? source?.headers);
  const body = bodyOf(options, source, headers);
  const saysSo = options.method !== undefined || options.body !== undefined;
  if (saysSo && body !== undefined && (method === "GET" || method === "HEAD")) {
    throw new TypeError(`A Request with method ${method} cannot have a body.`);
  }
  return {
    method,
    url,
    headers,
    body,
    signal: signalFrom(options.signal, source?.signal),
    redirect:
      options.redirect === undefined ? (source?.redirect ?? "follow") : redirectFrom(options.redirect),
    cf: (options.cf ?? source?.cf) as object | undefined,
    settings: { ...source?.settings, ...settingsFrom(options) },
  };
}

function optionsFrom(init: unknown): Fields {
  if (init === undefined || init === null) return {};
  if (typeof init !== "object") throw new TypeError("The second argument of Request must be an object.");
  return init as Fields;
}

function nativeParts(value: unknown): RequestParts | undefined {
  if (!(value instanceof native.Request)) return undefined;
  const { method, url, body, signal, redirect } = value;
  return {
    method,
    url,
    headers: new ScriptHeaders(value.headers),
    body: body === null ? undefined : bodyFrom(body as ByteStream),
    signal,
    redirect,
    cf: undefined,
    settings: settingsFrom(value as unknown as Fields),
  };
}

function bodyOf(options: Fields, source: RequestParts | undefined, headers: ScriptHeaders): Body | undefined {
  if (options.body === undefined || options.body === null) {
    return source?.body === undefined ? undefined : moveBody(source.body);
  }
  const { body, contentType } = extractBody(options.body);
  if (contentType !== undefined && !headers.has("content-type")) headers.set("content-type", contentType);
  return body;
}

function settingsFrom(fields: Fields): Fields {
  const said = given.filter((name) => fields[name] !== undefined);
  return Object.fromEntries(said.map((name) => [name, fields[name]]));
}

function absoluteUrl(input: unknown): string {
  const text = `${input as string}`;
  if (!URL.canParse(text)) {
    throw new TypeError(
      `Invalid URL ${JSON.stringify(text)}: a Request needs a whole one, such as "https://example.com/path".`,
    );
  }
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") {
    throw new TypeError(
      "A Request's URL cannot carry a user name or password: send an Authorization header.",
    );
  }
  return url.href;
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** The six that the standard writes in capitals; all others stay as they came. */
const capitals = /^(delete|get|head|options|post|put)$/i;

function methodFrom(value: unknown): string {
  const method = `${value as string}`;
  if (!token.test(method) || /^(connect|trace|track)$/i.test(method)) {
    throw new TypeError(`${JSON.stringify(method)} is no method a Request may have.`);
  }
  return capitals.test(method) ? method.toUpperCase() : method;
}

function redirectFrom(value: unknown): string {
  if (value === "follow" || value === "manual" || value === "error") return value;
  throw new TypeError(`"redirect" must be "follow", "manual" or "error": ${JSON.stringify(value)}`);
}

function signalFrom(value: unknown, inherited: AbortSignal | undefined): AbortSignal | undefined {
  if (value === undefined) return inherited;
  if (value === null) return undefined;
  if (value instanceof AbortSignal) return value;
  throw new TypeError('"signal" must be an AbortSignal.');
}
