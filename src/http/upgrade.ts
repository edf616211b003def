// Requests that ask for a WebSocket: the handler either answers, or returns a connection to another
// server, which then exchanges bytes with the client.
import { Buffer } from "node:buffer";
import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { type Duplex, pipeline, type Readable } from "node:stream";
import { clearTimeout, setTimeout } from "node:timers";
import { type TrustedPeers, trustNone } from "./server/forwarded.ts";
import { markUpgraded, pendingResponse } from "./server/last-response.ts";
import { maxHeaderLines, type PortLimits } from "./server/limits.ts";
import type { HttpRequest } from "./server/listen.ts";
import { headFault, plainRefusal } from "./server/refusal.ts";
import { describeRequest } from "./server/request.ts";
import { type RelayLimits, relay } from "./upgrade/relay.ts";
import { serveAsRequest } from "./upgrade/replay.ts";

/** The target and the headers are exactly as sent. */
export interface UpgradeRequest
  extends Pick<HttpRequest, "method" | "target" | "rawHeaders" | "header" | "scheme" | "address"> {
  /** Calls `listener` once if the client disconnects. */
  onDisconnect(listener: () => void): void;
}

export interface UpgradeResponse {
  readonly status: number;
  readonly headers: Iterable<readonly [string, string]>;
  /** With status 101, the connection to the other server; otherwise the body. */
  readonly body: Duplex | Readable | Uint8Array | string;
}

/** Handles its own errors. Undefined: the request is served as if it had no Upgrade header. */
export type UpgradeHandler = (request: UpgradeRequest) => Promise<UpgradeResponse | undefined>;

export interface UpgradeOptions {
  readonly trusted?: TrustedPeers | undefined;
  readonly limits?: PortLimits | undefined;
  readonly relayLimits?: Partial<RelayLimits> | undefined;
}

/** How long a client may take to close the connection after a refusal. */
const lingerMilliseconds = 2000;

export function serveUpgrades(server: Server, handler: UpgradeHandler, options: UpgradeOptions = {}): void {
  const { trusted = trustNone, limits, relayLimits } = options;
  // The other half is for requests, which WebSockets must not keep out.
  const maxUpgraded = limits === undefined ? Number.POSITIVE_INFINITY : Math.ceil(limits.connections / 2);
  const upgraded = new Set<Socket>();

  server.on("upgrade", (message: IncomingMessage, socket: Socket, first: Buffer) => {
    const asRequest = () => serveAsRequest(server, { message, socket, first });
    // Node no longer handles errors of the connection.
    socket.on("error", () => {});
    // Its answer would overtake the answers of requests before it.
    const pending = pendingResponse(socket);
    if (pending !== undefined) {
      pending.once("finish", () => socket.destroySoon());
      destroyLater(socket);
      return;
    }
    if (headFault(message, maxHeaderLines) !== undefined) return asRequest();
    if (upgraded.size >= maxUpgraded) {
      socket.setTimeout(0);
      answer(socket, refusal());
      return;
    }
    // Until the handler answers, its own limits apply; Node's server no longer watches the socket.
    socket.setTimeout(0);
    upgraded.add(socket);
    socket.once("close", () => upgraded.delete(socket));
    const request: UpgradeRequest = {
      ...describeRequest(message, trusted),
      onDisconnect(listener) {
        if (socket.destroyed) listener();
        else socket.once("close", listener);
      },
    };
    handler(request)
      .then((response) => {
        if (response === undefined) {
          upgraded.delete(socket);
          asRequest();
        } else if (response.status === 101) {
          if (first.length > 0) socket.unshift(first);
          markUpgraded(socket);
          accept(socket, response, relayLimits);
        } else answer(socket, response, relayLimits);
      })
      .catch(() => socket.destroy());
  });
}

function refusal(): UpgradeResponse {
  const { type, body } = plainRefusal(503);
  return {
    status: 503,
    headers: [
      ["Content-Type", type],
      ["Retry-After", "1"],
    ],
    body,
  };
}

function headText({ status, headers }: UpgradeResponse, ...further: string[]): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`];
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  return `${[...lines, ...further].join("\r\n")}\r\n\r\n`;
}

function accept(socket: Socket, response: UpgradeResponse, limits?: Partial<RelayLimits>): void {
  const other = response.body as Duplex;
  if (socket.destroyed) {
    other.destroy();
    return;
  }
  socket.write(headText(response), "latin1");
  relay(socket, other, limits);
}

/** Answers without an upgrade, and closes the connection. */
function answer(socket: Socket, response: UpgradeResponse, limits?: Partial<RelayLimits>): void {
  const { body } = response;
  // Bytes that the client still sends would otherwise keep the connection open.
  socket.resume();
  if (typeof body === "string" || body instanceof Uint8Array) {
    const bytes = Buffer.from(body);
    socket.write(headText(response, `Content-Length: ${bytes.length}`, "Connection: close"), "latin1");
    socket.end(bytes);
    destroyLater(socket);
    return;
  }
  socket.write(headText(response, "Connection: close"), "latin1");
  const { stallMilliseconds = 120_000 } = limits ?? {};
  socket.setTimeout(stallMilliseconds, () => {
    if (socket.writableLength > 0) socket.destroy();
    else socket.setTimeout(stallMilliseconds);
  });
  pipeline(body as Readable, socket, (error) => {
    // A body that fails must not look complete.
    if (error) socket.destroy();
    else destroyLater(socket);
  });
}

/** Closes a connection whose client does not close it, or does not read the last response, in time. */
function destroyLater(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), lingerMilliseconds).unref();
  socket.once("close", () => clearTimeout(timer));
}
