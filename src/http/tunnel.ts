// CONNECT requests on Unix sockets: the handler opens a connection, and bytes pass both ways.
import type { Buffer } from "node:buffer";
import { type IncomingMessage, type Server, request as send } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { clearTimeout, setTimeout } from "node:timers";
import { relay } from "./upgrade/relay.ts";

/** Returns the connection to `authority`; undefined or a rejection refuses it. */
export type TunnelHandler = (authority: string) => Promise<Duplex | undefined>;

export function serveTunnels(server: Server, handler: TunnelHandler): void {
  server.on("connect", (message: IncomingMessage, socket: Socket, first: Buffer) => {
    socket.setTimeout(0);
    socket.on("error", () => {});
    handler(message.url ?? "")
      .then((connection) => {
        if (connection === undefined) return refuse(socket);
        if (socket.destroyed) {
          connection.destroy();
          return;
        }
        if (first.length > 0) socket.unshift(first);
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        relay(socket, connection);
      })
      .catch(() => refuse(socket));
  });
}

function refuse(socket: Socket): void {
  socket.write("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", () =>
    socket.destroy(),
  );
}

const handshakeMilliseconds = 30_000;

/** Rejects unless the server accepts. */
export function openTunnel(socketPath: string, authority: string): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const outgoing = send({ agent: false, socketPath, method: "CONNECT", path: authority });
    const timer = setTimeout(() => outgoing.destroy(new Error("no answer in time")), handshakeMilliseconds);
    outgoing.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    outgoing.once("connect", ({ statusCode }, socket, first) => {
      clearTimeout(timer);
      if (statusCode !== 200) {
        socket.destroy();
        reject(new Error(`The connection was refused with status ${statusCode}.`));
        return;
      }
      if (first.length > 0) socket.unshift(first);
      resolve(socket);
    });
    outgoing.end();
  });
}
