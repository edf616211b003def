// Commits of changes to a bucket in memory: first all checks, then the mutations.
import { encodeVersion } from "../engine/codec/version-codec.ts";
import type { OutboxEvent } from "../engine/outbox.ts";
import {
  type Body,
  type Change,
  type Check,
  changesObjects,
  type GarbageEntry,
  type Mutation,
  needsQuota,
  type StoredUpload,
} from "../engine/records.ts";
import { type BucketRecord, type BucketSettings, protectionNames } from "../model/bucket.ts";
import { invariant, refuseKind, StoreError } from "../model/errors.ts";
import type { Key } from "../model/key.ts";
import { exceedsQuota } from "../model/settings/quota.ts";
import type { PartRecord, UploadRecord } from "../model/upload.ts";
import {
  appendVersion,
  countUsage,
  findVersion,
  removeVersion,
  replaceBody,
  restateVersion,
  type VersionedObjects,
  versionsOf,
} from "./history.ts";
import { SortedMap } from "./sorted-map.ts";

interface OutboxEntry extends OutboxEvent {
  /** The rules that wait for the event. */
  readonly rules: readonly string[];
  readonly text: string;
}

export interface Bucket extends VersionedObjects {
  readonly record: BucketRecord;
  /** Uploads by key, then by id; both are sorted. */
  readonly uploads: SortedMap<SortedMap<StoredUpload>>;
  readonly parts: Map<string, Map<number, PartRecord>>;
  readonly garbage: GarbageEntry[];
  outbox: OutboxEntry[];
  settings: BucketSettings;
  nextEntry: number;
}

export function emptyBucket(record: BucketRecord): Bucket {
  return {
    record,
    objects: new SortedMap(),
    history: new SortedMap(),
    uploads: new SortedMap(),
    parts: new Map(),
    garbage: [],
    outbox: [],
    settings: {},
    nextEntry: 1,
  };
}

export function* everyUpload(bucket: Bucket): Iterable<StoredUpload> {
  for (const [, ids] of bucket.uploads.from("")) {
    for (const [, upload] of ids.from("")) yield upload;
  }
}

export function commit(bucket: Bucket, change: Change): "committed" | "conflict" {
  if (!isProtectionUnchanged(bucket, change)) return "conflict";
  if (!(change.checks ?? []).every((check) => checkHolds(bucket, check))) return "conflict";
  if (isOverQuota(bucket, change)) throw new StoreError("QuotaExceeded");
  for (const mutation of change.mutations) apply(bucket, mutation);
  return "committed";
}

/** Applies the change to a copy, because nothing here can be undone. */
function isOverQuota(bucket: Bucket, { mutations }: Change): boolean {
  const { quota } = bucket.settings;
  if (quota === undefined || !mutations.some(needsQuota)) return false;
  const copy = { ...emptyBucket(bucket.record), settings: bucket.settings };
  for (const [key, object] of bucket.objects.from("")) copy.objects.set(key, object);
  for (const [key, entries] of bucket.history.from("")) copy.history.set(key, entries);
  const before = countUsage(copy);
  for (const mutation of mutations) apply(copy, mutation);
  return exceedsQuota(quota, before, countUsage(copy));
}

function isProtectionUnchanged({ settings }: Bucket, { mutations, protection = {} }: Change): boolean {
  if (!mutations.some(changesObjects)) return true;
  return protectionNames.every((name) => JSON.stringify(settings[name]) === JSON.stringify(protection[name]));
}

function checkHolds(bucket: Bucket, check: Check): boolean {
  if (check.kind === "object") return bucket.objects.get(check.key)?.record.version === check.version;
  if (check.kind === "setting")
    return JSON.stringify(bucket.settings[check.name]) === JSON.stringify(check.value);
  if (check.kind === "version") {
    const { key, version } = check.version;
    const found = findVersion(bucket, key, version)?.version;
    return found !== undefined && encodeVersion(found) === encodeVersion(check.version);
  }
  if (check.kind !== "upload") return refuseKind(check);
  const upload = bucket.uploads.get(check.key)?.get(check.id);
  if (upload === undefined || upload.record.state !== "active") return false;
  return check.revision === undefined || check.revision === upload.revision;
}

function apply(bucket: Bucket, mutation: Mutation): void {
  switch (mutation.kind) {
    case "put object": {
      const { record, body } = mutation;
      release(bucket, record.key, appendVersion(bucket, record, body));
      return;
    }
    case "put copy": {
      const { record, of } = mutation;
      const body = findVersion(bucket, record.key, of)?.body;
      invariant(body !== undefined, "a copied version exists");
      release(bucket, record.key, appendVersion(bucket, record, body));
      return;
    }
    case "put marker":
      release(bucket, mutation.marker.key, appendVersion(bucket, mutation.marker, undefined));
      return;
    case "delete version":
      release(bucket, mutation.key, removeVersion(bucket, mutation.key, mutation.version));
      return;
    case "restate object":
      restateVersion(bucket, mutation);
      return;
    case "replace body":
      release(bucket, mutation.record.key, replaceBody(bucket, mutation));
      return;
    case "put setting":
      bucket.settings = { ...bucket.settings, [mutation.name]: mutation.value };
      return;
    case "append event": {
      const { rules, event: text, ifExists } = mutation;
      if (ifExists !== undefined && bucket.objects.get(ifExists) === undefined) return;
      bucket.outbox.push({ entry: bucket.nextEntry++, rules, text });
      return;
    }
    case "delete object":
      release(bucket, mutation.key, removeObject(bucket, mutation.key));
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
      refuseKind(mutation);
  }
}

function removeObject({ objects }: Bucket, key: Key): Body | undefined {
  const body = objects.get(key)?.body;
  objects.delete(key);
  return body;
}

/** Adds the blobs of a removed body to the garbage queue, except those that another version has. */
function release(bucket: Bucket, key: Key, body: Body | undefined): void {
  const blobs = listBlobIds(body);
  if (blobs.length === 0) return;
  const kept = new Set(versionsOf(bucket, key).flatMap((version) => listBlobIds(version.body)));
  enqueueGarbage(
    bucket,
    blobs.filter((blob) => !kept.has(blob)),
  );
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

export function listBlobIds(body: Body | undefined): string[] {
  if (body?.storage === "blob") return [body.blob.id];
  if (body?.storage === "parts") return body.parts.map(({ blob }) => blob.id);
  return [];
}

function enqueueGarbage(bucket: Bucket, blobs: readonly string[]): void {
  if (blobs.length > 0) bucket.garbage.push({ entry: bucket.nextEntry++, blobs });
}
