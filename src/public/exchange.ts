// What is told of a request to a public bucket once its answer is over.
import type { HttpRequest, HttpResponse } from "../http/server/listen.ts";
import { nextRequestId } from "../http/server/request-id.ts";
import type { Exchange } from "../metrics/exchange.ts";

/** Set as soon as it is known. */
export interface RequestedObject {
  bucket: string | undefined;
  key: string | undefined;
}

/** The same answers, each with its id, and told of when it is over. */
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

/** One of few names, whatever methods clients think of. */
function toOperationName(method: string): string {
  return method === "GET" || method === "HEAD" || method === "OPTIONS" ? method : "Unknown";
}
