// The barrier before strict reads: an empty commit, which succeeds only on the primary with its
// standbys. It proves that the server has every change that was acknowledged earlier.
import { type Connection, LostConnection, type Statement } from "./connection.ts";
import type { Pool } from "./pool.ts";

export interface Barrier {
  /** Waits for a barrier that started after this call. Returns the generation of its server. */
  pass(until: number): Promise<number>;
}

const statement: Statement = { name: "barrier", text: "SELECT pg_logical_emit_message(true, 'store', '')" };

export function createBarrier(pool: Pool): Barrier {
  let inFlight: Promise<unknown> | undefined;
  let next: Promise<number> | undefined;

  async function commit(until: number): Promise<number> {
    const connection: Connection = await pool.take(until);
    try {
      await connection.query(statement, [], until);
      // A warning means that no standby confirmed the commit, so the barrier proves nothing.
      if (connection.hasWarning) throw new LostConnection("The barrier was not replicated.");
      return connection.generation;
    } finally {
      pool.release(connection);
    }
  }

  return {
    pass(until) {
      // The barrier in flight may have started before this read, so share the next barrier.
      next ??= (async () => {
        await inFlight?.catch(() => {});
        const barrier = commit(until);
        inFlight = barrier;
        next = undefined;
        return barrier;
      })();
      return next;
    },
  };
}
