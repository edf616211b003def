// Reports each request to the socket of a bucket, for metrics and the request log, when it has ended.
import type { HttpHandler, HttpRequest } from "../../http/server/listen.ts";
import { nextRequestId } from "../../http/server/request-id.ts";
import type { Fields } from "../../model/shape.ts";
import type { BucketCapabilityOptions, BucketResponse } from "./operation.ts";

/** Set while the request is handled. */
export interface RequestedOperation {
  /** Fields of a known operation; undefined if the request does not name one. */
  fields: Fields | undefined;
}

type Answer = (request: HttpRequest, requested: RequestedOperation) => Promise<BucketResponse>;

/** Wraps `answer`: adds a request id to each response and reports the exchange at its end. */
export function withExchangeReport(
  { bucket, onExchange }: BucketCapabilityOptions,
  answer: Answer,
): HttpHandler {
  if (onExchange === undefined) return (request) => answer(request, { fields: undefined });
  return async (request) => {
    const id = nextRequestId();
    const startTime = performance.now();
    const requested: RequestedOperation = { fields: undefined };
    const response = await answer(request, requested);
    return {
      ...response,
      headers: [...response.headers, ["x-request-id", id]],
      onSent(bytesOut, isWhole) {
        const { method, object } = requested.fields ?? {};
        onExchange({
          ...{ frontEnd: "socket", id, method: request.method, bucket, status: response.status },
          // Only operations that exist have fields here, so that there are few labels.
          operation: typeof method === "string" ? method : "Unknown",
          key: typeof object === "string" ? object : undefined,
          ...{ bytesIn: request.bytesRead(), bytesOut, isWhole, errorCode: response.reason },
          milliseconds: performance.now() - startTime,
          remoteAddress: request.address,
        });
      },
    };
  };
}
