// Forwards a request to a process behind this one, over its socket, and streams both ways.
import { Agent, type IncomingMessage, request as send } from "node:http";
import { withSenderHeaders } from "./server/forwarded.ts";
import type { HttpRequest, HttpResponse } from "./server/listen.ts";

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

const emptyBytes = new Uint8Array();

/** The process behind never began with the request: another one may. */
export class NotTakenError extends Error {
  override readonly name = "NotTakenError";
}

/** A process behind this one, as far as a forwarded request is concerned. */
export interface Upstream {
  readonly socketPath: string;
  /** Calls once, when no more is to be hoped for from the process; gives what takes the listener back. */
  onAbandoned(listener: () => void): () => void;
}

/**
 * Rejects when the process goes away before it has answered: with NotTakenError if it had not begun. The body is
 * not sent before that, so that it is whole for another process.
 */
export function forward(request: HttpRequest, { socketPath, onAbandoned }: Upstream): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let isTaken = false;
    let isClientGone = false;
    const outgoing = send({
      agent,
      socketPath,
      method: request.method,
      path: request.target,
      headers: forwardedHeaders(request),
    });
    const unsubscribe = onAbandoned(() => {
      // Should it wake up after all it would find what was sent, so only what may happen twice goes elsewhere.
      if (!isTaken && (request.hasBody || isIdempotent(request.method))) outgoing.destroy();
    });
    outgoing.on("error", (error) => {
      unsubscribe();
      reject(isTaken || isClientGone ? error : new NotTakenError("The process did not take the request."));
    });
    outgoing.on("information", ({ statusCode }) => {
      if (statusCode !== 102 || isTaken) return;
      isTaken = true;
      if (request.hasBody)
        sendBody(request, outgoing).catch((error: unknown) => outgoing.destroy(error as Error));
    });
    outgoing.once("response", (incoming) => {
      unsubscribe();
      resolve(toHttpResponse(incoming));
    });
    request.onDisconnect(() => {
      isClientGone = true;
      outgoing.destroy();
    });
    // Not by flushHeaders, which would write bytes above 127 in a header as UTF-8 once more.
    if (request.hasBody) outgoing.write(emptyBytes);
    else outgoing.end();
  });
}

function isIdempotent(method: string): boolean {
  return method !== "POST" && method !== "PATCH";
}

/** Paced by each write, since Node tells of no drain any more once the answer has come before the end. */
async function sendBody(request: HttpRequest, outgoing: ReturnType<typeof send>): Promise<void> {
  let wake = () => {};
  outgoing.once("close", () => wake());
  for await (const chunk of request.body()) {
    await new Promise<void>((resolve) => {
      wake = resolve;
      outgoing.write(chunk, () => resolve());
    });
    if (outgoing.destroyed) return;
  }
  outgoing.end();
}

function forwardedHeaders(request: HttpRequest): string[] {
  const { header } = request;
  const rawHeaders = withSenderHeaders(request);
  const headers: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (!hopByHop.has(rawHeaders[i]!.toLowerCase())) headers.push(rawHeaders[i]!, rawHeaders[i + 1]!);
  }
  // HTTP/1.0 may leave it out.
  if (header("host") === undefined) headers.push("host", "localhost");
  if (header("transfer-encoding") !== undefined) headers.push("transfer-encoding", "chunked");
  return headers;
}

function toHttpResponse(incoming: IncomingMessage): HttpResponse {
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
