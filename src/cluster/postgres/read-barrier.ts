// The barrier in front of strict reads: a commit that means nothing, but that only the primary with its standbys can make.
// Once it is made, everything acknowledged before is on that server, even if it is deposed a moment later. One
// serves all reads that were waiting when it began.
import { type Connection, LostConnection, type Statement } from "./connection.ts";
import type { Pool } from "./pool.ts";

export interface Barrier {
  /** Resolves to the generation of the server on which a barrier was passed that began after this was called. */
  pass(until: number): Promise<number>;
}

const statement: Statement = {
  name: "barrier",
  text: "SELECT pg_logical_emit_message(true, 'store', '')",
};

export function createBarrier(pool: Pool): Barrier {
  let inFlight: Promise<unknown> | undefined;
  let next: Promise<number> | undefined;

  async function commit(until: number): Promise<number> {
    const connection: Connection = await pool.take(until);
    try {
      await connection.query(statement, [], until);
      // A warning says that it waited in vain for a standby: nothing is proven then.
      if (connection.hasWarning) throw new LostConnection("The barrier was not replicated.");
      return connection.generation;
    } finally {
      pool.release(connection);
    }
  }

  return {
    pass(until) {
      // The one under way may have begun before this read: it waits for the one behind.
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
