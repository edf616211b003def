// The Records port on PostgreSQL.
import { Buffer } from "node:buffer";
import { setTimeout as pause } from "node:timers/promises";
import { createPartListCache } from "../engine/codec/part-list-cache.ts";
import { toPartsBody } from "../engine/codec/parts-body.ts";
import { decodeObject, decodePart, decodeUpload } from "../engine/codec/record-codec.ts";
import type { Body, Change, ObjectWithBody, Records, UploadScan } from "../engine/records.ts";
import { type Bucket, type BucketRecord, settingNames } from "../model/bucket.ts";
import { StoreError } from "../model/errors.ts";
import { keyBytes } from "../model/key.ts";
import { parseBlobId } from "./bytes/blob-id.ts";
import type { BlobJournal } from "./bytes/blob-journal.ts";
import type { BucketCache } from "./index/bucket-cache.ts";
import { commitValues, toSinglePut } from "./index/change.ts";
import { checkBucketIntegrity } from "./index/check.ts";
import { createClusterDocuments } from "./index/documents.ts";
import { createGroupCommit } from "./index/group-commit.ts";
import { afterAllKeys, findKeys, keyAfter, readPage, successor } from "./index/listing.ts";
import { toInspectedObject, toObjectWithBody } from "./index/object-row.ts";
import { createOutbox } from "./index/outbox.ts";
import { calls, queries } from "./index/queries.ts";
import { createReadBatching } from "./index/read-batching.ts";
import { createVersionReads } from "./index/versions.ts";
import type { Row, Statement } from "./postgres/connection.ts";
import type { Database } from "./postgres/database.ts";
import { isText } from "./postgres/text.ts";

const inspectBatchSize = 500;

/** Column with the number of the list of parts. */
const manifestColumn = 5;

