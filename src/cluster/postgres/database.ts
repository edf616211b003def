// Reads survive a failover, and commits have a known outcome: after a lost response, the session is
// fenced against later commits, and its last number shows whether the commit happened.
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { Connection, Row, Statement } from "./connection.ts";
import { classifyFailure, isRetryable, markNotDone, toStoreError, unavailable } from "./errors.ts";
import type { ClusterMetrics } from "./metrics.ts";
import type { Pool } from "./pool.ts";
import { type Barrier, createBarrier } from "./read-barrier.ts";

export interface Database {
  /** Runs a statement that changes nothing. Retries on a new connection after a lost connection. */
  read(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  /** Runs a statement that can safely run twice or late. */
  run(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  /**
   * Calls a committing function. A result except "committed", or an error with `notDone`, means
   * that nothing changed. ServiceUnavailable: the outcome is unknown; a later commit is prevented.
   */
  commit(call: Statement, values: readonly unknown[]): Promise<string>;
  close(): Promise<void>;
}

export interface Sessions {
  /** Inserts a session for this process and returns its id. */
  begin(connection: Connection, until: number): Promise<number>;
}

export interface DatabaseOptions {
  readonly pool: Pool;
  readonly sessions: Sessions;
  readonly isStrict: boolean;
  /** Maximum duration of an operation in milliseconds, including all retries. */
  readonly timeout: number;
  /** The database's address, for messages. */
  readonly where: string;
  readonly metrics: ClusterMetrics;
}

interface Session {
  readonly id: number;
  last: number;
}

const revokeSession: Statement = {
  name: "revoke session",
  text: "UPDATE store.sessions SET is_fenced = true WHERE id = $1 RETURNING last",
};

const settlePauseMilliseconds = 100;

export function createDatabase(options: DatabaseOptions): Database {
  const { pool, sessions, isStrict, timeout, where, metrics } = options;
  const sessionsByConnection = new WeakMap<Connection, Session>();
  const barrier = createBarrier(pool);
  const settling = new Set<Promise<void>>();
  let isClosing = false;

  async function run(
    statement: Statement,
    values: readonly unknown[],
    strict?: Barrier,
  ): Promise<readonly Row[]> {
    const until = Date.now() + timeout;
    for (;;) {
      try {
        const generation = await strict?.pass(until);
        const connection = await pool.take(until);
        try {
          // After a failover, the barrier says nothing about this server, so start again.
          if (generation !== undefined && connection.generation !== generation) continue;
          return await connection.query(statement, values, until);
        } finally {
          pool.release(connection);
        }
      } catch (error) {
        if (!isRetryable(error)) throw toStoreError(error);
        if (Date.now() >= until) throw unavailable(where, error);
      }
    }
  }

  async function getSession(connection: Connection, until: number): Promise<Session> {
    const session = sessionsByConnection.get(connection) ?? {
      id: await sessions.begin(connection, until),
      last: 0,
    };
    sessionsByConnection.set(connection, session);
    return session;
  }

  /** Whether the commit happened. Undefined if that can no longer be determined. */
  async function didCommit(session: Session, number: number, until: number): Promise<boolean | undefined> {
    for (;;) {
      const connection = await pool.take(until);
      try {
        const [row] = await connection.query(revokeSession, [session.id], until);
        if (!connection.hasWarning) return row && Number(row[0]) === number;
      } catch (error) {
        if (!isRetryable(error)) throw toStoreError(error);
      } finally {
        pool.release(connection);
      }
      if (Date.now() >= until) throw unavailable(where, undefined);
    }
  }

  /** Retries fencing the session in the background, so that the commit cannot happen later. */
  function settleInBackground(session: Session, number: number): void {
    const work = (async () => {
      while (!isClosing) {
        try {
          await didCommit(session, number, Date.now() + timeout);
          return;
        } catch {
          // The database is unavailable: retry after a pause.
          await pause(settlePauseMilliseconds);
        }
      }
    })();
    settling.add(work);
    void work.finally(() => settling.delete(work));
  }

  /** Returns undefined if the commit did not happen and can be retried. */
  async function attempt(
    call: Statement,
    values: readonly unknown[],
    until: number,
  ): Promise<string | undefined> {
    const connection = await pool.take(until).catch((error: unknown) => {
      throw markNotDone(error);
    });
    let session: Session | undefined;
    let number = 0;
    let failure: unknown;
    try {
      session = await getSession(connection, until);
      number = ++session.last;
      const [[outcome] = []] = await connection.query(call, [session.id, number, ...values], until);
      if (!connection.hasWarning) return String(outcome);
    } catch (error) {
      const classified = classifyFailure(error);
      if (classified.kind === "conflict") return "conflict";
      if (classified.kind === "refused") throw markNotDone(classified.error);
      // Without a session, no commit was sent.
      if (session === undefined || classified.kind === "again") return undefined;
      if (classified.kind === "fenced") {
        connection.end();
        return undefined;
      }
      failure = error;
    } finally {
      pool.release(connection);
    }
    connection.end();
    try {
      const isDone = await didCommit(session, number, until);
      if (isDone === false) return undefined;
      if (isDone === true) return "committed";
    } catch {
      settleInBackground(session, number);
    }
    throw unavailable(where, failure);
  }

  return {
    read: (statement, values) => run(statement, values, isStrict ? barrier : undefined),
    run: (statement, values) => run(statement, values),
    async commit(call, values) {
      const until = Date.now() + timeout;
      const begin = performance.now();
      metrics.queue.add(1);
      try {
        for (;;) {
          const outcome = await attempt(call, values, until);
          if (outcome !== undefined) return outcome;
          if (Date.now() >= until) throw markNotDone(unavailable(where, undefined));
        }
      } finally {
        metrics.queue.add(-1);
        metrics.wait.observe((performance.now() - begin) / 1000);
      }
    },
    async close() {
      isClosing = true;
      await Promise.all(settling);
      await pool.close();
    },
  };
}
