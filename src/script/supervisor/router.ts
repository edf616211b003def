// Forwards each request to a process of its script. A request is retried on another process only if
// the first process has not started it.
import { forward, NotTakenError } from "../../http/proxy.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../../http/server/listen.ts";
import type { Pool } from "./process-pool.ts";

export type FindPool = (host: string, target: string) => Pool | undefined;

export function createRouter(find: FindPool): HttpHandler {
  return async (request) => {
    const pool = find(request.header("host") ?? "", request.target);
    if (pool === undefined) return text(404, "No script is configured for this address.\n");
    for (;;) {
      try {
        return await send(request, pool);
      } catch (error) {
        if (!(error instanceof NotTakenError)) return unavailable();
      }
    }
  };
}

async function send(request: HttpRequest, pool: Pool): Promise<HttpResponse> {
  const pooled = await pool.pick();
  pooled.inFlight++;
  try {
    return await forward(request, pooled);
  } finally {
    pooled.inFlight--;
  }
}

function unavailable(): HttpResponse {
  return text(503, "The script stopped before it had sent its response. Please try again.\n");
}

function text(status: number, body: string): HttpResponse {
  return { status, headers: [["content-type", "text/plain; charset=utf-8"]], body };
}
