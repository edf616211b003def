// The journal of blobs in the database: blobs being written (intents), garbage, and leftovers of
// failed writes. It is written before the bytes, so every blob in the backend is known.
import { randomBytes } from "node:crypto";
import { decodeManifest } from "../../engine/codec/record-codec.ts";
import type { GarbageEntry } from "../../engine/records.ts";
import { StoreError } from "../../model/errors.ts";
import type { BlobLocation } from "../backend/backend.ts";
import { type Row, statements } from "../postgres/connection.ts";
import type { Database } from "../postgres/database.ts";
import type { Heartbeat } from "../postgres/heartbeat.ts";
import { parseBlobId } from "./blob-id.ts";

export interface BlobJournal {
  /** Records an intent to write a blob into this bucket and returns the blob's new name. */
  declareIntent(bucket: string): Promise<BlobLocation>;
  /** Call after the commit that references the blob, also if its outcome is unknown. */
  release(location: BlobLocation): void;
  /**
   * Deletes the intents, so that a commit that references one of them fails. Returns the names that
   * were still intents: the caller must remove their bytes now, and again later.
   */
  abandon(names: readonly string[]): Promise<readonly BlobLocation[]>;
  /** Returns intents of this process that are not in flight: their commits did not happen. */
  orphanedIntents(): Promise<readonly BlobLocation[]>;

  /** Returns a bucket's bodies without record and reader, from entries after `after`. */
  garbage(bucket: string, after: number, limit: number): Promise<readonly GarbageEntry[]>;
  /** Returns bodies of deleted buckets that have no reader. */
  garbageOfDeletedBuckets(limit: number): Promise<readonly GarbageEntry[]>;
  /** Call after the bytes are removed. Keeps blobs that were sent more than once as leftovers. */
  ackGarbage(entries: readonly GarbageEntry[]): Promise<void>;

  /** Marks processes as dead that have not sent a heartbeat for this long. */
  endSilentProcesses(seconds: number): Promise<void>;
  /** Returns leftovers that are at least this old, so that no more of their bytes can arrive. */
  leftovers(seconds: number, limit: number): Promise<readonly BlobLocation[]>;
  ackLeftovers(names: readonly string[]): Promise<void>;
  /** Returns deleted buckets that have no blobs left. */
  emptiedBuckets(): Promise<readonly string[]>;
  /** Call after the bucket's folders are removed from the backend. */
  ackBucketRemoval(bucket: string): Promise<void>;
  /** Returns the names that are intents or leftovers. */
  unsettled(names: readonly string[]): Promise<ReadonlySet<string>>;
}

const sql = statements({
  // The lock prevents that the process is marked as dead before its intent is visible.
  declareIntent: `INSERT INTO store.intents (name, bucket, process)
      SELECT $1, b.id, p.id FROM store.buckets b, store.processes p WHERE b.name = $2 AND p.id = $3
      FOR KEY SHARE OF p ON CONFLICT (name) DO UPDATE SET process = excluded.process RETURNING bucket`,
  abandon: `WITH gone AS (DELETE FROM store.intents WHERE name = ANY ($1) RETURNING name, bucket)
      INSERT INTO store.remains (name, bucket, since) SELECT name, bucket, store.clock() FROM gone
      RETURNING bucket, name`,
  ownIntents: "SELECT bucket, name FROM store.intents WHERE process = $1",
  findBucket: "SELECT id FROM store.buckets WHERE name = $1",
  garbage: `SELECT d.entry, d.blob, m.parts, store.clock() FROM store.buckets b
      LEFT JOIN LATERAL (SELECT * FROM store.dead WHERE bucket = b.id AND entry > $2 ORDER BY entry LIMIT $3) d ON true
      LEFT JOIN store.manifests m ON m.id = d.manifest WHERE b.name = $1 ORDER BY d.entry`,
  garbageOfDeletedBuckets: `SELECT d.entry, d.blob, m.parts, store.clock() FROM store.dead d LEFT JOIN store.manifests m ON m.id = d.manifest
      WHERE NOT EXISTS (SELECT FROM store.buckets b WHERE b.id = d.bucket) ORDER BY d.entry LIMIT $1`,
  ackGarbage: `WITH gone AS (DELETE FROM store.dead WHERE entry = ANY ($1) RETURNING manifest),
      parts AS (DELETE FROM store.manifests WHERE id IN (SELECT manifest FROM gone)),
      removed AS (DELETE FROM store.blobs WHERE name = ANY ($2) RETURNING name, bucket)
      INSERT INTO store.remains (name, bucket, since)
        SELECT name, bucket, store.clock() FROM removed WHERE name = ANY ($3)`,
  endSilentProcesses: "SELECT store.end_silent($1)",
  leftovers:
    "SELECT bucket, name FROM store.remains WHERE since <= store.clock() - $1 ORDER BY since LIMIT $2",
  ackLeftovers: "DELETE FROM store.remains WHERE name = ANY ($1)",
  emptiedBuckets: `SELECT bucket FROM store.gone g WHERE
      NOT EXISTS (SELECT FROM store.dead WHERE bucket = g.bucket)
      AND NOT EXISTS (SELECT FROM store.intents WHERE bucket = g.bucket)
      AND NOT EXISTS (SELECT FROM store.remains WHERE bucket = g.bucket) LIMIT 1000`,
  ackBucketRemoval: "DELETE FROM store.gone WHERE bucket = $1",
  unsettled: `SELECT name FROM store.intents WHERE name = ANY ($1)
      UNION ALL SELECT name FROM store.remains WHERE name = ANY ($1)`,
});

