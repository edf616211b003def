// The pool of connections to the primary. Each connection is used by one caller at a time. A
// connection to a former primary is closed when it is released.
import { clearTimeout, setTimeout } from "node:timers";
import type { Connection } from "./connection.ts";
import { unavailable } from "./errors.ts";
import type { Primary } from "./primary.ts";

export interface Pool {
  /** Returns an idle or a new connection. At the limit, waits for a released connection. */
  take(until: number): Promise<Connection>;
  release(connection: Connection): void;
  usage(): PoolUsage;
  close(): Promise<void>;
}

export interface PoolUsage {
  readonly busy: number;
  readonly idle: number;
  /** Number of callers that wait for a connection. */
  readonly waiting: number;
}

export function createPool(primary: Primary, size: number, where: string): Pool {
  const idle: Connection[] = [];
  const waiting = new Set<() => void>();
  let open = 0;
  let isClosed = false;
  let resolveClose: (() => void) | undefined;

  function wakeOne(): void {
    const [next] = waiting;
    if (next === undefined) return;
    waiting.delete(next);
    next();
  }

  function drop(connection: Connection): void {
    connection.end();
    open--;
    if (isClosed && open === 0) resolveClose?.();
    wakeOne();
  }

  function isUsable(connection: Connection): boolean {
    return !connection.isLost && connection.generation === primary.generation && !isClosed;
  }

  /** Returns an idle connection, if any. Closes unusable connections. */
  function takeIdle(): Connection | undefined {
    for (;;) {
      const connection = idle.pop();
      if (connection === undefined || isUsable(connection)) return connection;
      drop(connection);
    }
  }

  async function openOne(until: number): Promise<Connection> {
    open++;
    try {
      return await primary.connect(until);
    } catch (error) {
      open--;
      if (isClosed && open === 0) resolveClose?.();
      wakeOne();
      throw error;
    }
  }

  function waitForRelease(until: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(
        () => {
          waiting.delete(wake);
          reject(unavailable(where, new Error("All connections are in use.")));
        },
        Math.max(0, until - Date.now()),
      );
      waiting.add(wake);
    });
  }

  return {
    async take(until) {
      for (;;) {
        if (isClosed) throw unavailable(where, new Error("The store is closed."));
        const connection = takeIdle();
        if (connection !== undefined) return connection;
        if (open < size) return openOne(until);
        await waitForRelease(until);
      }
    },
    release(connection) {
      if (connection.isLost) primary.invalidate();
      if (!isUsable(connection)) return drop(connection);
      idle.push(connection);
      wakeOne();
    },
    usage: () => ({ busy: open - idle.length, idle: idle.length, waiting: waiting.size }),
    async close() {
      isClosed = true;
      for (const wake of waiting) wake();
      waiting.clear();
      for (const connection of idle.splice(0)) drop(connection);
      if (open > 0) {
        await new Promise<void>((resolve) => {
          resolveClose = resolve;
        });
      }
    },
  };
}
