// Records in PostgreSQL: the port, over statements that each begin at the bucket's name.
import { setTimeout as pause } from "node:timers/promises";
import { decodeObject, decodePart, decodeUpload } from "../engine/codec/record-codec.ts";
import type { Change, Records, UploadScan } from "../engine/records.ts";
import { type Bucket, type BucketRecord, settingNames } from "../model/bucket.ts";
import { StoreError } from "../model/errors.ts";
import { keyBytes } from "../model/key.ts";
import { parseBlobId } from "./bytes/blob-id.ts";
import type { Ledger } from "./bytes/blob-ledger.ts";
import type { KnownBuckets } from "./index/bucket-cache.ts";
import { commitValues, putOf } from "./index/change.ts";
import { auditBucket } from "./index/check.ts";
import { createClusterDocuments } from "./index/documents.ts";
import { gatherPuts } from "./index/group-commit.ts";
import { behindEverything, next, readPage, successor } from "./index/listing.ts";
import { inspectedOf, withBodyOf } from "./index/object-row.ts";
import { calls, queries, strikeEvents } from "./index/queries.ts";
import { gatherReads } from "./index/read-batching.ts";
import type { Row, Statement } from "./postgres/connection.ts";
import type { Database } from "./postgres/database.ts";
import { isText } from "./postgres/text.ts";

export interface ClusterRecordsOptions {
  readonly database: Database;
  readonly ledger: Ledger;
  readonly known: KnownBuckets;
  close(): Promise<void>;
}

const inspectedAtOnce = 500;

