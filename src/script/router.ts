// The front of a server whose scripts are reached over sockets of their own: finds the script, then one of
// its processes, and forwards. A process that dies before it has answered is no reason to fail a request
// that can be sent again.
import { forward } from "../http/forward.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../http/listen.ts";
import type { Pool } from "./pool.ts";

export type FindPool = (host: string, target: string) => Pool | undefined;

export function createRouter(find: FindPool): HttpHandler {
  return async (request) => {
    const pool = find(request.header("host") ?? "", request.target);
    if (pool === undefined) return text(404, "No script answers here.\n");
    try {
      return await send(request, pool);
    } catch (error) {
      // Nothing has been read of a request without a body, so it can go to another process.
      if (request.hasBody || !isLost(error)) return unavailable();
    }
    try {
      return await send(request, pool);
    } catch {
      return unavailable();
    }
  };
}

async function send(request: HttpRequest, pool: Pool): Promise<HttpResponse> {
  const pooled = await pool.pick();
  if (!("path" in pooled.address)) throw new Error("A routed process listens on a path.");
  pooled.underWay++;
  try {
    return await forward(request, pooled.address.path);
  } finally {
    pooled.underWay--;
  }
}

function isLost(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return ["ECONNRESET", "ECONNREFUSED", "ENOENT", "EPIPE"].includes(code);
}

function unavailable(): HttpResponse {
  return text(503, "The script ended while it was answering. Please try again.\n");
}

function text(status: number, body: string): HttpResponse {
  return { status, headers: [["content-type", "text/plain; charset=utf-8"]], body };
}
