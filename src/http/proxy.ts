// Forwards a request to another process over a Unix socket, and streams both bodies.
import { Agent, type IncomingMessage, request as send } from "node:http";
import { hopByHopHeaders } from "./headers.ts";
import { forwardToRuntime, isUnreached } from "./runtime-proxy.ts";
import { withSenderHeaders } from "./server/forwarded.ts";
import type { HttpRequest, HttpResponse } from "./server/listen.ts";
import { limitInterim } from "./socket-call.ts";

/** Keep-alive saves a new connection for each forwarded request. */
const agent = new Agent({ keepAlive: true, maxSockets: 1024 });
const hopByHop: ReadonlySet<string> = new Set(hopByHopHeaders);
const emptyBytes = new Uint8Array();

/** The process has not started to handle the request, so another process can handle it. */
export class NotTakenError extends Error {
  override readonly name = "NotTakenError";
}

/** The process that a request is forwarded to. */
export interface Upstream {
  readonly socketPath: string;
  /** Whether the process sends status 102 when it starts on a request. */
  readonly announcesStart: boolean;
  /** Calls `listener` once, when the process is abandoned; returns a function that unsubscribes. */
  onAbandoned(listener: () => void): () => void;
}

/** Rejects if the process ends before it responds, with NotTakenError if it had not started. */
export function forward(request: HttpRequest, upstream: Upstream): Promise<HttpResponse> {
  return upstream.announcesStart ? forwardOnStart(request, upstream) : forwardAtOnce(request, upstream);
}

/**
 * The body is sent only after the start, so that another process can still receive all of it. If the
 * client waits for 100-continue, it waits until the process reads the body.
 */
function forwardOnStart(request: HttpRequest, { socketPath, onAbandoned }: Upstream): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let isTaken = false;
    let isClientGone = false;
    let isBodySent = false;
    const bodyStatus = expectsContinue(request) ? 100 : 102;
    const outgoing = send({
      agent,
      socketPath,
      method: request.method,
      path: request.target,
      headers: forwardedHeaders(request),
    });
    const unsubscribe = onAbandoned(() => {
      // An abandoned process that recovers still reads the request. Let another process handle the
      // request only if it is idempotent or its body was not sent.
      if (!isTaken && (request.hasBody || isIdempotent(request.method))) outgoing.destroy();
    });
    outgoing.on("error", (error) => {
      unsubscribe();
      reject(
        isTaken || isClientGone ? error : new NotTakenError("The process did not start on the request."),
      );
    });
    limitInterim(outgoing);
    outgoing.on("information", ({ statusCode }) => {
      if (statusCode === 102) isTaken = true;
      if (!request.hasBody || isBodySent || statusCode !== bodyStatus) return;
      isBodySent = true;
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
    // Not flushHeaders: it would encode header bytes above 127 as UTF-8 a second time.
    if (request.hasBody) outgoing.write(emptyBytes);
    else outgoing.end();
  });
}

/**
 * For a process that does not announce its start: after the head is sent, it may have started. The
 * request goes to another process only if it cannot have arrived. A request that ends its process
 * must not end the next one too.
 */
async function forwardAtOnce(request: HttpRequest, { socketPath }: Upstream): Promise<HttpResponse> {
  try {
    return await forwardToRuntime(request, socketPath);
  } catch (error) {
    throw isUnreached(error) ? new NotTakenError("The process did not receive the request.") : error;
  }
}

/** Whether Node's HTTP server in the process sends status 100 when the body is read. */
function expectsContinue({ header }: HttpRequest): boolean {
  return /\b100-continue\b/i.test(header("expect") ?? "");
}

function isIdempotent(method: string): boolean {
  return method !== "POST" && method !== "PATCH";
}

/** Waits for the callback of each write: after the response, Node emits no drain events. */
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
  // The Host header is optional in HTTP/1.0.
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
