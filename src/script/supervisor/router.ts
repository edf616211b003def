// Forwards each request to a process of its script. A request is retried on another process only if
// the first process has not started it.
import { forward, NotTakenError } from "../../http/proxy.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../../http/server/listen.ts";
import type { Pool } from "./processes/process-pool.ts";

export type FindHandler = (host: string, target: string) => HttpHandler | undefined;

/** Far more processes than end during one request: a socket that never connects is given up. */
const maxAttempts = 100;

export function createRouter(find: FindHandler): HttpHandler {
  return (request) => {
    const handle = find(request.header("host") ?? "", request.target);
    return handle === undefined ? text(404, "No script is configured for this address.\n") : handle(request);
  };
}

/** Forwards requests to the processes of a pool. */
export function createForwarder(pool: Pool): HttpHandler {
  return async (request) => {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      try {
        return await send(request, pool);
      } catch (error) {
        if (!(error instanceof NotTakenError)) return unavailable();
      }
    }
    return unavailable();
  };
}

async function send(request: HttpRequest, pool: Pool): Promise<HttpResponse> {
  const pooled = await pool.pick();
  const endRequest = pooled.beginRequest?.();
  pooled.inFlight++;
  try {
    const response = await forward(request, pooled);
    return endRequest === undefined ? response : withEnd(response, endRequest);
  } catch (error) {
    endRequest?.();
    throw error;
  } finally {
    pooled.inFlight--;
  }
}

/** Calls `onEnd` once the body was read or cancelled. */
export function withEnd(response: HttpResponse, onEnd: () => void): HttpResponse {
  const { body } = response;
  if (body === null || typeof body === "string" || body instanceof Uint8Array) {
    onEnd();
    return response;
  }
  return {
    ...response,
    body: {
      ...body,
      async *chunks() {
        try {
          yield* body.chunks();
        } finally {
          onEnd();
        }
      },
      cancel(reason) {
        onEnd();
        return body.cancel(reason);
      },
    },
  };
}

function unavailable(): HttpResponse {
  return text(503, "The script stopped before it had sent its response. Please try again.\n");
}

function text(status: number, body: string): HttpResponse {
  return { status, headers: [["content-type", "text/plain; charset=utf-8"]], body };
}
