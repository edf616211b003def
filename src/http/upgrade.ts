// Requests that ask for another protocol, such as WebSocket: the handler either refuses, or returns
// a connection to another server, which then exchanges bytes with the client.
import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { type Duplex, pipeline } from "node:stream";

export interface UpgradeRequest {
  readonly method: string;
  /** The target exactly as sent. */
  readonly target: string;
  /** Alternating names and values, as sent. */
  readonly rawHeaders: readonly string[];
  /** Calls `listener` once if the client disconnects. */
  onDisconnect(listener: () => void): void;
}

export interface UpgradeResponse {
  readonly status: number;
  readonly headers: Iterable<readonly [string, string]>;
  /** With status 101, the connection to the other server; otherwise the body. */
  readonly body: Duplex | Uint8Array | string;
}

/** Handles its own errors. */
export type UpgradeHandler = (request: UpgradeRequest) => Promise<UpgradeResponse>;

export function serveUpgrades(server: Server, handler: UpgradeHandler): void {
  server.on("upgrade", (message: IncomingMessage, socket: Socket, first: Buffer) => {
    // The limits of the other connection apply; Node's server no longer watches this one.
    socket.setTimeout(0);
    socket.on("error", () => {});
    if (first.length > 0) socket.unshift(first);
    const { method = "GET", url: target = "/", rawHeaders } = message;
    const onDisconnect = (listener: () => void) => {
      if (socket.destroyed) listener();
      else socket.once("close", listener);
    };
    handler({ method, target, rawHeaders, onDisconnect })
      .then((response) => writeUpgrade(socket, response))
      .catch(() => socket.destroy());
  });
}

function writeUpgrade(socket: Socket, { status, headers, body }: UpgradeResponse): void {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`];
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  if (typeof body === "string" || body instanceof Uint8Array) {
    const bytes = Buffer.from(body);
    lines.push(`Content-Length: ${bytes.length}`, "Connection: close");
    socket.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
    socket.end(bytes);
    // Bytes that the client still sends would otherwise keep the connection open.
    socket.resume();
    return;
  }
  if (socket.destroyed) {
    body.destroy();
    return;
  }
  socket.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  // Either side may fail: then the pipeline destroys both.
  pipeline(socket, body, socket, () => {});
}
