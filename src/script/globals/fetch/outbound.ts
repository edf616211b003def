// The fetch function of scripts: uses Store's Request and Response, and removes hop-by-hop headers,
// so that a script can forward what it receives.
import { ReadableStream } from "node:stream/web";
import { declaredLength, declareLength } from "../../../binding/fixed-length-stream.ts";
import { hopByHopHeaders } from "../../../http/headers.ts";
import { type ByteStream, createBody, takeBody } from "./body.ts";
import { freezeHeaders, headersFromWire, wireHeaders } from "./headers.ts";
import { native } from "./native.ts";
import { activeSignal, requestParts, ScriptRequest } from "./request.ts";
import { assembleResponse } from "./response.ts";

/** Headers that are not forwarded: hop-by-hop, or set again for each request. */
const notSent = new Set([...hopByHopHeaders, "content-length", "expect", "host"]);
const notReceived = new Set(["connection", "keep-alive", "transfer-encoding"]);

/** Encodings that Node decodes without removing Content-Encoding and Content-Length. */
const decodedByNode = /^\s*(gzip|x-gzip|deflate|br)\s*(,\s*(gzip|x-gzip|deflate|br)\s*)*$/i;

/** Keeps a body's response alive: Node cancels the body of a garbage-collected response. */
const origins = new WeakMap<ReadableStream, Response>();

export async function scriptFetch(input: unknown, init?: unknown): Promise<Response> {
  const scriptRequest = new ScriptRequest(input, init);
  const request = requestParts(scriptRequest)!;
  const { method, url, redirect, settings } = request;
  const signal = activeSignal(scriptRequest);
  const mayHaveBody = method !== "GET" && method !== "HEAD";
  const body = request.body === undefined || !mayHaveBody ? undefined : takeBody(request.body);
  const headers = [...wireHeaders(request.headers)].filter(([name]) => !notSent.has(name));
  const length = body instanceof ReadableStream ? declaredLength(body) : undefined;
  if (length !== undefined) headers.push(["content-length", String(length)]);
  const options = { ...settings, method, headers, redirect, duplex: "half" as const };
  const response = await native.fetch(url, {
    ...(options as RequestInit),
    ...(body === undefined ? {} : { body: body instanceof ReadableStream ? bytesOnly(body) : body }),
    ...(signal === undefined ? {} : { signal }),
  });
  return toScriptResponse(response, signal);
}

/** Throws on a chunk that is not bytes, as the standard requires; Node accepts other types too. */
function bytesOnly(body: ByteStream): ByteStream {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        if (value instanceof Uint8Array) return controller.enqueue(value);
        throw new TypeError(`The stream gave a ${typeof value} instead of a Uint8Array.`);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function toScriptResponse(response: Response, signal: AbortSignal | undefined): Response {
  const { status, statusText, body } = response;
  if (body !== null) {
    origins.set(body, response);
    const length = receivedLength(response);
    if (length !== undefined) declareLength(body, length);
  }
  return assembleResponse({
    status,
    statusText,
    headers: freezeHeaders(headersFromWire(receivedHeaders(response))),
    body: body === null ? undefined : createBody(body as ByteStream, signal),
    origin: response,
  });
}

/** Returns Content-Length, which Node enforces; undefined if missing or if the body was decoded. */
function receivedLength({ headers }: Response): number | undefined {
  const length = headers.get("content-length");
  const isPlain = length !== null && /^[0-9]{1,15}$/.test(length) && !headers.has("transfer-encoding");
  return isPlain && !headers.has("content-encoding") ? Number(length) : undefined;
}

function receivedHeaders({ headers, body }: Response): [string, string][] {
  const isDecoded = body !== null && decodedByNode.test(headers.get("content-encoding") ?? "");
  return [...headers].filter(
    ([name]) =>
      !notReceived.has(name) && !(isDecoded && (name === "content-encoding" || name === "content-length")),
  );
}
