// What is told of a request to a public bucket once its answer is over.
import type { HttpRequest, HttpResponse } from "../http/server/listen.ts";
import { nextRequestId } from "../http/server/request-id.ts";
import type { Exchange } from "../metrics/exchange.ts";

/** Set as soon as it is known. */
export interface Place {
  bucket: string | undefined;
  key: string | undefined;
}

/** The same answers, each with its id, and told of when it is over. */
export function telling(
  answer: (request: HttpRequest, place: Place) => Promise<HttpResponse>,
  onExchange: ((exchange: Exchange) => void) | undefined,
): (request: HttpRequest) => Promise<HttpResponse> {
  return async (request) => {
    const id = nextRequestId();
    const began = performance.now();
    const place: Place = { bucket: undefined, key: undefined };
    const { status, headers, body } = await answer(request, place);
    return {
      status,
      headers: [...headers, ["x-request-id", id]],
      body,
      onSent:
        onExchange &&
        ((bytesOut, isWhole) =>
          onExchange({
            face: "public",
            id,
            method: request.method,
            operation: operationOf(request.method),
            bucket: place.bucket,
            key: place.key,
            status,
            bytesIn: request.bytesRead(),
            bytesOut,
            milliseconds: performance.now() - began,
            remoteAddress: request.address,
            isWhole,
          })),
    };
  };
}

/** One of few names, whatever methods clients think of. */
function operationOf(method: string): string {
  return method === "GET" || method === "HEAD" || method === "OPTIONS" ? method : "Unknown";
}
