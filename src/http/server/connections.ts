// Tracks the open connections of one listener: limits their number and closes idle connections.
import type { Server as NetServer, Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { clearInterval, setInterval } from "node:timers";
import { clientNetwork } from "../client-network.ts";
import { isReadingShort } from "../wire/read-short-requests.ts";
import type { AcceptPace } from "./accept-pace.ts";
import { plainAddress, type TrustedPeers, trustNone } from "./forwarded.ts";
import { isUpgraded, pendingResponse } from "./last-response.ts";
import type { PortLimits } from "./limits.ts";
import { isLingering } from "./linger.ts";
import type { ConnectionShare } from "./listen.ts";
import { createBurstWatch } from "./release-memory.ts";

export interface Connections {
  /** Serves a connection after its TLS handshake, in place of the raw socket. */
  serveSecured(socket: Socket, rawSocket: Socket): void;
  /** Closes each connection when it is idle; resolves when no connection is open. */
  end(): Promise<void>;
}

export interface ConnectionOptions {
  /** Accepts the connections: the HTTP server itself, or a plain TCP server if TLS is used. */
  readonly acceptor: NetServer;
  readonly limits: PortLimits | undefined;
  readonly trusted: TrustedPeers;
  /** Counts the connections of several listeners together. */
  readonly share?: ConnectionShare | undefined;
  /** Serves the requests of a connection after its TLS handshake. */
  readonly serveConnection: (socket: Socket) => void;
  /**
   * How long an idle connection stays open while the listener ends. Its client may be sending a
   * request, which would fail with a connection reset.
   */
  readonly graceMilliseconds: number;
  /** Present if other processes accept connections of the same port. */
  readonly pace?: AcceptPace | undefined;
}

const checkMilliseconds = 50;
/** How long a client may take to read a response, while the listener ends. */
const lingerMilliseconds = 500;
/** Maximum number of connections to examine in the search for an idle one. */
const maxChecks = 64;

export function trackConnections(options: ConnectionOptions): Connections {
  const { acceptor, limits, graceMilliseconds, trusted, share, serveConnection, pace } = options;
  const open = new Set<Socket>();
  const addresses = createAddressCounts(open, { max: limits?.connectionsPerAddress, trusted });
  const max = limits?.connections ?? Number.POSITIVE_INFINITY;
  /** From this number on, idle connections are closed. At `max`, Node refuses new connections. */
  const softLimit = max - Math.max(1, max / 64);
  if (limits !== undefined) acceptor.maxConnections = limits.connections;
  const burst = createBurstWatch();
  let onEmpty = () => {};

  function add(socket: Socket): void {
    open.add(socket);
    burst.count(open.size);
    socket.once("close", () => {
      open.delete(socket);
      addresses.release(socket);
      burst.count(open.size);
      if (open.size === 0) onEmpty();
    });
  }

  acceptor.on("connection", (socket: Socket) => {
    // A request for another protocol is served again as an ordinary one.
    if (open.has(socket)) return;
    const endShare = share?.begin();
    const isWithinShare = share === undefined || endShare !== undefined;
    if (!isWithinShare || !addresses.admit(socket)) {
      endShare?.();
      socket.destroy();
      return;
    }
    if (endShare !== undefined) socket.once("close", endShare);
    if (open.size >= softLimit) closeOneIdle(open);
    pace?.onAccept(open.size);
    add(socket);
  });

  function closeIdle(idleSince: Map<Socket, number>): void {
    for (const socket of open) {
      if (isServing(socket)) {
        idleSince.delete(socket);
        continue;
      }
      const since = idleSince.get(socket) ?? performance.now();
      idleSince.set(socket, since);
      const milliseconds = isLingering(socket) ? lingerMilliseconds : graceMilliseconds;
      if (performance.now() - since >= milliseconds) socket.destroy();
    }
  }

  return {
    serveSecured(socket, rawSocket) {
      add(socket);
      serveConnection(socket);
      open.delete(rawSocket);
    },
    async end() {
      const idleSince = new Map<Socket, number>();
      closeIdle(idleSince);
      if (open.size === 0) return;
      const checking = setInterval(() => closeIdle(idleSince), checkMilliseconds);
      await new Promise<void>((resolve) => {
        onEmpty = resolve;
      });
      clearInterval(checking);
    },
  };
}

function isServing(socket: Socket): boolean {
  return pendingResponse(socket) !== undefined || isReadingShort(socket);
}

/** Closes the first idle connection. Moves busy ones to the end: the next search skips them. */
function closeOneIdle(open: Set<Socket>): void {
  let checks = 0;
  for (const socket of open) {
    if (!isServing(socket) && !isUpgraded(socket)) {
      socket.destroy();
      open.delete(socket);
      return;
    }
    if (++checks === maxChecks) return;
    open.delete(socket);
    open.add(socket);
  }
}

interface AddressLimit {
  readonly max: number | undefined;
  readonly trusted: TrustedPeers;
}

/**
 * Counts connections by client network. Reading an address is a system call, so counting starts
 * only when there are enough connections for one address to exceed its share.
 */
function createAddressCounts(open: ReadonlySet<Socket>, { max, trusted }: AddressLimit) {
  /** The network of each socket. */
  let counted: Map<Socket, string> | undefined;
  const counts = new Map<string, number>();

  function count(socket: Socket): void {
    const network = clientNetwork(plainAddress(socket.remoteAddress ?? ""));
    counted!.set(socket, network);
    counts.set(network, (counts.get(network) ?? 0) + 1);
  }

  function countAll(): void {
    counted = new Map();
    for (const socket of open) count(socket);
  }

  function stopCounting(): void {
    counted = undefined;
    counts.clear();
  }

  return {
    /** Returns false if the address has too many connections. */
    admit(socket: Socket): boolean {
      if (max === undefined) return true;
      if (counted === undefined) {
        if (open.size < max) return true;
        countAll();
      }
      const address = plainAddress(socket.remoteAddress ?? "");
      const isFull = (counts.get(clientNetwork(address)) ?? 0) >= max;
      if (isFull && (trusted === trustNone || !trusted.has(address))) return false;
      count(socket);
      return true;
    },
    release(socket: Socket): void {
      const network = counted?.get(socket);
      if (network === undefined || max === undefined) return;
      if (open.size < max / 2) {
        stopCounting();
        return;
      }
      counted?.delete(socket);
      const left = counts.get(network)! - 1;
      if (left > 0) counts.set(network, left);
      else counts.delete(network);
    },
  };
}
