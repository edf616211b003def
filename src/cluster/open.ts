// Opens a cluster: both ports on PostgreSQL and a blob backend, which many processes share.
import type { Blobs } from "../engine/blobs.ts";
import type { Records } from "../engine/records.ts";
import { createMetrics } from "../metrics/metrics.ts";
import { StoreError } from "../model/errors.ts";
import type { ClusterLocation } from "../model/names/location.ts";
import type { S3Times } from "../s3-client/client.ts";
import type { BlobBackend } from "./backend/backend.ts";
import { createCachedBackend } from "./backend/cache/cached-backend.ts";
import { createCacheMetrics } from "./backend/cache/metrics.ts";
import { createClusterBlobs } from "./blobs.ts";
import { type BlobJournal, createBlobJournal } from "./bytes/blob-journal.ts";
import { type BucketCache, createBucketCache } from "./index/bucket-cache.ts";
import { openBlobBackend } from "./open-backend.ts";
import type { Connection, Statement } from "./postgres/connection.ts";
import { createDatabase, type Database, type Sessions } from "./postgres/database.ts";
import { isRetryable, toStoreError } from "./postgres/errors.ts";
import { type Heartbeat, startHeartbeat } from "./postgres/heartbeat.ts";
import { createClusterMetrics } from "./postgres/metrics.ts";
import { createPool, type Pool } from "./postgres/pool.ts";
import { createPrimary } from "./postgres/primary.ts";
import { type DatabaseAddress, formatAddress, parsePostgresUrl } from "./postgres/url.ts";
import { createClusterRecords } from "./records.ts";
import {
  checkBackendId,
  checkVersion,
  migrate,
  type Run,
  readVersion,
  schemaVersion,
} from "./schema/schema.ts";

export interface ClusterTimes {
  /** Maximum time that an operation waits for the database, including all retries. */
  readonly timeout: number;
  readonly heartbeatMilliseconds: number;
  readonly processTimeoutSeconds: number;
  readonly lateWriteSeconds: number;
  readonly bucketCacheMilliseconds: number;
  /** Timeouts of an S3 backend. */
  readonly backend?: Partial<S3Times>;
}

export const defaultClusterTimes: ClusterTimes = {
  timeout: 10_000,
  heartbeatMilliseconds: 2000,
  processTimeoutSeconds: 30,
  lateWriteSeconds: 900,
  bucketCacheMilliseconds: 1000,
};

export const defaultPoolSize = 10;

/** What all ways to open a cluster share. */
export interface ClusterBase {
  readonly times: ClusterTimes;
  readonly pool: Pool;
  readonly database: Database;
  readonly heartbeat: Heartbeat;
  readonly journal: BlobJournal;
  readonly bucketCache: BucketCache;
  readonly blobs: Blobs;
  /** Closes everything, as `blobs.close` does. */
  close(): Promise<void>;
}

/** @internal Only tests pass `times`. */
export async function openCluster(
  location: ClusterLocation,
  times: Partial<ClusterTimes> = {},
  metrics = createMetrics(),
): Promise<{ records: Records; blobs: Blobs; commitForOthers(): Promise<void> }> {
  const { database, journal, bucketCache, blobs } = await openBase(location, times, metrics);
  // The engine closes the Blobs port last, so that port closes the shared database.
  const records = createClusterRecords({ database, journal, bucketCache, close: async () => {} });
  return { records, blobs, commitForOthers: async () => {} };
}

