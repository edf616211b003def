// Refuses requests before they reach a handler: invalid HTTP, and requests over a limit.
import { Buffer } from "node:buffer";
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { getLastResponse, pendingResponse } from "./last-response.ts";
import { lingerAfter } from "./linger.ts";

export type RefusalStatus = 400 | 408 | 431 | 501 | 503;

/** Formats a refusal in the front end's format. */
export type RefusalText = (status: RefusalStatus) => {
  readonly type: string;
  readonly body: string;
  /** Headers of the front end, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
};

const sentences: Readonly<Record<RefusalStatus, string>> = {
  400: "The request is not valid HTTP.",
  408: "The request did not arrive in time.",
  431: "The request has too many or too large headers.",
  501: "The transfer encoding of the request is not supported. Send chunked, or a Content-Length.",
  503: "The server is busy. Please try again in a moment.",
};

export const plainRefusal: RefusalText = (status) => ({
  type: "text/plain; charset=utf-8",
  body: `${sentences[status]}\n`,
});

/** Responds without reading the body, so the connection is closed afterwards. */
export function refuse(
  response: ServerResponse,
  status: RefusalStatus,
  text: RefusalText = plainRefusal,
): void {
  const { type, body, headers } = text(status);
  const retry = status === 503 ? { "retry-after": "1" } : {};
  response.writeHead(status, {
    "content-type": type,
    "content-length": Buffer.byteLength(body),
    connection: "close",
    ...headers,
    ...retry,
  });
  lingerAfter(response);
  response.end(response.req.method === "HEAD" ? undefined : body);
}

/** Whether a response was started: another would look like the response to the next request. */
function isAnswered(socket: Socket): boolean {
  const pending = pendingResponse(socket);
  return pending === undefined ? getLastResponse(socket)?.req.complete === false : pending.headersSent;
}

export function refuseMalformed(server: Server, text: RefusalText = plainRefusal): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
    // A connection that was opened in advance and never used expects no response.
    const isUnused = isLate && socket.bytesRead === 0;
    if (!socket.writable || error.code === "ECONNRESET" || isUnused || isAnswered(socket)) {
      socket.destroy();
      return;
    }
    const status = error.code === "HPE_HEADER_OVERFLOW" ? 431 : isLate ? 408 : 400;
    const { type, body, headers = {} } = text(status);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const head =
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: ${type}\r\n` +
      `${lines.join("")}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
    socket.write(head, "latin1");
    socket.end(body);
  });
}

/** Returns the status of the refusal if the head of a request is invalid. */
export function headFault(
  { rawHeaders, headers }: IncomingMessage,
  maxLines: number,
): RefusalStatus | undefined {
  if (rawHeaders.length > 2 * maxLines) return 431;
  const encoding = headers["transfer-encoding"];
  // Node decodes only the last transfer coding: the handler would store encoded bytes.
  return encoding === undefined || encoding.trim().toLowerCase() === "chunked" ? undefined : 501;
}