export function createClusterRecords({ database, ledger, known, close }: ClusterRecordsOptions): Records {
  const readOne = gatherReads(database);
  const putOne = gatherPuts(database);

  /** The rows of a bucket, at least one; a bucket without any has one of nothing but nulls. */
  async function rowsOf(
    bucket: string,
    statement: Statement,
    values: readonly unknown[],
  ): Promise<readonly Row[]> {
    const rows = isText(bucket) ? await database.read(statement, [bucket, ...values]) : [];
    if (rows.length === 0) throw noSuchBucket(bucket);
    return rows;
  }

  /** Without the one that stands for none. */
  async function found(
    bucket: string,
    statement: Statement,
    values: readonly unknown[],
  ): Promise<readonly Row[]> {
    const rows = await rowsOf(bucket, statement, values);
    return rows.filter((row) => row.some((value) => value !== null));
  }

  function noSuchBucket(name: string): StoreError {
    known.drop(name);
    return new StoreError("NoSuchBucket");
  }

  async function commit(bucket: string, change: Change): Promise<"committed" | "conflict"> {
    if (!isText(bucket)) throw noSuchBucket(bucket);
    const put = putOf(change);
    const outcome =
      put === undefined
        ? await database.commit(calls.commit, [bucket, ...commitValues(change)])
        : await putOne(bucket, put);
    if (outcome === "no bucket") throw noSuchBucket(bucket);
    if (outcome === "committed") await settle(bucket, change);
    // What was seen of the settings is out of date: they are read again before the next attempt.
    else if (change.checks?.some(({ kind }) => kind === "setting")) known.drop(bucket);
    return outcome === "committed" ? "committed" : "conflict";
  }

  /** From the moment that rules are said to be set, every write anywhere is told: no process knows the bucket without. */
  async function settle(bucket: string, { mutations }: Change): Promise<void> {
    const names = mutations.flatMap((mutation) => (mutation.kind === "put setting" ? [mutation.name] : []));
    if (names.length > 0) known.drop(bucket);
    if (names.includes("notifications")) await pause(known.milliseconds);
  }

  return {
    async createBucket({ name, created, storageClass, account }) {
      const outcome = await database.commit(calls.createBucket, [name, created, storageClass, account]);
      return outcome === "committed";
    },
    async bucket(name) {
      const seen = known.get(name);
      if (seen !== undefined || !isText(name)) return seen;
      const [row] = await database.read(queries.bucket, [name]);
      if (row === undefined) return undefined;
      const bucket = bucketOf(row);
      known.keep(bucket);
      return bucket;
    },
    async buckets() {
      return (await database.read(queries.buckets, [])).map(bucketRecordOf);
    },
    async deleteBucket(name) {
      const outcome = isText(name) ? await database.commit(calls.deleteBucket, [name]) : "missing";
      known.drop(name);
      return outcome === "committed" ? "deleted" : (outcome as "missing" | "not empty");
    },

    async totals(bucket) {
      const [[objects, bytes] = []] = await rowsOf(bucket, queries.totals, []);
      return { objects: Number(objects), bytes: Number(bytes) };
    },
    async object(bucket, key) {
      const row = isText(bucket) ? await readOne(bucket, keyBytes(key)) : undefined;
      if (row === undefined) throw noSuchBucket(bucket);
      return row[0] === null ? undefined : decodeObject(row[0] as string);
    },
    async objectWithBody(bucket, key) {
      const [row] = await found(bucket, queries.objectWithBody, [keyBytes(key)]);
      return row && withBodyOf(row);
    },
    objects: (bucket, scan) => readPage((statement, values) => found(bucket, statement, values), scan),

    async *inspect(bucket, after) {
      let start = after === undefined ? Buffer.alloc(0) : next(keyBytes(after));
      for (;;) {
        const rows = await found(bucket, queries.inspected, [start, inspectedAtOnce]);
        for (const row of rows) yield inspectedOf(row);
        if (rows.length < inspectedAtOnce) return;
        start = next(rows.at(-1)![0] as Buffer);
      }
    },
    async *audit(bucket) {
      if (bucket !== undefined) yield* auditBucket((statement) => database.read(statement, [bucket]));
    },
    async knowsBlob(bucket, blob) {
      const [[isKnown] = []] = await rowsOf(bucket, queries.knowsBlob, [parseBlobId(blob).name]);
      return isKnown === true;
    },

    async upload(bucket, key, id) {
      const [row] = await found(bucket, queries.upload, [keyBytes(key), isText(id) ? id : null]);
      return row && { record: decodeUpload(row[0] as string), revision: Number(row[1]) };
    },
    async uploads(bucket, scan) {
      const rows = await found(bucket, queries.uploads, uploadRange(scan));
      return rows.map(([record]) => decodeUpload(record as string));
    },
    async dueUploads(bucket, now, limit) {
      const rows = await found(bucket, queries.dueUploads, [now, limit]);
      return rows.map(([record]) => decodeUpload(record as string));
    },
    async parts(bucket, uploadId) {
      const rows = await found(bucket, queries.parts, [isText(uploadId) ? uploadId : null]);
      return rows.map(([record, number, blob]) => decodePart(Number(number), String(blob), record as string));
    },

    commit,
    buried: (bucket, after, limit) => ledger.dead(bucket, after, limit),
    async forget(bucket, entries) {
      await rowsOf(bucket, queries.bucket, []);
      if (entries.length > 0) await ledger.forget(entries);
    },

    async told(bucket, rule, limit) {
      const rows = await found(bucket, queries.told, [rule, limit]);
      return rows.map(([entry, event]) => ({ entry: Number(entry), text: String(event) }));
    },
    async strike(bucket, entries) {
      await rowsOf(bucket, queries.bucket, []);
      if (entries.length > 0) await database.run(strikeEvents, [entries]);
    },
    async toldCounts(bucket) {
      const rows = await found(bucket, queries.toldCounts, []);
      return rows.map(([rule, count]) => ({ rule: String(rule), count: Number(count) }));
    },

    documents: createClusterDocuments(database),
    close,
  };
}

function bucketRecordOf([name, created, storageClass, account]: Row): BucketRecord {
  return {
    name: String(name),
    created: Number(created),
    storageClass: storageClass as BucketRecord["storageClass"],
    account: String(account),
  };
}

function bucketOf(row: Row): Bucket {
  const [, , , , ...texts] = row;
  const set = settingNames.flatMap((name, i) =>
    texts[i] === null ? [] : [[name, JSON.parse(texts[i] as string)]],
  );
  return { ...bucketRecordOf(row), settings: Object.fromEntries(set) };
}

function uploadRange({ prefix, after, limit }: UploadScan): unknown[] {
  const start = keyBytes(prefix);
  const end = start.length === 0 ? behindEverything : successor(start);
  // A key without an id stands for all of its uploads: ids are hex, so this is behind each of them.
  const [key, id] = after === undefined ? [new Uint8Array(), ""] : [keyBytes(after.key), after.id ?? "~"];
  return [start, end, key, id, limit];
}
