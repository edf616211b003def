// Integrity checks within the database: every blob of a record must be in the blob table, every
// blob in that table must belong to a record or be garbage, and the references to blobs that
// several versions share must be complete.
import type { Buffer } from "node:buffer";
import type { Finding } from "../../engine/records.ts";
import { type Row, type Statement, statements } from "../postgres/connection.ts";

const maxFindings = 1000;

// A part's second and third fields are its size and blob: engine/codec/record-codec.ts.
const partBlobs = "jsonb_array_elements(m.parts::jsonb->1) AS part";

/** Blobs of the bucket's rows in a table with the columns blob and manifest. */
const blobsOf = (table: string, key: string) => `
    SELECT ${key} AS key, t.blob FROM ${table} t WHERE t.bucket = b.id AND t.blob IS NOT NULL
    UNION ALL SELECT ${key}, part->>2 FROM ${table} t JOIN store.manifests m ON m.id = t.manifest, ${partBlobs}
      WHERE t.bucket = b.id`;

const versionBlobs = `${blobsOf("store.objects", "t.key")} UNION ALL ${blobsOf("store.history", "t.key")}`;
const recordBlobs = `${versionBlobs} UNION ALL SELECT NULL, p.blob FROM store.parts p WHERE p.bucket = b.id`;

const sql = statements({
  unregistered: `SELECT named.key, named.blob FROM store.buckets b, LATERAL (${recordBlobs}) named
      WHERE b.name = $1
        AND NOT EXISTS (SELECT FROM store.blobs k WHERE k.name = split_part(named.blob, '.', 2))
      LIMIT ${maxFindings}`,
  unreferenced: `WITH named AS MATERIALIZED (
      SELECT split_part(all_blobs.blob, '.', 2) AS name FROM store.buckets b,
        LATERAL (${recordBlobs} UNION ALL ${blobsOf("store.dead", "NULL")}) all_blobs WHERE b.name = $1
    )
    SELECT NULL::bytea, k.name FROM store.buckets b JOIN store.blobs k ON k.bucket = b.id
      WHERE b.name = $1 AND NOT EXISTS (SELECT FROM named n WHERE n.name = k.name) LIMIT ${maxFindings}`,
  // The first version that names a blob has no row in store.shared_blobs.
  sharedBlobs: `SELECT (array_agg(uses.key) FILTER (WHERE uses.key IS NOT NULL))[1], uses.name FROM store.buckets b, LATERAL (
        SELECT key, split_part(blob, '.', 2) AS name, 1 AS uses FROM (${versionBlobs}) named
        UNION ALL SELECT NULL, s.name, -1 FROM store.shared_blobs s WHERE s.bucket = b.id
      ) uses WHERE b.name = $1 GROUP BY uses.name HAVING sum(uses.uses) <> 1 LIMIT ${maxFindings}`,
  // The newest version of a key is current: an object, or a delete marker without an end.
  withoutCurrent: `SELECT newest.key, NULL FROM store.buckets b, LATERAL (
        SELECT DISTINCT ON (h.key) h.key, h.until FROM store.history h
          WHERE h.bucket = b.id ORDER BY h.key, h.entry DESC
      ) newest WHERE b.name = $1 AND (newest.until < 'Infinity') <> EXISTS (
        SELECT FROM store.objects o WHERE o.bucket = b.id AND o.key = newest.key) LIMIT ${maxFindings}`,
  // Reads as of a time rely on shown_until: schema/v5-tables.ts.
  wrongTimes: `SELECT DISTINCT shown.key, NULL FROM store.buckets b, LATERAL (
        SELECT h.key, h.shown_until, least(
            min(h.since) OVER (PARTITION BY h.key ORDER BY h.entry DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
            CASE WHEN o.key IS NOT NULL THEN coalesce(o.since, store.uploaded(o.record)) END, 'Infinity') AS next_since
          FROM store.history h LEFT JOIN store.objects o ON o.bucket = h.bucket AND o.key = h.key
          WHERE h.bucket = b.id
      ) shown WHERE b.name = $1 AND shown.shown_until <> shown.next_since LIMIT ${maxFindings}`,
});

export async function* checkBucketIntegrity(
  read: (statement: Statement) => Promise<readonly Row[]>,
): AsyncGenerator<Finding> {
  for (const [key, blob] of await read(sql.unregistered)) {
    yield { ...toSubject(key), what: `Blob ${String(blob)} of a record is not in the blob table.` };
  }
  for (const [, name] of await read(sql.unreferenced)) {
    yield { what: `Blob ${String(name)} is in the blob table, but no record names it.` };
  }
  for (const [key, name] of await read(sql.sharedBlobs)) {
    yield { ...toSubject(key), what: `Blob ${String(name)} has another number of references than versions.` };
  }
  for (const [key] of await read(sql.withoutCurrent)) {
    yield { ...toSubject(key), what: "The newest version of the key is not its current version." };
  }
  for (const [key] of await read(sql.wrongTimes)) {
    yield { ...toSubject(key), what: "A read as of a time does not find the right version of the key." };
  }
}

function toSubject(key: unknown): Pick<Finding, "key"> {
  return key === null ? {} : { key: (key as Buffer).toString() };
}
