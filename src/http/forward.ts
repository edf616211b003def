// Forwards a request to a process behind this one, over its socket, and streams both ways.
import { Agent, type IncomingMessage, request as send } from "node:http";
import type { HttpRequest, HttpResponse } from "./listen.ts";

/** Connections to the processes are kept, so that a forwarded request costs no handshake. */
const agent = new Agent({ keepAlive: true, maxSockets: 1024 });

/** Headers that belong to one connection, not to the message (RFC 9110 7.6.1). */
const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Rejects when the process goes away before it has answered. */
export function forward(request: HttpRequest, socketPath: string): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = send({
      agent,
      socketPath,
      method: request.method,
      path: request.target,
      headers: forwardedHeaders(request),
    });
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => resolve(responseOf(incoming)));
    request.onDisconnect(() => outgoing.destroy());
    if (!request.hasBody) outgoing.end();
    else sendBody(request, outgoing).catch((error: unknown) => outgoing.destroy(error as Error));
  });
}

async function sendBody(request: HttpRequest, outgoing: ReturnType<typeof send>): Promise<void> {
  for await (const chunk of request.body()) {
    if (!outgoing.write(chunk))
      await new Promise((resolve) => outgoing.once("drain", resolve).once("close", resolve));
    if (outgoing.destroyed) return;
  }
  outgoing.end();
}

function forwardedHeaders({ rawHeaders, header }: HttpRequest): string[] {
  const headers: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (!hopByHop.has(rawHeaders[i]!.toLowerCase())) headers.push(rawHeaders[i]!, rawHeaders[i + 1]!);
  }
  if (header("transfer-encoding") !== undefined) headers.push("transfer-encoding", "chunked");
  return headers;
}

function responseOf(incoming: IncomingMessage): HttpResponse {
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < incoming.rawHeaders.length; i += 2) {
    const name = incoming.rawHeaders[i]!;
    if (!hopByHop.has(name.toLowerCase())) headers.push([name, incoming.rawHeaders[i + 1]!]);
  }
  return {
    status: incoming.statusCode ?? 502,
    statusText: incoming.statusMessage,
    headers,
    body: {
      length: undefined,
      chunks: () => incoming as AsyncIterable<Uint8Array>,
      async cancel() {
        incoming.destroy();
      },
    },
  };
}
