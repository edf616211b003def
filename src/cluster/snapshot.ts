// A cluster as of one instant, for backups while servers write: the records of one transaction of
// PostgreSQL, whose blobs are kept from the garbage collectors of all processes until the end.
import type { Blobs } from "../engine/blobs.ts";
import type { Records } from "../engine/records.ts";
import { StoreError } from "../model/errors.ts";
import type { ClusterLocation } from "../model/names/location.ts";
import { type ClusterBase, type ClusterTimes, defaultPoolSize, openBase } from "./open.ts";
import type { Connection, Row, Statement } from "./postgres/connection.ts";
import type { Database } from "./postgres/database.ts";
import { isRetryable, toStoreError } from "./postgres/errors.ts";
import { createClusterRecords } from "./records.ts";

export interface ClusterSnapshot {
  readonly records: Records;
  readonly blobs: Blobs;
  /** Throws if blobs may have been removed meanwhile, because this process was taken for dead. */
  assertHeld(): void;
  close(): Promise<void>;
}

/** A statement of a snapshot may scan a whole table. */
const statementMilliseconds = 3600_000;

export async function openClusterSnapshot(
  location: ClusterLocation,
  times: Partial<ClusterTimes> = {},
): Promise<ClusterSnapshot> {
  // One connection is the snapshot's; the heartbeat needs another.
  const pool = Math.max(2, location.pool ?? defaultPoolSize);
  // Everything is read once, so a cache would only lose what it has.
  const base = await openBase({ ...location, pool, cache: undefined }, times);
  try {
    const processId = base.heartbeat.processId;
    // Before the snapshot begins: garbage that is found later is newer than this read.
    const endRead = base.heartbeat.beginRead();
    await base.heartbeat.horizon();
    const connection = await beginTransaction(base);
    const database = createSnapshotDatabase(connection);
    const { journal, bucketCache } = base;
    return {
      records: createClusterRecords({ database, journal, bucketCache, close: async () => {} }),
      blobs: base.blobs,
      assertHeld() {
        if (base.heartbeat.processId === processId) return;
        throw snapshotLost(new Error("This process sent no heartbeat for too long."));
      },
      async close() {
        endRead();
        // Ends the transaction too.
        connection.end();
        base.pool.release(connection);
        await base.close();
      },
    };
  } catch (error) {
    await base.close();
    throw toStoreError(error);
  }
}

async function beginTransaction({ pool, times }: ClusterBase): Promise<Connection> {
  const until = Date.now() + times.timeout;
  const connection = await pool.take(until);
  try {
    await connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", undefined, until);
    // PostgreSQL takes the snapshot at the first query.
    await connection.run("SELECT count(*) FROM store.buckets", undefined, until);
    return connection;
  } catch (error) {
    connection.end();
    pool.release(connection);
    throw error;
  }
}

function snapshotLost(cause: unknown): StoreError {
  return new StoreError("ServiceUnavailable", {
    detail: "The snapshot of the database was lost. Run the command again.",
    cause,
  });
}

/** All reads of a snapshot use its one connection, one after another. Nothing is retried. */
function createSnapshotDatabase(connection: Connection): Database {
  let last: Promise<unknown> = Promise.resolve();
  function read(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    const result = last.then(() =>
      connection.query(statement, values, Date.now() + statementMilliseconds).catch((error: unknown) => {
        throw isRetryable(error) ? snapshotLost(error) : toStoreError(error);
      }),
    );
    last = result.catch(() => {});
    return result;
  }
  return {
    read,
    run: read,
    commit: () =>
      Promise.reject(new StoreError("InternalError", { detail: "A snapshot cannot be changed." })),
    close: async () => {},
  };
}
