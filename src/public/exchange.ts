// Reports each request to a public bucket, for metrics and the request log, when it has ended.
import type { HttpRequest, HttpResponse } from "../http/server/listen.ts";
import { nextRequestId } from "../http/server/request-id.ts";
import type { Exchange } from "../metrics/exchange.ts";

/** Set while the request is handled; undefined if the request does not name a public bucket. */
export interface RequestedObject {
  bucket: string | undefined;
  key: string | undefined;
}

/** Wraps `answer`: adds a request id to each response and reports the exchange at its end. */
export function withExchangeReport(
  answer: (request: HttpRequest, requested: RequestedObject) => Promise<HttpResponse>,
  onExchange: ((exchange: Exchange) => void) | undefined,
): (request: HttpRequest) => Promise<HttpResponse> {
  return async (request) => {
    const id = nextRequestId();
    const startTime = performance.now();
    const requested: RequestedObject = { bucket: undefined, key: undefined };
    const { status, headers, body } = await answer(request, requested);
    return {
      status,
      headers: [...headers, ["x-request-id", id]],
      body,
      onSent:
        onExchange &&
        ((bytesOut, isWhole) =>
          onExchange({
            frontEnd: "public",
            id,
            method: request.method,
            operation: toOperationName(request.method),
            bucket: requested.bucket,
            key: requested.key,
            status,
            bytesIn: request.bytesRead(),
            bytesOut,
            milliseconds: performance.now() - startTime,
            remoteAddress: request.address,
            isWhole,
          })),
    };
  };
}

/** Clients may send any method, but each name becomes a metric label: allow few names. */
function toOperationName(method: string): string {
  return method === "GET" || method === "HEAD" || method === "OPTIONS" ? method : "Unknown";
}
