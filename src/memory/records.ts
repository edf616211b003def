// Records in memory: the simplest implementation of the port, and the reference in tests.
import type {
  Body,
  Change,
  Check,
  GarbageEntry,
  Mutation,
  ObjectWithBody,
  OutboxEvent,
  Records,
  StoredUpload,
} from "../engine/records.ts";
import type { BucketRecord, BucketSettings } from "../model/bucket.ts";
import { StoreError } from "../model/errors.ts";
import { compareKeys } from "../model/key.ts";
import { collectPage, type Position } from "../model/listing.ts";
import type { ObjectRecord } from "../model/object.ts";
import type { PartRecord, UploadRecord } from "../model/upload.ts";
import { createMemoryDocuments } from "./documents.ts";
import { SortedMap } from "./sorted-map.ts";

interface OutboxEntry extends OutboxEvent {
  readonly rule: string;
}

interface Bucket {
  readonly record: BucketRecord;
  readonly objects: SortedMap<ObjectWithBody>;
  /** Uploads by key, then by id; both are sorted. */
  readonly uploads: SortedMap<SortedMap<StoredUpload>>;
  readonly parts: Map<string, Map<number, PartRecord>>;
  readonly garbage: GarbageEntry[];
  outbox: OutboxEntry[];
  settings: BucketSettings;
  nextEntry: number;
}

export function createMemoryRecords(): Records {
  const buckets = new SortedMap<Bucket>();

  function open(name: string): Bucket {
    const bucket = buckets.get(name);
    if (bucket === undefined) throw new StoreError("NoSuchBucket");
    return bucket;
  }

  return {
    async createBucket(record) {
      if (buckets.get(record.name) !== undefined) return false;
      buckets.set(record.name, emptyBucket(record));
      return true;
    },
    async bucket(name) {
      const bucket = buckets.get(name);
      return bucket && { ...bucket.record, settings: bucket.settings };
    },
    async buckets() {
      return Array.from(buckets.from(""), ([, bucket]) => bucket.record);
    },
    async deleteBucket(name) {
      const bucket = buckets.get(name);
      if (bucket === undefined) return "missing";
      if (bucket.objects.size > 0) return "not empty";
      buckets.delete(name);
      return "deleted";
    },

    async totals(name) {
      const { objects } = open(name);
      let bytes = 0;
      for (const [, { record }] of objects.from("")) bytes += record.size;
      return { objects: objects.size, bytes };
    },
    async object(name, key) {
      return open(name).objects.get(key)?.record;
    },
    async objectWithBody(name, key) {
      return open(name).objects.get(key);
    },
    async objects(name, scan) {
      const { objects } = open(name);
      return collectPage((prefix, after) => objectRows(objects, prefix, after), scan);
    },

    async *inspect(name, after) {
      const skip = (key: string) => key === after;
      for (const [key, found] of open(name).objects.from(after ?? "", skip)) yield { key, found };
    },
    async *checkIntegrity() {},
    async referencesBlob(name, blob) {
      const bucket = open(name);
      const referenced = [...bucket.parts.values()].flatMap((parts) =>
        [...parts.values()].map((part) => part.blob),
      );
      for (const [, { body }] of bucket.objects.from("")) referenced.push(...listBlobIds(body));
      for (const { blobs } of bucket.garbage) referenced.push(...blobs);
      return referenced.includes(blob);
    },

    async upload(name, key, id) {
      return open(name).uploads.get(key)?.get(id);
    },
    async uploads(name, { prefix, after, limit }) {
      const found: UploadRecord[] = [];
      for (const { record } of everyUpload(open(name))) {
        if (found.length >= limit) break;
        if (record.key.startsWith(prefix) && isAfter(record, after)) found.push(record);
      }
      return found;
    },
    async dueUploads(name, now, limit) {
      const due = Array.from(everyUpload(open(name)), ({ record }) => record).filter(
        (record) => record.due <= now,
      );
      return due.slice(0, limit);
    },
    async parts(name, uploadId) {
      const parts = open(name).parts.get(uploadId)?.values() ?? [];
      return [...parts].sort((a, b) => a.number - b.number);
    },

    async commit(name, change) {
      return commit(open(name), change);
    },
    async garbage(name, after, limit) {
      return open(name)
        .garbage.filter(({ entry }) => entry > after)
        .slice(0, limit);
    },
    async ackGarbage(name, entries) {
      const { garbage } = open(name);
      for (const { entry } of entries) {
        const at = garbage.findIndex((body) => body.entry === entry);
        if (at !== -1) garbage.splice(at, 1);
      }
    },
    async outboxEvents(name, rule, limit) {
      const all = open(name).outbox.filter((one) => one.rule === rule);
      return all.slice(0, limit).map(({ entry, text }) => ({ entry, text }));
    },
    async ackEvents(name, entries) {
      const bucket = open(name);
      const acked = new Set(entries);
      bucket.outbox = bucket.outbox.filter(({ entry }) => !acked.has(entry));
    },
    async eventCounts(name) {
      const counts = new Map<string, number>();
      for (const { rule } of open(name).outbox) counts.set(rule, (counts.get(rule) ?? 0) + 1);
      return Array.from(counts, ([rule, count]) => ({ rule, count }));
    },
    documents: createMemoryDocuments(),
    async close() {},
  };
}