export function createClusterRecords({
  database,
  journal,
  bucketCache,
  close,
}: {
  database: Database;
  journal: BlobJournal;
  bucketCache: BucketCache;
  close(): Promise<void>;
}): Records {
  /** By bucket and key. The number of a list is never reused. */
  const partLists = createPartListCache<{ readonly manifest: unknown; readonly body: Body }>();
  const readObject = createReadBatching(database, { one: queries.object, many: queries.objectBatch });
  const readBody = createReadBatching(database, { one: queries.objectBody, many: queries.objectBodyBatch });
  const putOne = createGroupCommit(database);

  /** Returns at least one row: if nothing matches in an existing bucket, a row of nulls. */
  async function readRows(
    bucket: string,
    statement: Statement,
    values: readonly unknown[],
  ): Promise<readonly Row[]> {
    const rows = isText(bucket) ? await database.read(statement, [bucket, ...values]) : [];
    if (rows.length === 0) throw noSuchBucket(bucket);
    return rows;
  }

  /** Adds the list of parts, from the cache or by another statement, to an object without it. */
  async function readWithParts(bucket: string, key: string, found: Row): Promise<ObjectWithBody | undefined> {
    const name = `${bucket}\n${key}`;
    const cached = partLists.get(name);
    if (cached !== undefined && found[manifestColumn] === cached.manifest)
      return { record: decodeObject(found[0] as string), body: cached.body };
    const [row] = await readMatches(bucket, queries.objectWithParts, [keyBytes(key)]);
    if (row === undefined) return undefined;
    const [stored, , , , text, manifest] = row;
    if (typeof text !== "string") return toObjectWithBody(row);
    const record = decodeObject(stored as string);
    const body = toPartsBody(text, record.size);
    partLists.set(name, { manifest, body }, text.length);
    return { record, body };
  }

  /** Returns the matching rows, without the row of nulls. */
  async function readMatches(
    bucket: string,
    statement: Statement,
    values: readonly unknown[],
  ): Promise<readonly Row[]> {
    const rows = await readRows(bucket, statement, values);
    return rows.filter((row) => row.some((value) => value !== null));
  }

  function noSuchBucket(name: string): StoreError {
    bucketCache.drop(name);
    return new StoreError("NoSuchBucket");
  }

  async function commit(bucket: string, change: Change): Promise<"committed" | "conflict"> {
    if (!isText(bucket)) throw noSuchBucket(bucket);
    const put = toSinglePut(change);
    const outcome =
      put === undefined
        ? await database.commit(calls.commit, [bucket, ...commitValues(change)])
        : await putOne(bucket, put);
    if (outcome === "no bucket") throw noSuchBucket(bucket);
    if (outcome === "over quota") throw new StoreError("QuotaExceeded");
    if (outcome === "committed") await propagateSettings(bucket, change);
    // The cached settings may be stale: drop them, so that the next attempt reads them again.
    else if (outcome === "other protection" || change.checks?.some(({ kind }) => kind === "setting"))
      bucketCache.drop(bucket);
    return outcome === "committed" ? "committed" : "conflict";
  }

  /** Waits until no process caches the old rules, so that every later write creates events. */
  async function propagateSettings(bucket: string, { mutations }: Change): Promise<void> {
    const names = mutations.flatMap((mutation) => (mutation.kind === "put setting" ? [mutation.name] : []));
    if (names.length > 0) bucketCache.drop(bucket);
    if (names.includes("notifications")) await pause(bucketCache.maxAgeMilliseconds);
  }

  return {
    async createBucket({ name, created, storageClass, account }) {
      const outcome = await database.commit(calls.createBucket, [name, created, storageClass, account]);
      return outcome === "committed";
    },
    async bucket(name) {
      const cached = bucketCache.get(name);
      if (cached !== undefined || !isText(name)) return cached;
      const [row] = await database.read(queries.bucket, [name]);
      if (row === undefined) return undefined;
      const bucket = toBucket(row);
      bucketCache.keep(bucket, settingsLength(row));
      return bucket;
    },
    async buckets() {
      return (await database.read(queries.buckets, [])).map(toBucketRecord);
    },
    async deleteBucket(name) {
      const outcome = isText(name) ? await database.commit(calls.deleteBucket, [name]) : "missing";
      bucketCache.drop(name);
      return outcome === "committed" ? "deleted" : (outcome as "missing" | "not empty");
    },

    async totals(bucket) {
      const [row = []] = await readRows(bucket, queries.totals, []);
      const [objects, bytes, noncurrentVersions, noncurrentBytes] = row.map(Number) as [
        number,
        number,
        number,
        number,
      ];
      return { objects, bytes, noncurrentVersions, noncurrentBytes };
    },
    async usage(bucket) {
      for (;;) {
        const [[bytes, objects] = []] = await readRows(bucket, queries.usage, []);
        if (bytes !== null) return { bytes: Number(bytes), objects: Number(objects) };
        if ((await database.commit(calls.startCounting, [bucket])) === "no bucket")
          throw noSuchBucket(bucket);
      }
    },
    async object(bucket, key) {
      const row = isText(bucket) ? await readObject(bucket, keyBytes(key)) : undefined;
      if (row === undefined) throw noSuchBucket(bucket);
      return row[0] === null ? undefined : decodeObject(row[0] as string);
    },
    async objectWithBody(bucket, key) {
      const found = isText(bucket) ? await readBody(bucket, keyBytes(key)) : undefined;
      if (found === undefined) throw noSuchBucket(bucket);
      if (found[0] === null) return undefined;
      return found[manifestColumn] === null ? toObjectWithBody(found) : readWithParts(bucket, key, found);
    },
    objects: (bucket, scan) => readPage((statement, values) => readMatches(bucket, statement, values), scan),
    findKeys: (bucket, search) =>
      findKeys((statement, values) => readMatches(bucket, statement, values), search),
    ...createVersionReads(readMatches),

    async *inspect(bucket, after) {
      let start = after === undefined ? Buffer.alloc(0) : keyAfter(keyBytes(after));
      for (;;) {
        const rows = await readMatches(bucket, queries.inspectedObjects, [start, inspectBatchSize]);
        for (const row of rows) yield toInspectedObject(row);
        if (rows.length < inspectBatchSize) return;
        start = keyAfter(rows.at(-1)![0] as Buffer);
      }
    },
    async *checkIntegrity(bucket) {
      if (bucket !== undefined)
        yield* checkBucketIntegrity((statement) => database.read(statement, [bucket]));
    },
    async referencesBlob(bucket, blob) {
      const [[isReferenced] = []] = await readRows(bucket, queries.referencesBlob, [parseBlobId(blob).name]);
      return isReferenced === true;
    },

    async upload(bucket, key, id) {
      const [row] = await readMatches(bucket, queries.upload, [keyBytes(key), isText(id) ? id : null]);
      return row && { record: decodeUpload(row[0] as string), revision: Number(row[1]) };
    },
    async uploads(bucket, scan) {
      const rows = await readMatches(bucket, queries.uploads, uploadRange(scan));
      return rows.map(([record]) => decodeUpload(record as string));
    },
    async dueUploads(bucket, now, limit) {
      const rows = await readMatches(bucket, queries.dueUploads, [now, limit]);
      return rows.map(([record]) => decodeUpload(record as string));
    },
    async parts(bucket, uploadId) {
      const rows = await readMatches(bucket, queries.parts, [isText(uploadId) ? uploadId : null]);
      return rows.map(([record, number, blob]) => decodePart(Number(number), String(blob), record as string));
    },

    commit,
    garbage: (bucket, after, limit) => journal.garbage(bucket, after, limit),
    async ackGarbage(bucket, entries) {
      await readRows(bucket, queries.bucket, []);
      if (entries.length > 0) await journal.ackGarbage(entries);
    },

    ...createOutbox({ database, readMatches }),

    documents: createClusterDocuments(database),
    close,
  };
}

function toBucketRecord([name, created, storageClass, account]: Row): BucketRecord {
  return {
    name: String(name),
    created: Number(created),
    storageClass: storageClass as BucketRecord["storageClass"],
    account: String(account),
  };
}

function toBucket(row: Row): Bucket {
  const [, , , , ...texts] = row;
  const set = settingNames.flatMap((name, i) =>
    texts[i] === null ? [] : [[name, JSON.parse(texts[i] as string)]],
  );
  return { ...toBucketRecord(row), settings: Object.fromEntries(set) };
}

function settingsLength([, , , , ...texts]: Row): number {
  return texts.reduce<number>((sum, text) => sum + (typeof text === "string" ? text.length : 0), 0);
}

function uploadRange({ prefix, after, limit }: UploadScan): unknown[] {
  const start = keyBytes(prefix);
  const end = start.length === 0 ? afterAllKeys : successor(start);
  const key = after === undefined ? start : keyBytes(after.key);
  if (after === undefined || Buffer.compare(key, start) < 0) return [start, "", end, limit];
  // Without an id, start after all uploads of the key: ids are hex digits, which sort before "~".
  return [key, after.id ?? "~", end, limit];
}
