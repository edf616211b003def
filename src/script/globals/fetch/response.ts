// The Response class of scripts. It stores body, status and headers in their original form, so that
// the host can send them without creating a stream or one of Node's responses.
import type { URL } from "node:url";
import { type Body, type ByteStream, cloneBody, createBody, extractBody, isEmpty, takeBody } from "./body.ts";
import { defineBodyMembers } from "./body-mixin.ts";
import { freezeHeaders, ScriptHeaders, wireHeaders } from "./headers.ts";
import { defineInspection, isNative, native, standInFor } from "./native.ts";
import { parseUrl } from "./parse-url.ts";

export interface ResponseDescription {
  readonly status: number;
  readonly statusText: string;
  /** Header names and values as byte strings; each cookie is a separate pair. */
  readonly headers: Iterable<[string, string]>;
  readonly body: Uint8Array | string | ByteStream | null;
}

/** Type and URL of a response that was not created by a script. */
interface Origin {
  readonly type: string;
  readonly url: string;
  readonly redirected: boolean;
}

interface Parts {
  readonly status: number;
  readonly statusText: string;
  readonly headers: ScriptHeaders;
  readonly body: Body | undefined;
  readonly origin?: Origin | undefined;
}

const nullBodyStatuses: readonly number[] = [101, 103, 204, 205, 304];
const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308];
const defaultOrigin: Origin = { type: "default", url: "", redirected: false };

let getBody: (response: ScriptResponse) => Body | undefined;
let assemble: (parts: Parts) => ScriptResponse;
let describe: (response: ScriptResponse) => ResponseDescription;
let isOurs: (value: unknown) => value is ScriptResponse;

interface ResponseInit {
  readonly status?: unknown;
  readonly statusText?: unknown;
  readonly headers?: unknown;
}

export class ScriptResponse {
  #status = 200;
  #statusText = "";
  #headers: ScriptHeaders | undefined;
  /** Content-Type derived from the body; added to the headers when the script first reads them. */
  #contentType: string | undefined;
  #body: Body | undefined;
  #origin = defaultOrigin;

  static {
    getBody = (response) => response.#body;
    isOurs = (value): value is ScriptResponse =>
      typeof value === "object" && value !== null && #status in value;
    assemble = ({ status, statusText, headers, body, origin }) => {
      const response = new ScriptResponse();
      response.#status = status;
      response.#statusText = statusText;
      response.#headers = headers;
      response.#body = body;
      if (origin !== undefined) response.#origin = origin;
      return response;
    };
    describe = (response) => ({
      status: response.#status,
      statusText: response.#statusText,
      headers: response.#wireHeaders(),
      body: response.#body === undefined ? null : takeBody(response.#body),
    });
  }

