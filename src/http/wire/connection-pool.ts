// Connections to one Unix socket, each with one request at a time. Idle connections are used again
// for a short time, because the other side closes them too.
import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { clearInterval, setImmediate, setInterval, setTimeout } from "node:timers";

export interface PooledConnection {
  readonly socket: Socket;
  /** Receives what arrives on the connection: undefined at its end. Set while a request is in flight. */
  onBytes: ((bytes: Buffer | undefined) => ReadOn) | undefined;
  /** Called once with the error if the connection fails. */
  onError: ((error: NodeJS.ErrnoException) => void) | undefined;
  /** Whether reading waits until `socket.resume()`. */
  isPaused: boolean;
  /** Whether the other side reads no more, so that the connection cannot be used again. */
  isClosing: boolean;
  idleSince: number;
}

/** Whether to read on, or to wait until `socket.resume()`. */
export type ReadOn = "read on" | "pause";

export interface ConnectionPool {
  /** Returns an idle connection, or a new one, which may not be connected yet. Waits at the limit. */
  acquire(): PooledConnection | Promise<PooledConnection>;
  /** Takes back a connection whose response was read completely. */
  release(connection: PooledConnection): void;
}

/** The runtime closes connections that are idle for five seconds. */
const idleMilliseconds = 2000;
const sweepMilliseconds = 1000;
/** Below the limit of open files of the runtime. */
const maxConnections = 768;
/** Used by all connections: bytes are handled before the next read. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

const pools = new Map<string, ConnectionPool>();

/** Returns the pool of a socket's path. It exists while there are connections. */
export function connectionPool(path: string): ConnectionPool {
  let pool = pools.get(path);
  if (pool === undefined) {
    pool = createPool(path, () => pools.delete(path));
    pools.set(path, pool);
  }
  return pool;
}

function createPool(path: string, onEmpty: () => void): ConnectionPool {
  const idle: PooledConnection[] = [];
  const waiting: ((connection: PooledConnection) => void)[] = [];
  let open = 0;
  let sweeping: NodeJS.Timeout | undefined;

  function openConnection(): PooledConnection {
    open++;
    const connection: PooledConnection = {
      socket: connect({
        path,
        onread: {
          buffer: readBuffer,
          callback: (count) => receive(connection, readBuffer.subarray(0, count)),
        },
      }),
      ...{ onBytes: undefined, onError: undefined, isPaused: false, isClosing: false, idleSince: 0 },
    };
    const { socket } = connection;
    readBeforeDestroy(connection);
    socket.on("end", () => receive(connection, undefined));
    socket.on("error", (error) => fail(connection, error));
    socket.on("close", () => {
      open--;
      fail(connection, new Error("The connection was closed."));
      const next = waiting.shift();
      if (next !== undefined) next(openConnection());
      else if (open === 0) onEmpty();
    });
    return connection;
  }

  function sweep(): void {
    const limit = performance.now() - idleMilliseconds;
    while (idle.length > 0 && idle[0]!.idleSince < limit) idle.shift()!.socket.destroy();
    if (idle.length > 0) return;
    clearInterval(sweeping);
    sweeping = undefined;
  }

  return {
    acquire() {
      for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
        const isFresh = performance.now() - last.idleSince < idleMilliseconds;
        if (isFresh && !last.socket.destroyed) return last;
        last.socket.destroy();
      }
      if (open < maxConnections) return openConnection();
      return new Promise((resolve) => waiting.push(resolve));
    },
    release(connection) {
      connection.onBytes = undefined;
      connection.onError = undefined;
      const next = waiting.shift();
      if (next !== undefined) return next(connection);
      connection.idleSince = performance.now();
      idle.push(connection);
      sweeping ??= setInterval(sweep, sweepMilliseconds).unref();
    },
  };
}

function receive(connection: PooledConnection, bytes: Buffer | undefined): boolean {
  // Bytes without a request: the other side does not follow the protocol, or closes the connection.
  if (connection.onBytes === undefined) {
    connection.socket.destroy();
    return true;
  }
  connection.isPaused = connection.onBytes(bytes) === "pause";
  return !connection.isPaused;
}

const restMilliseconds = 20;

/**
 * A process that answers before it has read the request closes the connection. Then writing fails, and
 * Node would destroy the socket with the response in it: read first what has arrived.
 */
function readBeforeDestroy(connection: PooledConnection): void {
  const { socket } = connection;
  const destroy = socket.destroy.bind(socket);
  const destroyAfterRest = (error: Error) => {
    const { bytesRead } = socket;
    setTimeout(() => {
      // After the timers, the event loop reads what has arrived.
      setImmediate(() => {
        const mayHaveMore = socket.bytesRead > bytesRead || connection.isPaused;
        if (mayHaveMore && !socket.destroyed) destroyAfterRest(error);
        else destroy(error);
      });
    }, restMilliseconds);
  };
  socket.destroy = (error?: NodeJS.ErrnoException) => {
    if (connection.onBytes === undefined || error?.syscall !== "write") return destroy(error);
    if (!connection.isClosing) destroyAfterRest(error);
    connection.isClosing = true;
    return socket;
  };
}

function fail(connection: PooledConnection, error: NodeJS.ErrnoException): void {
  const { onError } = connection;
  connection.onBytes = undefined;
  connection.onError = undefined;
  onError?.(error);
}
