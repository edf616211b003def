// Records in memory: the simplest implementation of the port, and the reference in tests.

import type { OutboxEvent } from "../engine/outbox.ts";
import type { ObjectWithBody, Records } from "../engine/records.ts";
import { StoreError } from "../model/errors.ts";
import { compareKeys } from "../model/key.ts";
import { matchKeys } from "../model/key-search.ts";
import { collectPage, collectVersionPage, type Position } from "../model/listing.ts";
import type { ObjectRecord } from "../model/object.ts";
import { countByRule, formatRules } from "../model/settings/rule-list.ts";
import type { UploadRecord } from "../model/upload.ts";
import { type Bucket, commit, emptyBucket, everyUpload, listBlobIds } from "./commit.ts";
import { createMemoryDocuments } from "./documents.ts";
import {
  allKeys,
  countUsage,
  findObjectAt,
  findVersion,
  newestVersion,
  seekVersions,
  sizeOf,
  versionsOf,
} from "./history.ts";
import { SortedMap } from "./sorted-map.ts";

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
      if (bucket.objects.size > 0 || bucket.history.size > 0) return "not empty";
      buckets.delete(name);
      return "deleted";
    },

    async totals(name) {
      const { objects, history } = open(name);
      let bytes = 0;
      for (const [, { record }] of objects.from("")) bytes += record.size;
      const noncurrent = Array.from(history.from(""), ([, entries]) => entries).flat();
      const noncurrentBytes = noncurrent.reduce((sum, { version }) => sum + sizeOf(version), 0);
      return { objects: objects.size, bytes, noncurrentVersions: noncurrent.length, noncurrentBytes };
    },
    async usage(name) {
      return countUsage(open(name));
    },
    async object(name, key) {
      return open(name).objects.get(key)?.record;
    },
    async objectWithBody(name, key) {
      return open(name).objects.get(key);
    },
    async objects(name, scan) {
      const bucket = open(name);
      const objects = scan.time === undefined ? bucket.objects : objectsAt(bucket, scan.time);
      return collectPage((prefix, after) => objectRows(objects, prefix, after), scan);
    },
    async findKeys(name, search) {
      const { prefix, after } = search;
      const start: Position =
        after === undefined ? { kind: "start", value: "" } : { kind: "key", value: after };
      return matchKeys(keysOf(objectRows(open(name).objects, prefix, start)), search);
    },

    async version(name, key, id) {
      return findVersion(open(name), key, id);
    },
    async newestVersion(name, key) {
      return newestVersion(open(name), key);
    },
    async objectAt(name, key, time) {
      return findObjectAt(open(name), key, time);
    },
    async versions(name, scan) {
      const bucket = open(name);
      return collectVersionPage((prefix, after) => seekVersions(bucket, prefix, after), scan);
    },

    async *inspect(name, after) {
      const skip = (key: string) => key === after;
      for (const [key, found] of open(name).objects.from(after ?? "", skip)) yield { key, found };
    },
    async *inspectHistory(name) {
      for (const [key, entries] of open(name).history.from(""))
        for (const { version, body } of entries) yield { key, found: { version, body } };
    },
    async *checkIntegrity() {},
    async referencesBlob(name, blob) {
      const bucket = open(name);
      const referenced = [...bucket.parts.values()].flatMap((parts) =>
        [...parts.values()].map((part) => part.blob),
      );
      for (const key of allKeys(bucket))
        for (const { body } of versionsOf(bucket, key)) referenced.push(...listBlobIds(body));
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
    async outboxEvents(name, rule, { events, bytes }) {
      const found: OutboxEvent[] = [];
      let total = 0;
      for (const { entry, rules, text } of open(name).outbox) {
        if (found.length >= events || total >= bytes) break;
        if (!rules.includes(rule)) continue;
        found.push({ entry, text });
        total += text.length;
      }
      return found;
    },
    async ackEvents(name, rule, entries) {
      const bucket = open(name);
      const acked = new Set(entries);
      bucket.outbox = bucket.outbox.flatMap((event) => {
        if (!acked.has(event.entry)) return [event];
        const rules = event.rules.filter((one) => one !== rule);
        return rules.length === 0 ? [] : [{ ...event, rules }];
      });
    },
    async eventCounts(name) {
      return countByRule(open(name).outbox.map(({ rules }) => [formatRules(rules), 1]));
    },
    async eventUsage(name) {
      const { outbox } = open(name);
      return { events: outbox.length, bytes: outbox.reduce((sum, { text }) => sum + text.length, 0) };
    },
    async dropOldestEvents(name, count) {
      return open(name).outbox.splice(0, count).length;
    },
    documents: createMemoryDocuments(),
    async close() {},
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

function* keysOf(records: Iterable<ObjectRecord>): Iterable<string> {
  for (const { key } of records) yield key;
}

function isAfter(record: UploadRecord, after: { key: string; id?: string } | undefined): boolean {
  if (after === undefined) return true;
  const order = compareKeys(record.key, after.key);
  return order > 0 || (order === 0 && after.id !== undefined && compareKeys(record.id, after.id) > 0);
}

/** Returns the objects that were current at a time. */
function objectsAt(bucket: Bucket, time: number): SortedMap<ObjectWithBody> {
  const found = new SortedMap<ObjectWithBody>();
  for (const key of allKeys(bucket)) {
    const object = findObjectAt(bucket, key, time);
    if (object !== undefined) found.set(key, object);
  }
  return found;
}
