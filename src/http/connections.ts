// The connections of a listener, so that it can end without cutting a request: which of them are at work,
// which are idle, and which may still bring a request that their client has sent already.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface Connections {
  /** Takes a connection that another process has accepted. */
  accept(socket: Socket): void;
  /** Whether this process was handed it, rather than having accepted it. */
  isHanded(socket: Socket): boolean;
  /** Closes each one once it has nothing to do; resolves when there is none. */
  end(): Promise<void>;
}

interface Connection {
  readonly isHanded: boolean;
  requests: number;
  idleSince: number;
}

/**
 * A client may be sending its next request just now, and would find the connection reset. Behind a front that
 * costs nothing: what was not taken is sent to another process.
 */
const graceMilliseconds = 500;
const lookMilliseconds = 50;

export function trackConnections(server: Server): Connections {
  const connections = new Map<Socket, Connection>();
  const handed = new WeakSet<Socket>();
  let emptied = () => {};

  server.on("connection", (socket: Socket) => {
    connections.set(socket, { isHanded: handed.has(socket), requests: 0, idleSince: Date.now() });
    socket.once("close", () => {
      connections.delete(socket);
      if (connections.size === 0) emptied();
    });
  });
  server.prependListener("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connection.requests++;
    response.once("close", () => {
      connection.requests--;
      connection.idleSince = Date.now();
    });
  });

  function closeIdle(began: number): void {
    for (const [socket, { isHanded, requests, idleSince }] of connections) {
      const grace = isHanded ? graceMilliseconds : 0;
      if (requests === 0 && Date.now() - Math.max(began, idleSince) >= grace) socket.destroy();
    }
  }

  return {
    accept(socket) {
      handed.add(socket);
      server.emit("connection", socket);
    },
    isHanded: (socket) => handed.has(socket),
    async end() {
      const began = Date.now();
      closeIdle(began);
      if (connections.size === 0) return;
      const looking = setInterval(() => closeIdle(began), lookMilliseconds);
      await new Promise<void>((resolve) => {
        emptied = resolve;
      });
      clearInterval(looking);
    },
  };
}
