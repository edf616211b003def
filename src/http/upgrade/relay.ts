// Passes bytes between a client and another server after an upgrade, with backpressure in both
// directions. A side that reads nothing, and a connection without any byte, are closed.
import { Socket } from "node:net";
import { performance } from "node:perf_hooks";
import type { Duplex } from "node:stream";

export interface RelayLimits {
  /** Maximum time in which one side reads nothing of what waits for it; default: 2 minutes. */
  readonly stallMilliseconds: number;
  /** Maximum time in which no byte passes; default: 10 minutes. */
  readonly idleMilliseconds: number;
}

const defaultLimits: RelayLimits = { stallMilliseconds: 120_000, idleMilliseconds: 600_000 };

/** Ends when either side has closed its connection, after the rest was passed on. */
export function relay(client: Socket, other: Duplex, limits: Partial<RelayLimits> = {}): void {
  const { stallMilliseconds, idleMilliseconds } = { ...defaultLimits, ...limits };
  const end = () => {
    client.destroy();
    other.destroy();
  };
  client.on("error", end);
  other.on("error", end);
  // What was received before the end still reaches the other side.
  client.once("close", () => closeAfterRest(other));
  other.once("close", () => closeAfterRest(client));
  for (const socket of [client, other]) {
    if (socket instanceof Socket) watchProgress(socket, { stallMilliseconds, idleMilliseconds }, end);
  }
  client.pipe(other);
  other.pipe(client);
}

function closeAfterRest(stream: Duplex): void {
  if (stream instanceof Socket) stream.destroySoon();
  else stream.destroy();
}

function watchProgress(socket: Socket, limits: RelayLimits, end: () => void): void {
  const { idleMilliseconds } = limits;
  const interval = Math.min(limits.stallMilliseconds, idleMilliseconds);
  let passed = -1;
  let since = 0;
  const check = () => {
    const now = performance.now();
    const total = socket.bytesRead + socket.bytesWritten;
    if (total !== passed) since = now - interval;
    passed = total;
    // The system has taken nothing of what waits since the timer started.
    if (socket.writableLength > 0 || now - since >= idleMilliseconds) end();
    else socket.setTimeout(interval);
  };
  socket.removeAllListeners("timeout");
  socket.on("timeout", check);
  socket.setTimeout(interval);
}
