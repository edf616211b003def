// Opens a cluster: the two ports over PostgreSQL and a shelf. Any number of processes may do so at once, anywhere.
import type { Blobs } from "../engine/blobs.ts";
import type { Records } from "../engine/records.ts";
import { createMetrics } from "../metrics/metrics.ts";
import { StoreError } from "../model/errors.ts";
import type { ClusterLocation } from "../model/location.ts";
import type { S3Times } from "../s3-client/client.ts";
import type { Shelf } from "./backend/backend.ts";
import { createClusterBlobs } from "./blobs.ts";
import { createLedger } from "./bytes/blob-ledger.ts";
import { createKnownBuckets } from "./index/bucket-cache.ts";
import { openShelf } from "./open-backend.ts";
import type { Connection, Statement } from "./postgres/connection.ts";
import { createDatabase, type Sessions } from "./postgres/database.ts";
import { isWorthAnother, told } from "./postgres/errors.ts";
import { announcePresence, type Presence } from "./postgres/heartbeat.ts";
import { createClusterFigures } from "./postgres/metrics.ts";
import { createPool, type Pool } from "./postgres/pool.ts";
import { createPrimary } from "./postgres/primary.ts";
import { type DatabaseAddress, describedAddress, parsePostgresUrl } from "./postgres/url.ts";
import { createClusterRecords } from "./records.ts";
import { checkShelf, checkVersion, foundVersion, migrate, type Run } from "./schema/schema.ts";

export interface ClusterTimes {
  /** How long an operation waits for the database, with all attempts, before it is refused. */
  readonly timeout: number;
  readonly beatMilliseconds: number;
  readonly silentSeconds: number;
  readonly lateSeconds: number;
  readonly knownMilliseconds: number;
  /** Of an S3 service. */
  readonly shelf?: Partial<S3Times>;
}

export const usualTimes: ClusterTimes = {
  timeout: 10_000,
  beatMilliseconds: 2000,
  silentSeconds: 30,
  lateSeconds: 900,
  knownMilliseconds: 1000,
};

export const usualPool = 10;

/** @internal `times` are for tests that cannot wait. */
export async function openCluster(
  location: ClusterLocation,
  times: Partial<ClusterTimes> = {},
  metrics = createMetrics(),
): Promise<{ records: Records; blobs: Blobs; commitForOthers(): Promise<void> }> {
  const all = { ...usualTimes, ...times };
  const address = parsePostgresUrl(location.records);
  const isStrict = location.reads === "strict";
  const { pool, where } = openPool(address, location.pool ?? usualPool);
  try {
    const shelf = await withConnection(pool, all.timeout, async (connection, until) => {
      const run: Run = (text, values) => connection.run(text, values, until);
      checkVersion(await foundVersion(run));
      return openKnownShelf(run, location.blobs, all.shelf);
    });
    let presence: Presence | undefined;
    const sessions: Sessions = { begin: (connection, until) => presence!.beginSession(connection, until) };
    const figures = createClusterFigures(metrics, pool.use);
    const database = createDatabase({ pool, sessions, isStrict, timeout: all.timeout, where, figures });
    presence = await announcePresence({ run: database.run, beatMilliseconds: all.beatMilliseconds });
    const ledger = createLedger(database, presence);
    const known = createKnownBuckets(isStrict ? 0 : all.knownMilliseconds);
    const close = once(async () => {
      await presence.close();
      await database.close();
      await shelf.close();
    });
    // Blobs are closed behind the records, so they close what both stand on.
    const records = createClusterRecords({ database, ledger, known, close: async () => {} });
    const idOf = async (name: string) => {
      const [row] = await database.read(bucketId, [name]);
      if (row === undefined) throw new StoreError("NoSuchBucket");
      return String(row[0]);
    };
    const blobs = createClusterBlobs({ ...all, shelf, ledger, presence, idOf, close });
    return { records, blobs, commitForOthers: async () => {} };
  } catch (error) {
    await pool.close();
    throw told(error);
  }
}

/** Creates the schema, or brings it up to date; all of it or nothing. */
export async function migrateCluster({
  records,
  blobs,
}: ClusterLocation): Promise<{ from: number; to: number }> {
  const { pool } = openPool(parsePostgresUrl(records), 1);
  try {
    const shelf = await openShelf(blobs, { marker: "make" });
    await shelf.close();
    // Altering a large table takes as long as it takes.
    const patience = 24 * 3600_000;
    return await withConnection(pool, usualTimes.timeout, async (connection) => {
      const run = (text: string, values?: readonly unknown[]) =>
        connection.run(text, values, Date.now() + patience);
      await run("BEGIN");
      const versions = await migrate(run, shelf.id);
      await run("COMMIT");
      return versions;
    });
  } catch (error) {
    throw told(error);
  } finally {
    await pool.close();
  }
}

async function openKnownShelf(run: Run, blobs: string, times: Partial<S3Times> = {}): Promise<Shelf> {
  const shelf = await openShelf(blobs, { times });
  try {
    await checkShelf(run, shelf.id);
    return shelf;
  } catch (error) {
    await shelf.close();
    throw error;
  }
}

const bucketId: Statement = { name: "bucket id", text: "SELECT id FROM store.buckets WHERE name = $1" };

function openPool(address: DatabaseAddress, size: number): { pool: Pool; where: string } {
  const where = describedAddress(address);
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
      // What a failed transaction has begun goes with its connection.
      connection.end();
      if (!isWorthAnother(error) || Date.now() >= until) throw error;
    } finally {
      pool.giveBack(connection);
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
