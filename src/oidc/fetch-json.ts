// Requests to a provider, with a timeout and a size limit. Redirects are not followed, because they
// could lead to any host.
import { isFields } from "../model/shape.ts";
import { OidcError } from "./oidc-error.ts";
import { providerUrlFlaw } from "./provider-url.ts";

export interface ProviderRequest {
  readonly url: string;
  /** What the response is, for error messages: "configuration". */
  readonly what: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as a POST request. */
  readonly form?: URLSearchParams | undefined;
}

export interface ProviderResponse {
  readonly status: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

const timeoutMilliseconds = 10_000;
const maxBytes = 1024 * 1024;

/** Returns the fields of a 200 response; throws OidcError for other responses. */
export async function fetchJson(request: ProviderRequest): Promise<Readonly<Record<string, unknown>>> {
  const { status, fields } = await requestJson(request);
  if (status === 200) return fields;
  throw new OidcError("provider", `The provider answered its ${request.what} with status ${status}.`);
}

/** Accepts any status, with a JSON object as body. */
export async function requestJson({ url, what, headers, form }: ProviderRequest): Promise<ProviderResponse> {
  const flaw = providerUrlFlaw(url);
  if (flaw !== undefined) throw new OidcError("provider", `The URL of the provider's ${what} ${flaw}.`);
  const response = await send(url, what, {
    method: form === undefined ? "GET" : "POST",
    headers: { accept: "application/json", "user-agent": "Store", ...headers },
    ...(form === undefined ? {} : { body: form }),
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMilliseconds),
  });
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    throw new OidcError("provider", `The provider redirects its ${what}; redirects are not followed.`);
  }
  const text = await readText(response, what);
  return { status: response.status, fields: parseFields(text, what) };
}

async function send(url: string, what: string, options: RequestInit): Promise<Response> {
  try {
    return await fetch(url, options);
  } catch (error) {
    throw unreachable(what, error);
  }
}

async function readText(response: Response, what: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > maxBytes) throw new OidcError("provider", `The provider's ${what} is larger than 1 MiB.`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof OidcError ? error : unreachable(what, error);
  }
  return Buffer.concat(chunks).toString();
}

function parseFields(text: string, what: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (isFields(value)) return value;
  throw new OidcError("provider", `The provider's ${what} is not a JSON object.`);
}

function unreachable(what: string, cause: unknown): OidcError {
  const isTimeout = cause instanceof Error && cause.name === "TimeoutError";
  const why = isTimeout ? "did not answer in time" : "cannot be reached";
  return new OidcError("provider", `The provider ${why}; its ${what} could not be loaded.`, { cause });
}