function emptyBucket(record: BucketRecord): Bucket {
  return {
    record,
    objects: new SortedMap(),
    uploads: new SortedMap(),
    parts: new Map(),
    garbage: [],
    outbox: [],
    settings: {},
    nextEntry: 1,
  };
}

function* objectRows(
  objects: SortedMap<ObjectWithBody>,
  prefix: string,
  after: Position,
): Iterable<ObjectRecord> {
  const start = compareKeys(after.value, prefix) > 0 ? after.value : prefix;
  const skip = (key: string) =>
    (after.kind === "key" && key === after.value) || (after.kind === "prefix" && key.startsWith(after.value));
  for (const [key, { record }] of objects.from(start, skip)) {
    if (!key.startsWith(prefix)) return;
    yield record;
  }
}

function* everyUpload(bucket: Bucket): Iterable<StoredUpload> {
  for (const [, ids] of bucket.uploads.from("")) {
    for (const [, upload] of ids.from("")) yield upload;
  }
}

function isAfter(record: UploadRecord, after: { key: string; id?: string } | undefined): boolean {
  if (after === undefined) return true;
  const order = compareKeys(record.key, after.key);
  return order > 0 || (order === 0 && after.id !== undefined && compareKeys(record.id, after.id) > 0);
}

function commit(bucket: Bucket, change: Change): "committed" | "conflict" {
  if (!(change.checks ?? []).every((check) => checkHolds(bucket, check))) return "conflict";
  for (const mutation of change.mutations) apply(bucket, mutation);
  return "committed";
}

function checkHolds(bucket: Bucket, check: Check): boolean {
  if (check.kind === "object") return bucket.objects.get(check.key)?.record.version === check.version;
  if (check.kind === "setting")
    return JSON.stringify(bucket.settings[check.name]) === JSON.stringify(check.value);
  const upload = bucket.uploads.get(check.key)?.get(check.id);
  if (upload === undefined || upload.record.state !== "active") return false;
  return check.revision === undefined || check.revision === upload.revision;
}

function apply(bucket: Bucket, mutation: Mutation): void {
  switch (mutation.kind) {
    case "put object": {
      const { record, body } = mutation;
      enqueueGarbage(bucket, listBlobIds(bucket.objects.get(record.key)?.body));
      bucket.objects.set(record.key, { record, body });
      return;
    }
    case "restate object":
      bucket.objects.set(mutation.record.key, { record: mutation.record, body: mutation.body });
      return;
    case "put setting":
      bucket.settings = { ...bucket.settings, [mutation.name]: mutation.value };
      return;
    case "append event": {
      const { rule, event: text, ifExists } = mutation;
      if (ifExists !== undefined && bucket.objects.get(ifExists) === undefined) return;
      bucket.outbox.push({ entry: bucket.nextEntry++, rule, text });
      return;
    }
    case "delete object":
      enqueueGarbage(bucket, listBlobIds(bucket.objects.get(mutation.key)?.body));
      bucket.objects.delete(mutation.key);
      return;
    case "put upload":
      putUpload(bucket, mutation.record);
      return;
    case "delete upload":
      endParts(bucket, mutation.id, []);
      bucket.uploads.get(mutation.key)?.delete(mutation.id);
      if (bucket.uploads.get(mutation.key)?.size === 0) bucket.uploads.delete(mutation.key);
      return;
    case "put part":
      putPart(bucket, mutation.uploadId, mutation.part);
      return;
    case "end parts":
      endParts(bucket, mutation.uploadId, mutation.taken);
      return;
    default:
      mutation satisfies never;
  }
}

function putUpload(bucket: Bucket, record: UploadRecord): void {
  const ids = bucket.uploads.get(record.key) ?? new SortedMap<StoredUpload>();
  ids.set(record.id, { record, revision: (ids.get(record.id)?.revision ?? 0) + 1 });
  bucket.uploads.set(record.key, ids);
}

function putPart(bucket: Bucket, uploadId: string, part: PartRecord): void {
  const parts = bucket.parts.get(uploadId) ?? new Map<number, PartRecord>();
  const replaced = parts.get(part.number);
  if (replaced !== undefined) enqueueGarbage(bucket, [replaced.blob]);
  bucket.parts.set(uploadId, parts.set(part.number, part));
  for (const { record } of everyUpload(bucket)) if (record.id === uploadId) putUpload(bucket, record);
}

function endParts(bucket: Bucket, uploadId: string, taken: readonly number[]): void {
  const parts = bucket.parts.get(uploadId)?.values() ?? [];
  for (const part of parts) if (!taken.includes(part.number)) enqueueGarbage(bucket, [part.blob]);
  bucket.parts.delete(uploadId);
}

function listBlobIds(body: Body | undefined): string[] {
  if (body?.storage === "blob") return [body.blob.id];
  if (body?.storage === "parts") return body.parts.map(({ blob }) => blob.id);
  return [];
}

function enqueueGarbage(bucket: Bucket, blobs: readonly string[]): void {
  if (blobs.length > 0) bucket.garbage.push({ entry: bucket.nextEntry++, blobs });
}
