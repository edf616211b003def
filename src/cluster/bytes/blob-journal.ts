// The book of bytes, in the database: what is being written (intents), what nobody names any more (the dead), and what
// writes that came to nothing may have left (remains). It is written before bytes are, so none is ever unknown.
import { randomBytes } from "node:crypto";
import { decodeManifest } from "../../engine/codec/record-codec.ts";
import type { GarbageEntry } from "../../engine/records.ts";
import { StoreError } from "../../model/errors.ts";
import type { BlobLocation } from "../backend/backend.ts";
import type { Row, Statement } from "../postgres/connection.ts";
import type { Database } from "../postgres/database.ts";
import type { Heartbeat } from "../postgres/heartbeat.ts";
import { parseBlobId } from "./blob-id.ts";

export interface BlobJournal {
  /** A new name for a blob of this bucket, written down as being written. */
  declareIntent(bucket: string): Promise<BlobLocation>;
  /** This process is done with it: a commit has named it, or nobody knows whether one has. */
  release(location: BlobLocation): void;
  /**
   * They will not be named: whatever commit is still on its way to do so fails. Which of them were intents until now:
   * their bytes are to be removed, at once and once more.
   */
  abandon(names: readonly string[]): Promise<readonly BlobLocation[]>;
  /** Intents of this process that it has let go: of commits that turned out not to have happened. */
  orphanedIntents(): Promise<readonly BlobLocation[]>;

  /** Bodies of a bucket that nobody names and nobody can be reading, behind the given entry. */
  garbage(bucket: string, after: number, limit: number): Promise<readonly GarbageEntry[]>;
  /** The same of buckets that are deleted. */
  garbageOfDeletedBuckets(limit: number): Promise<readonly GarbageEntry[]>;
  /** Their bytes are removed; of those that were sent more than once, something may remain to arrive. */
  ackGarbage(entries: readonly GarbageEntry[]): Promise<void>;

  /** Ends processes that have been silent for this long. */
  endSilentProcesses(seconds: number): Promise<void>;
  /** What may be left of writes, of which nothing new can arrive any more. */
  leftovers(seconds: number, limit: number): Promise<readonly BlobLocation[]>;
  ackLeftovers(names: readonly string[]): Promise<void>;
  /** Deleted buckets of which no byte is left, in use or dead. */
  emptiedBuckets(): Promise<readonly string[]>;
  /** What they took on the shelf is gone, too. */
  ackBucketRemoval(bucket: string): Promise<void>;
  /** Of these names, those that somebody is about to use or to clear away. */
  unsettled(names: readonly string[]): Promise<ReadonlySet<string>>;
}

const sql = {
  // The lock keeps the process from being ended before its intent is there to be found.
  declareIntent: statement(
    "intend",
    `INSERT INTO store.intents (name, bucket, process)
      SELECT $1, b.id, p.id FROM store.buckets b, store.processes p WHERE b.name = $2 AND p.id = $3
      FOR KEY SHARE OF p ON CONFLICT (name) DO UPDATE SET process = excluded.process RETURNING bucket`,
  ),
  abandon: statement(
    "give up",
    `WITH gone AS (DELETE FROM store.intents WHERE name = ANY ($1) RETURNING name, bucket)
      INSERT INTO store.remains (name, bucket, since) SELECT name, bucket, store.clock() FROM gone
      RETURNING bucket, name`,
  ),
  ownIntents: statement("own intents", "SELECT bucket, name FROM store.intents WHERE process = $1"),
  findBucket: statement("is bucket", "SELECT id FROM store.buckets WHERE name = $1"),
  garbage: statement(
    "dead",
    `SELECT d.entry, d.blob, m.parts, store.clock() FROM store.buckets b
      LEFT JOIN LATERAL (SELECT * FROM store.dead WHERE bucket = b.id AND entry > $2 ORDER BY entry LIMIT $3) d ON true
      LEFT JOIN store.manifests m ON m.id = d.manifest WHERE b.name = $1 ORDER BY d.entry`,
  ),
  garbageOfDeletedBuckets: statement(
    "dead of deleted",
    `SELECT d.entry, d.blob, m.parts, store.clock() FROM store.dead d LEFT JOIN store.manifests m ON m.id = d.manifest
      WHERE NOT EXISTS (SELECT FROM store.buckets b WHERE b.id = d.bucket) ORDER BY d.entry LIMIT $1`,
  ),
  ackGarbage: statement(
    "forget",
    `WITH gone AS (DELETE FROM store.dead WHERE entry = ANY ($1) RETURNING manifest),
      parts AS (DELETE FROM store.manifests WHERE id IN (SELECT manifest FROM gone)),
      removed AS (DELETE FROM store.blobs WHERE name = ANY ($2) RETURNING name, bucket)
      INSERT INTO store.remains (name, bucket, since)
        SELECT name, bucket, store.clock() FROM removed WHERE name = ANY ($3)`,
  ),
  endSilentProcesses: statement("end silent", "SELECT store.end_silent($1)"),
  leftovers: statement(
    "remains",
    "SELECT bucket, name FROM store.remains WHERE since <= store.clock() - $1 ORDER BY since LIMIT $2",
  ),
  ackLeftovers: statement("cleared", "DELETE FROM store.remains WHERE name = ANY ($1)"),
  emptiedBuckets: statement(
    "emptied",
    `SELECT bucket FROM store.gone g WHERE
      NOT EXISTS (SELECT FROM store.dead WHERE bucket = g.bucket)
      AND NOT EXISTS (SELECT FROM store.intents WHERE bucket = g.bucket)
      AND NOT EXISTS (SELECT FROM store.remains WHERE bucket = g.bucket) LIMIT 1000`,
  ),
  ackBucketRemoval: statement("is gone", "DELETE FROM store.gone WHERE bucket = $1"),
  unsettled: statement(
    "unsettled",
    `SELECT name FROM store.intents WHERE name = ANY ($1)
      UNION ALL SELECT name FROM store.remains WHERE name = ANY ($1)`,
  ),
};

/** Forgetting when one was seen only delays its removal. */
const maxSeen = 100_000;

export function createBlobJournal(database: Database, heartbeat: Heartbeat): BlobJournal {
  /** Being written, or about to be named. */
  const inFlight = new Set<string>();
  /** The database's time when an entry was first seen: whoever was reading it had begun before. */
  const firstSeen = new Map<number, number>();

  /** Those that nobody can be reading: whose name had gone before every read under way anywhere began. */
  async function filterUnread(rows: readonly Row[]): Promise<readonly GarbageEntry[]> {
    if (rows.length === 0) return [];
    // Entries that others remove are not heard of again.
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
      // Taken for dead: this process comes back as a new one.
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
        // It may be there all the same, or come to be: then it is found as forgotten.
        inFlight.delete(name);
        throw error;
      }
    },
    release: ({ name }) => inFlight.delete(name),
    async abandon(names) {
      // Where the database is away they are found as forgotten, later.
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

function statement(name: string, text: string): Statement {
  return { name, text };
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
