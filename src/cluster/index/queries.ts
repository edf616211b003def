// SQL of queries and function calls. Every query starts at the bucket's name, so that one round
// trip distinguishes a missing bucket (no row) from a missing object (a row of nulls).
import { type SettingName, settingNames } from "../../model/bucket.ts";
import { statements } from "../postgres/connection.ts";

/** Columns of settings whose names differ, because SQL names have no capital letters. */
const settingColumns: Partial<Record<SettingName, string>> = {
  objectLock: "object_lock",
  lockRules: "lock_rules",
  publicAccessBlock: "public_access_block",
};
const allSettings = settingNames.map((name) => settingColumns[name] ?? name).join(", ");

export const queries = statements({
  bucket: `SELECT name, created, storage_class, account, ${allSettings} FROM store.buckets WHERE name = $1`,
  buckets: "SELECT name, created, storage_class, account FROM store.buckets ORDER BY name",
  totals: `SELECT o.count, o.size, h.count, h.size FROM store.buckets b,
      LATERAL (SELECT count(*), coalesce(sum(size), 0) AS size FROM store.objects WHERE bucket = b.id) o,
      LATERAL (SELECT count(*), coalesce(sum(size), 0) AS size FROM store.history WHERE bucket = b.id) h
      WHERE b.name = $1`,
  /** Nulls if the bucket is not counted. */
  usage: `SELECT u.bytes, u.objects FROM store.buckets b
      LEFT JOIN store.usage u ON u.bucket = b.id WHERE b.name = $1`,
  object: `SELECT o.record FROM store.buckets b
      LEFT JOIN store.objects o ON o.bucket = b.id AND o.key = $2 WHERE b.name = $1`,
  /** Objects of any buckets, in request order. The subquery makes each read an index lookup. */
  objectBatch: `SELECT b.id IS NOT NULL,
        (SELECT record FROM store.objects o WHERE o.bucket = b.id AND o.key = asked.key)
      FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS asked (bucket, key, place)
      LEFT JOIN store.buckets b ON b.name = asked.bucket ORDER BY asked.place`,
  /** With the number of the list of parts instead of the list, which may be long. */
  objectBody: `SELECT o.record, o.inline, o.blob, o.stored, NULL, o.manifest FROM store.buckets b
      LEFT JOIN store.objects o ON o.bucket = b.id AND o.key = $2 WHERE b.name = $1`,
  /** Like `objectBody`, of any buckets, in request order. */
  objectBodyBatch: `SELECT b.id IS NOT NULL, o.record, o.inline, o.blob, o.stored, NULL, o.manifest
      FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS asked (bucket, key, place)
      LEFT JOIN store.buckets b ON b.name = asked.bucket
      LEFT JOIN LATERAL (SELECT record, inline, blob, stored, manifest FROM store.objects
        WHERE bucket = b.id AND key = asked.key OFFSET 0) o ON true ORDER BY asked.place`,
  objectWithParts: `SELECT o.record, o.inline, o.blob, o.stored, m.parts, o.manifest FROM store.buckets b
      LEFT JOIN store.objects o ON o.bucket = b.id AND o.key = $2
      LEFT JOIN store.manifests m ON m.id = o.manifest WHERE b.name = $1`,
  /** All records of a page as one text, one per line: cheaper than one row each. */
  objects: `SELECT o.records FROM store.buckets b LEFT JOIN LATERAL (
        SELECT string_agg(record, E'\\n') AS records FROM (
          SELECT record FROM store.objects WHERE bucket = b.id AND key >= $2 AND key < $3 ORDER BY key LIMIT $4
        ) page
      ) o ON true WHERE b.name = $1`,
  /** Like `objects`, but limited by the total bytes of the records. */
  weighedObjects: `SELECT o.records FROM store.buckets b LEFT JOIN LATERAL (
        SELECT string_agg(record, E'\\n' ORDER BY key) AS records FROM (
          SELECT key, record, sum(octet_length(record)) OVER (ORDER BY key) - octet_length(record) AS before FROM (
            SELECT key, record FROM store.objects WHERE bucket = b.id AND key >= $2 AND key < $3 ORDER BY key LIMIT $4
          ) page
        ) weighed WHERE before < $5
      ) o ON true WHERE b.name = $1`,
  /** Keys are separated by a byte that UTF-8 never has. */
  packedKeys: `SELECT o.keys, o.count FROM store.buckets b LEFT JOIN LATERAL (
        SELECT string_agg(key, '\\xff'::bytea) AS keys, count(*) FROM (
          SELECT key FROM store.objects WHERE bucket = b.id AND key >= $2 AND key < $3 ORDER BY key LIMIT $4
        ) page
      ) o ON true WHERE b.name = $1`,
  folders: `SELECT o.record, o.folder FROM store.buckets b
      LEFT JOIN LATERAL store.list_folders(b.id, $2, $3, $4, $5, $6, $7) o ON true WHERE b.name = $1`,
  /** Like `objects` and `weighedObjects`, of the objects at a time. */
  objectsAt: `SELECT o.records FROM store.buckets b LEFT JOIN LATERAL (
        SELECT string_agg(record, E'\\n') AS records FROM store.objects_at(b.id, $5, $2, $3, $4)
      ) o ON true WHERE b.name = $1`,
  weighedObjectsAt: `SELECT o.records FROM store.buckets b LEFT JOIN LATERAL (
        SELECT string_agg(record, E'\\n' ORDER BY key) AS records FROM (
          SELECT key, record, sum(octet_length(record)) OVER (ORDER BY key) - octet_length(record) AS before
            FROM store.objects_at(b.id, $6, $2, $3, $4)
        ) weighed WHERE before < $5
      ) o ON true WHERE b.name = $1`,
  foldersAt: `SELECT o.record, o.folder FROM store.buckets b
      LEFT JOIN LATERAL store.list_folders_at(b.id, $2, $3, $4, $5, $6, $7, $8) o ON true WHERE b.name = $1`,
  inspectedObjects: `SELECT o.key, o.record, o.inline, o.blob, o.stored, m.parts FROM store.buckets b LEFT JOIN LATERAL (
        SELECT * FROM store.objects WHERE bucket = b.id AND key >= $2 ORDER BY key LIMIT $3
      ) o ON true LEFT JOIN store.manifests m ON m.id = o.manifest WHERE b.name = $1 ORDER BY o.key`,
  referencesBlob:
    "SELECT EXISTS (SELECT FROM store.blobs WHERE name = $2) FROM store.buckets WHERE name = $1",
  upload: `SELECT u.record, u.revision FROM store.buckets b
      LEFT JOIN store.uploads u ON u.bucket = b.id AND u.key = $2 AND u.id = $3 WHERE b.name = $1`,
  uploads: `SELECT u.record FROM store.buckets b LEFT JOIN LATERAL (
        SELECT record FROM store.uploads WHERE bucket = b.id AND (key, id) > ($2, $3) AND key < $4
        ORDER BY key, id LIMIT $5
      ) u ON true WHERE b.name = $1`,
  dueUploads: `SELECT u.record FROM store.buckets b LEFT JOIN LATERAL (
        SELECT record FROM store.uploads WHERE bucket = b.id AND due <= $2 ORDER BY due LIMIT $3
      ) u ON true WHERE b.name = $1`,
  parts: `SELECT p.record, p.number, p.blob FROM store.buckets b
      LEFT JOIN store.parts p ON p.bucket = b.id AND p.upload = $2 WHERE b.name = $1 ORDER BY p.number`,
  document: "SELECT name, text, revision FROM store.documents WHERE kind = $1 AND name = $2",
  documents: "SELECT name, text, revision FROM store.documents WHERE kind = $1 ORDER BY name",
  documentsBelow:
    "SELECT name, text, revision FROM store.documents WHERE kind = $1 AND name >= $2 AND name < $3 ORDER BY name",
});

export const calls = statements({
  commit: "SELECT store.commit($1, $2, $3, $4, $5, $6, $7)",
  putAll: "SELECT store.put_all($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
  startCounting: "SELECT store.start_counting($1, $2, $3)",
  createBucket: "SELECT store.create_bucket($1, $2, $3, $4, $5, $6)",
  deleteBucket: "SELECT store.delete_bucket($1, $2, $3)",
  putDocument: "SELECT store.put_document($1, $2, $3, $4, $5, $6)",
  deleteDocument: "SELECT store.delete_document($1, $2, $3, $4)",
  /** The lock keeps the revision until the document is deleted. */
  deleteRevision: `WITH seen AS MATERIALIZED (
      SELECT FROM store.documents WHERE kind = $3 AND name = $4 AND revision = $5 FOR UPDATE
    ) SELECT coalesce((SELECT store.delete_document($1, $2, $3, $4) FROM seen), 'missing')`,
});
