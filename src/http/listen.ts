// Listens for HTTP and hands each request to one handler as plain data and a byte stream; writes what comes
// back with backpressure. Bodies may take as long as they move: only a sender that has fallen silent is cut.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface HttpRequest {
  readonly method: string;
  /** As it came: never through a URL object. */
  readonly target: string;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  header(name: string): string | undefined;
  /** Whether a body follows. */
  readonly hasBody: boolean;
  /** The body's bytes; throws when the sender goes away before their end. */
  body(): AsyncIterable<Uint8Array>;
  /** Calls once when the client is gone before the response was written. */
  onDisconnect(listener: () => void): void;
}

export interface HttpResponse {
  readonly status: number;
  readonly statusText?: string | undefined;
  /** Values hold one character a byte. */
  readonly headers: Iterable<readonly [string, string]>;
  readonly body: HttpBody;
}

export type HttpBody = string | Uint8Array | ByteSource | null;

export interface ByteSource {
  /** Known lengths are announced. */
  readonly length: number | undefined;
  chunks(): AsyncIterable<Uint8Array>;
  cancel(reason: unknown): Promise<void>;
}

export type HttpHandler = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

export type Address = { readonly host: string; readonly port: number } | { readonly path: string };

export interface Listening {
  readonly port: number | undefined;
  /** Takes no new connections, lets requests under way finish, closes what stays idle. */
  drain(): Promise<void>;
}

/** A sender that sends nothing for this long while a body is due is cut. */
const silenceMilliseconds = 60_000;
/** While draining, an idle connection may still bring the request its client was about to send. */
const idleGraceMilliseconds = 500;

export async function listen(handler: HttpHandler, address: Address): Promise<Listening> {
  let draining = false;
  const server = createServer(
    { requestTimeout: 0, keepAliveTimeout: 65_000, noDelay: true },
    (message, response) => {
      if (draining) response.setHeader("connection", "close");
      void answer(handler, message, response);
    },
  );
  server.setTimeout(silenceMilliseconds, cutSilent);
  await start(server, address);
  const bound = server.address();
  return {
    port: bound !== null && typeof bound === "object" ? (bound as AddressInfo).port : undefined,
    drain() {
      draining = true;
      return new Promise((resolve) => {
        server.close(() => resolve());
        setTimeout(() => server.closeIdleConnections(), idleGraceMilliseconds).unref();
        setInterval(() => server.closeIdleConnections(), 1000).unref();
      });
    },
  };
}

function start(server: Server, address: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen("path" in address ? { path: address.path, exclusive: true } : address, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Node tells of a socket on which nothing moved; only one that owes us a body is at fault. */
function cutSilent(socket: Socket): void {
  const { _httpMessage: response } = socket as Socket & { _httpMessage?: ServerResponse };
  const owes = response === undefined || !response.req.complete;
  if (owes) socket.destroy();
}

async function answer(
  handler: HttpHandler,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    await write(await handler(requestOf(message, response)), message, response);
  } catch (error) {
    // The handler answers its own faults: what arrives here is a response that broke off under way.
    response.destroy(error instanceof Error ? error : undefined);
  }
}

function requestOf(message: IncomingMessage, response: ServerResponse): HttpRequest {
  return {
    method: message.method ?? "GET",
    target: message.url ?? "/",
    rawHeaders: message.rawHeaders,
    header(name) {
      const value = message.headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    hasBody:
      message.headers["content-length"] !== undefined || message.headers["transfer-encoding"] !== undefined,
    body: () => message as AsyncIterable<Uint8Array>,
    onDisconnect(listener) {
      response.once("close", () => {
        if (!response.writableFinished) listener();
      });
    },
  };
}

async function write(
  answer: HttpResponse,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status, statusText, body } = answer;
  const mayHaveBody = status !== 204 && status !== 304;
  const headers = headerLines(answer, mayHaveBody);
  if (response.hasHeader("connection")) headers.push("connection", "close");
  if (statusText === undefined || statusText === "") response.writeHead(status, headers);
  else response.writeHead(status, statusText, headers);
  const sendsBody = mayHaveBody && message.method !== "HEAD";
  if (body === null || typeof body === "string" || body instanceof Uint8Array) {
    response.end(sendsBody && body !== null ? body : undefined);
  } else if (sendsBody) {
    await stream(body, response);
  } else {
    response.end();
    await body.cancel(undefined);
  }
}

/** Names and values in turn, so that several values of one name stay several lines; with the length if known. */
function headerLines({ headers, body }: HttpResponse, mayHaveBody: boolean): string[] {
  const lines: string[] = [];
  let hasLength = false;
  for (const [name, value] of headers) {
    lines.push(name, value);
    hasLength ||= name === "content-length" || name.toLowerCase() === "content-length";
  }
  const length = lengthOf(body);
  if (mayHaveBody && !hasLength && length !== undefined) lines.push("content-length", String(length));
  return lines;
}

function lengthOf(body: HttpBody): number | undefined {
  if (body === null) return 0;
  return typeof body === "string" ? Buffer.byteLength(body) : body.length;
}

async function stream(body: ByteSource, response: ServerResponse): Promise<void> {
  const chunks = body.chunks()[Symbol.asyncIterator]();
  let isGone = response.destroyed;
  let wake = () => {};
  response.once("close", () => {
    isGone = true;
    wake();
    if (response.writableFinished) return;
    body.cancel(new Error("The client went away.")).catch(() => {
      // The source has failed by itself; nobody is left to be told.
    });
  });
  response.on("drain", () => wake());
  const drained = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
      if (isGone) resolve();
    });
  while (!isGone) {
    const { done, value } = await chunks.next();
    if (isGone || done === true) break;
    if (!response.write(value)) await drained();
  }
  if (!isGone) response.end();
}
