// The right to one key-value namespace, as an HTTP handler that speaks workerd's key-value protocol:
// the key is the path, options are the query, and metadata is a header in both directions.
import type { Engine } from "../../engine/engine.ts";
import type { KeyValueEntry } from "../../engine/key-value/key-value.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../../http/server/listen.ts";
import { getBulk } from "./bulk-get.ts";
import { errorResponse } from "./error-response.ts";
import { formatMetadata, parseMetadata } from "./metadata-header.ts";
import { type KvRequest, parseRequest } from "./parse-request.ts";
import { openBody, type RequestBody } from "./request-body.ts";

export interface KvCapabilityOptions {
  readonly engine: Pick<Engine, "kv">;
  readonly namespace: string;
  /** Called for each error that is the store's fault. */
  readonly log?: ((line: string) => void) | undefined;
}

export function createKvCapability({ engine, namespace, log }: KvCapabilityOptions): HttpHandler {
  const { kv } = engine;

  async function answer(http: HttpRequest, body: RequestBody, request: KvRequest): Promise<HttpResponse> {
    switch (request.operation) {
      case "get": {
        const entry = await kv.get(namespace, request.key);
        return entry === undefined ? { status: 404, headers: [], body: null } : valueResponse(entry);
      }
      case "put": {
        const { key, options } = request;
        const metadata = parseMetadata(http.header("cf-kv-metadata"));
        await kv.put(namespace, key, body.toSource(), { ...options, metadata });
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
        return getBulk(kv, namespace, body.chunks);
    }
  }

  return async (http) => {
    const body = openBody(http);
    let operation: KvRequest["operation"] | undefined;
    try {
      const request = parseRequest(http.method, http.target);
      ({ operation } = request);
      return await answer(http, body, request);
    } catch (error) {
      const refusal = errorResponse(error, { operation, log });
      if (await body.discardRest()) return refusal;
      return { ...refusal, headers: [...refusal.headers, ["connection", "close"]] };
    }
  };
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