export async function openBase(
  location: ClusterLocation,
  times: Partial<ClusterTimes>,
  metrics = createMetrics(),
): Promise<ClusterBase> {
  const allTimes = { ...defaultClusterTimes, ...times };
  const address = parsePostgresUrl(location.records);
  const isStrict = location.reads === "strict";
  const { pool, where } = openPool(address, location.pool ?? defaultPoolSize);
  try {
    const stored = await withConnection(pool, allTimes.timeout, async (connection, until) => {
      const run: Run = (text, values) => connection.run(text, values, until);
      checkVersion(await readVersion(run));
      return openCheckedBackend(run, location.blobs, allTimes.backend);
    });
    const { cache } = location;
    const cached = cache && createCachedBackend(stored, { ...cache, metrics: createCacheMetrics(metrics) });
    const backend = cached ?? stored;
    let heartbeat: Heartbeat | undefined;
    const sessions: Sessions = { begin: (connection, until) => heartbeat!.beginSession(connection, until) };
    const clusterMetrics = createClusterMetrics(metrics, pool.usage);
    const database = createDatabase({
      ...{ pool, sessions, isStrict, timeout: allTimes.timeout, where, metrics: clusterMetrics },
    });
    heartbeat = await startHeartbeat({
      run: database.run,
      heartbeatMilliseconds: allTimes.heartbeatMilliseconds,
    });
    const journal = createBlobJournal(database, heartbeat);
    const bucketCache = createBucketCache(isStrict ? 0 : allTimes.bucketCacheMilliseconds);
    const close = once(async () => {
      await heartbeat.close();
      await database.close();
      await backend.close();
    });
    const readBucketId = async (name: string) => {
      const [row] = await database.read(selectBucketId, [name]);
      if (row === undefined) throw new StoreError("NoSuchBucket");
      return String(row[0]);
    };
    const readUncached = cached?.readUncached;
    const ports = { backend, readUncached, journal, heartbeat, readBucketId, close };
    const blobs = createClusterBlobs({ ...allTimes, ...ports });
    return { times: allTimes, pool, database, heartbeat, journal, bucketCache, blobs, close };
  } catch (error) {
    await pool.close();
    throw toStoreError(error);
  }
}

/** Creates or upgrades the schema, in one transaction. */
export async function migrateCluster(location: ClusterLocation): Promise<{ from: number; to: number }> {
  const { records, blobs } = location;
  const { pool } = openPool(parsePostgresUrl(records), 1);
  try {
    const backend = await openBlobBackend(blobs, { marker: "make" });
    await backend.close();
    // Altering a large table may take hours.
    const migrationMilliseconds = 24 * 3600_000;
    return await withConnection(pool, defaultClusterTimes.timeout, async (connection) => {
      const run = (text: string, values?: readonly unknown[]) =>
        connection.run(text, values, Date.now() + migrationMilliseconds);
      await run("BEGIN");
      const versions = await migrate(run, backend.id);
      await run("COMMIT");
      return versions;
    });
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await pool.close();
  }
}

/** Reads the version of the schema and the clock of the database, without changing anything. */
export async function inspectCluster({ records, blobs }: ClusterLocation) {
  const { pool } = openPool(parsePostgresUrl(records), 1);
  try {
    const found = await withConnection(pool, defaultClusterTimes.timeout, async (connection, until) => {
      const run: Run = (text, values) => connection.run(text, values, until);
      const schema = await readVersion(run);
      const began = Date.now();
      const [[time] = []] = await run("SELECT extract(epoch FROM clock_timestamp()) * 1000");
      const clockOffset = Number(time) - (began + Date.now()) / 2;
      return { schema: schema === 0 ? undefined : schema, knownSchema: schemaVersion, clockOffset };
    });
    // `store migrate` marks the storage of the bytes, so that without tables it cannot be opened.
    if (found.schema !== undefined) await (await openBlobBackend(blobs, {})).close();
    return found;
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await pool.close();
  }
}

async function openCheckedBackend(
  run: Run,
  blobs: string,
  times: Partial<S3Times> = {},
): Promise<BlobBackend> {
  const backend = await openBlobBackend(blobs, { times });
  try {
    await checkBackendId(run, backend.id);
    return backend;
  } catch (error) {
    await backend.close();
    throw error;
  }
}

const selectBucketId: Statement = { name: "bucket id", text: "SELECT id FROM store.buckets WHERE name = $1" };

function openPool(address: DatabaseAddress, size: number): { pool: Pool; where: string } {
  const where = formatAddress(address);
  return { pool: createPool(createPrimary(address), size, where), where };
}

async function withConnection<T>(
  pool: Pool,
  timeout: number,
  work: (connection: Connection, until: number) => Promise<T>,
): Promise<T> {
  const until = Date.now() + timeout;
  for (;;) {
    const connection = await pool.take(until);
    try {
      return await work(connection, until);
    } catch (error) {
      // Closing the connection rolls back its transaction.
      connection.end();
      if (!isRetryable(error) || Date.now() >= until) throw error;
    } finally {
      pool.release(connection);
    }
  }
}

function once(close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | undefined;
  return () => {
    closing ??= close();
    return closing;
  };
}