  constructor(body: unknown = null, init: ResponseInit | null = null) {
    if (init !== null) {
      if (typeof init !== "object" && typeof init !== "function")
        throw new TypeError("The second argument of Response must be an object.");
      if (init.status !== undefined) this.#status = statusFrom(init.status);
      if (init.statusText !== undefined) this.#statusText = statusTextFrom(init.statusText);
      if (init.headers !== undefined) this.#headers = new ScriptHeaders(init.headers);
    }
    if (body === null) return;
    const extracted = extractBody(body);
    this.#body = nullBodyStatuses.includes(this.#status)
      ? nullBody(extracted.body!, this.#status)
      : extracted.body;
    if (this.#body === undefined || extracted.contentType === undefined) return;
    if (this.#headers === undefined) this.#contentType = extracted.contentType;
    else if (!this.#headers.has("content-type")) this.#headers.set("content-type", extracted.contentType);
  }

  get status(): number {
    return this.#status;
  }

  get ok(): boolean {
    return this.#status >= 200 && this.#status <= 299;
  }

  get statusText(): string {
    return this.#statusText;
  }

  get headers(): ScriptHeaders {
    if (this.#headers === undefined) {
      this.#headers = new ScriptHeaders();
      if (this.#contentType !== undefined) this.#headers.set("content-type", this.#contentType);
    }
    return this.#headers;
  }

  get type(): string {
    return this.#origin.type;
  }

  get url(): string {
    return this.#origin.url;
  }

  get redirected(): boolean {
    return this.#origin.redirected;
  }

  clone(): ScriptResponse {
    const body = this.#body === undefined ? undefined : cloneBody(this.#body);
    const headers = new ScriptHeaders(this.headers);
    return assemble({
      status: this.#status,
      statusText: this.#statusText,
      headers,
      body,
      origin: this.#origin,
    });
  }

  #wireHeaders(): Iterable<[string, string]> {
    if (this.#headers !== undefined) return wireHeaders(this.#headers);
    return this.#contentType === undefined ? [] : [["content-type", this.#contentType]];
  }

  static json(data: unknown, init: ResponseInit | null = null): ScriptResponse {
    requireArgument(arguments.length);
    const text: string | undefined = JSON.stringify(data);
    if (text === undefined) throw new TypeError(`JSON cannot express a value of type ${typeof data}.`);
    const response = new ScriptResponse(text, init);
    if (!hasContentType(init)) response.headers.set("content-type", "application/json");
    return response;
  }

  static redirect(url: string | URL, status: number = 302): ScriptResponse {
    requireArgument(arguments.length);
    const location = parseUrl(`${url}`)?.href;
    if (location === undefined) {
      throw new TypeError(
        `Invalid URL ${JSON.stringify(`${url}`)}: a redirect needs a whole one, such as "https://example.com/path".`,
      );
    }
    const code = toUnsignedShort(status);
    if (!redirectStatuses.includes(code)) {
      throw new RangeError(`${code} is not the status of a redirect: use ${redirectStatuses.join(", ")}.`);
    }
    const headers = freezeHeaders(new ScriptHeaders({ location }));
    return assemble({ status: code, statusText: "", headers, body: undefined });
  }

  static error(): ScriptResponse {
    const origin = { ...defaultOrigin, type: "error" };
    return assemble({
      status: 0,
      statusText: "",
      headers: freezeHeaders(new ScriptHeaders()),
      body: undefined,
      origin,
    });
  }
}

defineBodyMembers(ScriptResponse.prototype, (response) => getBody(response));
standInFor({ ours: ScriptResponse, theirs: native.Response, isOurs });
defineInspection(ScriptResponse, ["status", "statusText", "headers", "type", "url", "redirected"]);

function requireArgument(count: number): void {
  if (count === 0) throw new TypeError("An argument is needed.");
}

function hasContentType(init: ResponseInit | null): boolean {
  const headers = init?.headers;
  return headers !== undefined && new ScriptHeaders(headers).has("content-type");
}

/** Converts as Web IDL does: a value that is not a number becomes 0. */
function toUnsignedShort(value: unknown): number {
  return Math.trunc(Number(value)) & 0xffff;
}

function statusFrom(value: unknown): number {
  const status = toUnsignedShort(value);
  if (status >= 200 && status <= 599) return status;
  throw new RangeError(`The status of a Response must be from 200 to 599: ${String(value)}`);
}

function statusTextFrom(value: unknown): string {
  const text = `${value as string}`;
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text;
  throw new TypeError(`Invalid status text ${JSON.stringify(text)}: use printable Latin-1 characters only.`);
}

/** A status without a body accepts only an empty body, which is dropped. */
function nullBody(body: Body, status: number): undefined {
  if (isEmpty(body)) return undefined;
  throw new TypeError(`A Response with status ${status} cannot have a body: pass null.`);
}

/** Creates a response from its parts, without validation. */
export function assembleResponse(parts: Parts): Response {
  return assemble(parts) as unknown as Response;
}

/** Returns what the host sends. Takes the body, so a response can be sent only once. */
export function describeResponse(response: Response): ResponseDescription {
  if (isOurs(response)) {
    if (response.type === "error")
      throw new TypeError("Response.error() cannot be sent: it represents a failed request.");
    return describe(response);
  }
  if (!isNative(response, native.Response)) {
    throw new TypeError(`A Response is needed here, not ${response === null ? "null" : typeof response}.`);
  }
  const { status, statusText, body, bodyUsed } = response;
  if (bodyUsed) throw new TypeError("The body of this Response has already been read: it cannot be sent.");
  const headers = wireHeaders(new ScriptHeaders(response.headers));
  return {
    status,
    statusText,
    headers,
    body: body === null ? null : takeBody(createBody(body as ByteStream)),
  };
}
