// Answers what is no HTTP request: in the words of the face that listens.
import { type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

/** What is said to a client whose request cannot be read at all. */
export type MalformedWords = (status: number) => { readonly type: string; readonly body: string };

/** Only where nothing of an answer is out yet. */
export function tellMalformed(server: Server, words: MalformedWords): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const { _httpMessage: response } = socket as Socket & { _httpMessage?: ServerResponse | null };
    if (!socket.writable || error.code === "ECONNRESET" || response?.headersSent === true) {
      socket.destroy();
      return;
    }
    const status =
      error.code === "HPE_HEADER_OVERFLOW" ? 431 : error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
    const { type, body } = words(status);
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: ${type}\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  });
}
