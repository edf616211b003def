// The database as the adapters use it: reads that go on through a failover, and commits whose outcome is always found
// out. A commit carries the session of its connection and a number. When its answer is lost, the session is
// fenced on whatever server is the primary then, which tells the number of its last commit: so it is known
// whether the change was made, and it cannot be made later.
import { setTimeout as pause } from "node:timers/promises";
import type { Connection, Row, Statement } from "./connection.ts";
import { classifyFailure, isRetryable, markNotDone, toStoreError, unavailable } from "./errors.ts";
import type { ClusterMetrics } from "./metrics.ts";
import type { Pool } from "./pool.ts";
import { type Barrier, createBarrier } from "./read-barrier.ts";

export interface Database {
  /** A statement that changes nothing, tried again on another connection where one is lost. */
  read(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  /** One that may run twice, or late, without harm. */
  run(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  /**
   * Calls a function that commits, with a session and a number in front of the values. "committed" says that all of it
   * happened, any other word that nothing did. Where not even that can be found out in time it rejects with
   * ServiceUnavailable; it is seen to then that it does not happen later. An error that is marked as not done says
   * that nothing has happened.
   */
  commit(call: Statement, values: readonly unknown[]): Promise<string>;
  close(): Promise<void>;
}

export interface Sessions {
  /** The row for a new session of this process. */
  begin(connection: Connection, until: number): Promise<number>;
}

export interface DatabaseOptions {
  readonly pool: Pool;
  readonly sessions: Sessions;
  readonly isStrict: boolean;
  /** How long an operation may take, with all its attempts. */
  readonly timeout: number;
  /** For messages. */
  readonly where: string;
  readonly metrics: ClusterMetrics;
}

interface Session {
  readonly id: number;
  last: number;
}

const revokeSession: Statement = {
  name: "fence",
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
          // Behind a failover the barrier says nothing of this server.
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

  /** Whether the commit happened; undefined when that is not known and never will be. */
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

  /** Goes on asking after the caller was told that nobody knows. */
  function settleInBackground(session: Session, number: number): void {
    const work = (async () => {
      while (!isClosing) {
        try {
          await didCommit(session, number, Date.now() + timeout);
          return;
        } catch {
          // As long as the database is away.
          await pause(settlePauseMilliseconds);
        }
      }
    })();
    settling.add(work);
    void work.finally(() => settling.delete(work));
  }

  /** The outcome, or undefined when it did not happen and may be tried again. */
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
      // Without a session nothing was sent.
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
