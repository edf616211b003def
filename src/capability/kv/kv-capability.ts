// The right to one key-value namespace, as an HTTP handler that speaks workerd's key-value protocol:
// the key is the path, options are the query, and metadata is a header in both directions.
import type { Engine, Source } from "../../engine/engine.ts";
import type { KeyValueEntry } from "../../engine/key-value/key-value.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../../http/server/listen.ts";
import { release } from "../../http/server/release-buffer.ts";
import { KeyValueError } from "../../model/key-value.ts";
import { getBulk } from "./bulk-get.ts";
import { errorResponse } from "./error-response.ts";
import { formatMetadata, parseMetadata } from "./metadata-header.ts";
import { type KvRequest, parseRequest } from "./parse-request.ts";

export interface KvCapabilityOptions {
  readonly engine: Pick<Engine, "kv">;
  readonly namespace: string;
  /** Called for each error that is the store's fault. */
  readonly log?: ((line: string) => void) | undefined;
}

export function createKvCapability({ engine, namespace, log }: KvCapabilityOptions): HttpHandler {
  const { kv } = engine;

  async function answer(http: HttpRequest, request: KvRequest): Promise<HttpResponse> {
    switch (request.operation) {
      case "get": {
        const entry = await kv.get(namespace, request.key);
        return entry === undefined ? { status: 404, headers: [], body: null } : valueResponse(entry);
      }
      case "put": {
        const { key, options } = request;
        const metadata = parseMetadata(http.header("cf-kv-metadata"));
        await kv.put(namespace, key, toSource(http), { ...options, metadata });
        return emptyResponse;
      }
      case "delete":
        await kv.delete(namespace, [request.key]);
        return emptyResponse;
      case "list": {
        const { keys, cursor } = await kv.list(namespace, request.options);
        // The runtime parses the metadata of each key, which it expects as JSON text.
        return jsonResponse({ keys, list_complete: cursor === undefined, cursor });
      }
      case "bulk get":
        return getBulk(kv, namespace, http.body());
    }
  }

  return async (http) => {
    let operation: KvRequest["operation"] | undefined;
    try {
      const request = parseRequest(http.method, http.target);
      ({ operation } = request);
      return await answer(http, request);
    } catch (error) {
      const refusal = errorResponse(error, { operation, log });
      if (await discardRest(http)) return refusal;
      return { ...refusal, headers: [...refusal.headers, ["connection", "close"]] };
    }
  };
}

/** More than the memory of a script: only an endless stream is cut off. */
const maxDiscardedBytes = 128 * 1024 * 1024;

/**
 * Reads the rest of a body that was refused. The runtime reads a response only after it has sent the
 * whole body. Returns false if the body is too long: the connection must be closed to end it.
 */
async function discardRest(http: HttpRequest): Promise<boolean> {
  if (!http.hasBody) return true;
  let remaining = maxDiscardedBytes;
  try {
    for await (const chunk of http.body()) {
      remaining -= chunk.length;
      if (remaining < 0) return false;
    }
    return true;
  } catch {
    // The client has disconnected.
    return false;
  }
}

const emptyResponse: HttpResponse = { status: 200, headers: [], body: null };

function jsonResponse(value: unknown): HttpResponse {
  return { status: 200, headers: [["content-type", "application/json"]], body: JSON.stringify(value) };
}

function valueResponse({ bytes, metadata, expiration }: KeyValueEntry): HttpResponse {
  const headers: [string, string][] = [["content-type", "application/octet-stream"]];
  if (expiration !== undefined) headers.push(["cf-expiration", String(expiration)]);
  if (metadata !== undefined) headers.push(["cf-kv-metadata", formatMetadata(metadata)]);
  return { status: 200, headers, body: bytes.inline ?? bytes };
}

function toSource(http: HttpRequest): Source {
  if (!http.hasBody) return new Uint8Array();
  const declared = http.header("content-length");
  const length = declared === undefined ? undefined : Number(declared);
  if (length !== undefined && !Number.isSafeInteger(length)) {
    throw new KeyValueError(400, "Invalid content-length.");
  }
  const chunks = () => http.body();
  return http.bufferedBody?.() ?? { length, chunks, release, cancel: async () => {} };
}
