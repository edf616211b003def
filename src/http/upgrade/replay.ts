// Serves a request that asks for another protocol as an ordinary request, as RFC 9110 7.8 permits.
// Node stops parsing at such a request, so its head is given to the server again without Upgrade.
import { Buffer } from "node:buffer";
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";

export interface StoppedRequest {
  readonly message: IncomingMessage;
  readonly socket: Socket;
  /** Bytes that arrived after the head. */
  readonly first: Buffer;
}

export function serveAsRequest(server: Server, { message, socket, first }: StoppedRequest): void {
  if (socket.destroyed) return;
  socket.unshift(Buffer.concat([Buffer.from(plainHead(message), "latin1"), first]));
  server.emit("connection", socket);
}

/** The head without Upgrade, which then must not be named by Connection either. */
function plainHead({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [name, value] = [rawHeaders[i]!, rawHeaders[i + 1]!];
    const lower = name.toLowerCase();
    if (lower === "upgrade") continue;
    const kept = lower === "connection" ? withoutUpgrade(value) : value;
    if (lower !== "connection" || kept !== "") lines.push(`${name}: ${kept}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n`;
}

function withoutUpgrade(connection: string): string {
  return connection
    .split(",")
    .map((option) => option.trim())
    .filter((option) => option.toLowerCase() !== "upgrade")
    .join(", ");
}
