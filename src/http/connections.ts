// The connections of a listener, so that it can end without cutting a request: which of them are at work,
// which are idle, and which may still bring a request that their client has sent already.
import type { Server } from "node:http";
import type { Socket } from "node:net";

export interface Connections {
  /** Takes a connection that another process has accepted, in place of the one that it was expected on. */
  accept(socket: Socket, expected?: Socket): void;
  /** One that is not ready for requests yet. */
  expect(socket: Socket): void;
  /** Whether this process was handed it, rather than having accepted it. */
  isHanded(socket: Socket): boolean;
  /** Closes each one once it has nothing to do; resolves when there is none. */
  end(): Promise<void>;
}

/**
 * A client may be sending its next request just now, and would find the connection reset. Behind a front that
 * costs nothing: what was not taken is sent to another process.
 */
const graceMilliseconds = 500;
const lookMilliseconds = 50;

export function trackConnections(server: Server): Connections {
  const open = new Set<Socket>();
  const handed = new WeakSet<Socket>();
  let emptied = () => {};

  function add(socket: Socket): void {
    open.add(socket);
    socket.once("close", () => {
      open.delete(socket);
      if (open.size === 0) emptied();
    });
  }
  server.on("connection", add);

  function closeIdle(idleSince: Map<Socket, number>): void {
    for (const socket of open) {
      if (isAtWork(socket)) {
        idleSince.delete(socket);
        continue;
      }
      const since = idleSince.get(socket) ?? Date.now();
      idleSince.set(socket, since);
      if (Date.now() - since >= (handed.has(socket) ? graceMilliseconds : 0)) socket.destroy();
    }
  }

  return {
    accept(socket, expected) {
      handed.add(socket);
      server.emit("connection", socket);
      if (expected !== undefined) open.delete(expected);
    },
    expect(socket) {
      handed.add(socket);
      add(socket);
    },
    isHanded: (socket) => handed.has(socket),
    async end() {
      const idleSince = new Map<Socket, number>();
      closeIdle(idleSince);
      if (open.size === 0) return;
      const looking = setInterval(() => closeIdle(idleSince), lookMilliseconds);
      await new Promise<void>((resolve) => {
        emptied = resolve;
      });
      clearInterval(looking);
    },
  };
}

/** Node keeps the response that is due on a connection there; counting them by events would cost every request. */
function isAtWork(socket: Socket): boolean {
  return (socket as Socket & { _httpMessage?: object | null })._httpMessage != null;
}