/** Maximum number of entries in `firstSeen`. Blobs of an evicted entry are only removed later. */
const maxSeen = 100_000;

export function createBlobJournal(database: Database, heartbeat: Heartbeat): BlobJournal {
  /** Names of blobs that are being written, or that are written but not committed yet. */
  const inFlight = new Set<string>();
  /**
   * Database time at which each garbage entry was first seen, by entry number. No read that starts
   * after this time uses the entry's blobs.
   */
  const firstSeen = new Map<number, number>();

  /** Returns the entries that were first seen before the oldest read of any machine started. */
  async function filterUnread(rows: readonly Row[]): Promise<readonly GarbageEntry[]> {
    if (rows.length === 0) return [];
    // Entries that other processes remove would stay in the map forever, so clear it at the limit.
    if (firstSeen.size > maxSeen) firstSeen.clear();
    for (const [entry, , , now] of rows) {
      if (!firstSeen.has(Number(entry))) firstSeen.set(Number(entry), Number(now));
    }
    const horizon = await heartbeat.horizon();
    return rows.filter(([entry]) => firstSeen.get(Number(entry))! < horizon).map(toGarbageEntry);
  }

  async function insertIntent(bucket: string, name: string): Promise<BlobLocation> {
    for (;;) {
      const [row] = await database.run(sql.declareIntent, [name, bucket, heartbeat.processId]);
      if (row !== undefined) return { bucket: String(row[0]), name };
      const [found] = await database.run(sql.findBucket, [bucket]);
      if (found === undefined) throw new StoreError("NoSuchBucket");
      // This process was marked as dead. Sending a heartbeat registers it again under a new id.
      await heartbeat.horizon();
    }
  }

  return {
    async declareIntent(bucket) {
      const name = randomBytes(16).toString("hex");
      inFlight.add(name);
      try {
        return await insertIntent(bucket, name);
      } catch (error) {
        // The intent may exist or be inserted later. The collector finds it as an orphaned intent.
        inFlight.delete(name);
        throw error;
      }
    },
    release: ({ name }) => inFlight.delete(name),
    async abandon(names) {
      // If the database is unavailable, the collector finds these later as orphaned intents.
      for (const name of names) inFlight.delete(name);
      return (await database.run(sql.abandon, [names])).map(toBlobLocation);
    },
    async orphanedIntents() {
      const rows = await database.run(sql.ownIntents, [heartbeat.processId]);
      return rows.map(toBlobLocation).filter(({ name }) => !inFlight.has(name));
    },

    async garbage(bucket, after, limit) {
      const rows = await database.run(sql.garbage, [bucket, after, limit]);
      if (rows.length === 0) throw new StoreError("NoSuchBucket");
      return filterUnread(rows.filter(([entry]) => entry !== null));
    },
    garbageOfDeletedBuckets: async (limit) =>
      filterUnread(await database.run(sql.garbageOfDeletedBuckets, [limit])),
    async ackGarbage(entries) {
      const blobs = entries.flatMap(({ blobs }) => blobs).map(parseBlobId);
      const numbers = entries.map(({ entry }) => entry);
      const doubtful = blobs.filter(({ isDoubtful }) => isDoubtful);
      await database.run(sql.ackGarbage, [numbers, blobs.map(toName), doubtful.map(toName)]);
      for (const entry of numbers) firstSeen.delete(entry);
    },

    async endSilentProcesses(seconds) {
      await database.run(sql.endSilentProcesses, [seconds]);
    },
    leftovers: async (seconds, limit) =>
      (await database.run(sql.leftovers, [seconds, limit])).map(toBlobLocation),
    async ackLeftovers(names) {
      await database.run(sql.ackLeftovers, [names]);
    },
    async emptiedBuckets() {
      return (await database.run(sql.emptiedBuckets, [])).map(([bucket]) => String(bucket));
    },
    async ackBucketRemoval(bucket) {
      await database.run(sql.ackBucketRemoval, [bucket]);
    },
    async unsettled(names) {
      const rows = await database.run(sql.unsettled, [names]);
      return new Set(rows.map(([name]) => String(name)));
    },
  };
}

function toName({ name }: BlobLocation): string {
  return name;
}

function toBlobLocation([bucket, name]: Row): BlobLocation {
  return { bucket: String(bucket), name: String(name) };
}

function toGarbageEntry([entry, blob, parts]: Row): GarbageEntry {
  const blobs = parts === null ? [String(blob)] : decodeManifest(String(parts)).map(({ blob }) => blob.id);
  return { entry: Number(entry), blobs };
}
