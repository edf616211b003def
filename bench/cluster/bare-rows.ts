// Writes and reads rows with plain SQL statements, in a table like the store's objects table.
import { createHash, randomBytes } from "node:crypto";
import type pg from "pg";
import { encodeObject } from "../../src/engine/codec/record-codec.ts";
import { keyBytes } from "../../src/model/key.ts";
import type { ObjectRecord } from "../../src/model/object.ts";
import { sameCount } from "../section.ts";

const columns = "bucket, key, version, size, record, inline";
const values = "VALUES ($1, $2, $3, $4, $5, $6)";

export interface RowToPut {
  readonly record: ObjectRecord;
  readonly body: Uint8Array;
}

/** Creates an empty table with the columns and indexes of the objects table. */
export async function createBareTable(client: pg.Client): Promise<void> {
  await client.query("CREATE TABLE public.bare (LIKE store.objects INCLUDING ALL)");
}

/** Inserts a row if its key does not exist. */
export async function insertNew(client: pg.Client, { record, body }: RowToPut): Promise<void> {
  const { rowCount } = await client.query({
    name: "insert new",
    text: `INSERT INTO public.bare (${columns}) ${values} ON CONFLICT DO NOTHING`,
    values: valuesOf(record, body),
  });
  sameCount(rowCount ?? 0, 1, "rows inserted");
}

/** Replaces the row of a key if it still has the version `seen`. */
export async function replaceSeen(
  client: pg.Client,
  { record, body }: RowToPut,
  seen: string | undefined,
): Promise<void> {
  const { rowCount } = await client.query({
    name: "replace seen",
    text: `INSERT INTO public.bare AS o (${columns}) ${values} ON CONFLICT (bucket, key) DO UPDATE SET
      version = excluded.version, size = excluded.size, record = excluded.record, inline = excluded.inline
      WHERE o.version = $7`,
    values: [...valuesOf(record, body), seen],
  });
  sameCount(rowCount ?? 0, 1, "rows replaced");
}

function valuesOf(record: ObjectRecord, body: Uint8Array): unknown[] {
  const { key, version, size } = record;
  return [1, keyBytes(key), version, size, encodeObject(record), body];
}

/** Selects a page of records after a key, without decoding them. */
export async function selectPage(client: pg.Client, bucket: string, after: string): Promise<number> {
  const { rows } = await client.query({
    name: "select page",
    text: "SELECT record FROM store.objects WHERE bucket = $1 AND key > $2 ORDER BY key LIMIT 1000",
    values: [bucket, keyBytes(after)],
    rowMode: "array",
  });
  return rows.length;
}

const uploaded = Date.now();

/** A record of typical size; its MD5 is valid in form but not computed from the body. */
export function objectRecord(key: string, size: number): ObjectRecord {
  const version = randomBytes(16).toString("hex");
  const md5 = createHash("md5").update(version).digest();
  const metadata = { storageClass: "Standard", httpMetadata: {}, customMetadata: new Map() } as const;
  return { key, version, size, etag: md5.toString("hex"), uploaded, checksums: { md5 }, ...metadata };
}

const rowsAtOnce = 5000;

export interface Filling {
  /** "inline": a body of one byte in the row. "blob": a reference to a blob that does not exist. */
  readonly home: "inline" | "blob";
  recordOf(index: number): ObjectRecord;
}

/** Inserts objects directly into the tables, in the format of the store. */
export async function fill(
  client: pg.Client,
  bucket: string,
  count: number,
  { home, recordOf }: Filling,
): Promise<void> {
  for (let from = 0; from < count; from += rowsAtOnce) {
    const records = Array.from({ length: Math.min(rowsAtOnce, count - from) }, (_, i) => recordOf(from + i));
    await client.query(home === "inline" ? fillInline : fillBlobs, [
      bucket,
      records.map(({ key }) => Buffer.from(key)),
      records.map(({ version }) => version),
      records.map(({ size }) => size),
      records.map(encodeObject),
    ]);
  }
  await client.query("VACUUM ANALYZE store.objects");
  await client.query("VACUUM ANALYZE store.blobs");
}

const given = "unnest($2::bytea[], $3::text[], $4::bigint[], $5::text[]) AS row (key, version, size, record)";
const fillInline = `INSERT INTO store.objects (bucket, key, version, size, record, inline)
  SELECT $1, key, version, size, record, 'x' FROM ${given}`;
/** Uses the version as the random name of the blob. */
const fillBlobs = `WITH put AS (
    INSERT INTO store.objects (bucket, key, version, size, blob, stored, record)
      SELECT $1::bigint, key, version, size, $1::bigint || '.' || version || '.' || size || '.0', size, record FROM ${given}
      RETURNING version, bucket
  ) INSERT INTO store.blobs (name, bucket) SELECT version, bucket FROM put`;
