// Brings a bucket back to its state at a time, page by page, or one object to an earlier version, by
// new versions that share the old bodies. A page that was already restored changes nothing.
import type { Bucket } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import { checkKey, compareKeys, type Key } from "../../model/key.ts";
import { limits } from "../../model/limits.ts";
import { decodeCursor, encodeCursor, type Page, type Position } from "../../model/listing.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { isDeleteMarker } from "../../model/version.ts";
import { encodeObject } from "../codec/record-codec.ts";
import { type Context, newId } from "../context.ts";
import { createMarkers } from "../delete.ts";
import { createdEventMutations, markerMutations } from "../event-outbox.ts";
import type { Check, Mutation } from "../records.ts";
import { requireBucket } from "../write-path.ts";
import { withVersioning } from "./protection.ts";
import type { RestoredPage, RestoreOptions } from "./versions.ts";

/** One key whose object differs between now and the requested time. */
interface Difference {
  readonly key: Key;
  readonly earlier: ObjectRecord | undefined;
  readonly current: ObjectRecord | undefined;
}

export async function restorePage(
  context: Context,
  bucketName: string,
  options: RestoreOptions,
): Promise<RestoredPage> {
  for (;;) {
    const bucket = await requireBucket(context, bucketName);
    requireVersioning(bucket);
    const { differences, unchanged, next } = await compare(context, bucketName, options);
    const page = {
      restored: differences.flatMap(({ key, earlier }) => (earlier === undefined ? [] : [key])),
      deleted: differences.flatMap(({ key, earlier }) => (earlier === undefined ? [key] : [])),
      unchanged,
      cursor: next === undefined ? undefined : encodeCursor(next),
    };
    if (options.isDryRun === true || differences.length === 0) return page;
    const outcome = await context.quotas.commit(bucket, {
      checks: differences.flatMap(toChecks),
      mutations: differences.flatMap((difference) => toMutations(context, bucket, difference)),
      protection: bucket.settings,
    });
    if (outcome === "committed") return page;
  }
}

async function compare(context: Context, bucket: string, { time, prefix = "", cursor }: RestoreOptions) {
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  const scan = {
    prefix,
    delimiter: "",
    after,
    limit: limits.listEntries,
    metadataBytes: Number.POSITIVE_INFINITY,
  };
  const [earlierPage, currentPage] = await Promise.all([
    context.records.objects(bucket, { ...scan, time }),
    context.records.objects(bucket, scan),
  ]);
  const next = earliest(earlierPage.next, currentPage.next);
  const earlier = byKey(earlierPage, next);
  const current = byKey(currentPage, next);
  const keys = [...new Set([...earlier.keys(), ...current.keys()])].sort(compareKeys);
  const pairs = keys.map((key) => ({ key, earlier: earlier.get(key), current: current.get(key) }));
  const differences = pairs.filter((pair) => !isSame(pair));
  return { differences, unchanged: pairs.length - differences.length, next };
}

/** Returns the position up to which both pages are complete. */
function earliest(a: Position | undefined, b: Position | undefined): Position | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareKeys(a.value, b.value) <= 0 ? a : b;
}

function byKey({ entries }: Page<ObjectRecord>, end: Position | undefined): Map<Key, ObjectRecord> {
  const found = new Map<Key, ObjectRecord>();
  for (const entry of entries) {
    if (!("record" in entry)) continue;
    const { record } = entry;
    if (end === undefined || compareKeys(record.key, end.value) <= 0) found.set(record.key, record);
  }
  return found;
}

/** Whether the current object is the earlier version or a copy of it from an earlier restore. */
function isSame({ earlier, current }: Difference): boolean {
  if (earlier === undefined || current === undefined) return earlier === current;
  if (earlier.version === current.version) return true;
  const { version, uploaded } = earlier;
  return encodeObject({ ...current, version, uploaded, ...locks(earlier) }) === encodeObject(earlier);
}

/** Fields that may differ between a version and its copy. */
function locks({ lock, isVersioned }: ObjectRecord): Pick<ObjectRecord, "lock" | "isVersioned"> {
  return { lock, isVersioned } as Pick<ObjectRecord, "lock" | "isVersioned">;
}

function toChecks({ key, earlier, current }: Difference): Check[] {
  const unchanged: Check = { kind: "object", key, version: current?.version };
  return earlier === undefined ? [unchanged] : [unchanged, { kind: "version", version: earlier }];
}

function toMutations(context: Context, bucket: Bucket, { key, earlier }: Difference): readonly Mutation[] {
  if (earlier === undefined) {
    const [marker] = createMarkers(context, bucket, [key]);
    return markerMutations(context, bucket, "s3:ObjectRemoved:DeleteMarkerCreated", marker!);
  }
  return copyVersion(context, bucket, earlier).mutations;
}

/** Makes the object of an earlier version current again. Throws NoSuchVersion if it is missing. */
export async function restoreVersion(
  context: Context,
  bucketName: string,
  key: Key,
  id: string,
): Promise<ObjectRecord> {
  checkKey(key);
  for (;;) {
    const bucket = await requireBucket(context, bucketName);
    requireVersioning(bucket);
    const stored = await context.records.version(bucketName, key, id);
    if (stored === undefined) throw new StoreError("NoSuchVersion");
    const { version, isCurrent } = stored;
    if (isDeleteMarker(version)) {
      throw new StoreError("MethodNotAllowed", { detail: "A delete marker cannot be restored." });
    }
    if (isCurrent) return version;
    const { record, mutations } = copyVersion(context, bucket, version);
    const outcome = await context.quotas.commit(bucket, {
      checks: [{ kind: "version", version }],
      mutations,
      protection: bucket.settings,
    });
    if (outcome === "committed") return record;
  }
}

function requireVersioning({ settings }: Bucket): void {
  if (settings.versioning === "on") return;
  throw new StoreError("InvalidBucketState", {
    detail: "Only a bucket whose versioning is on can be restored.",
  });
}

/** The copy shares the body of the version, and gets a lock only from the bucket. */
function copyVersion(context: Context, bucket: Bucket, version: ObjectRecord) {
  const { lock: _, ...unlocked } = version;
  const copy = { ...unlocked, version: newId(context), uploaded: context.now() };
  const record = withVersioning(context, bucket, copy);
  const mutations: readonly Mutation[] = [
    { kind: "put copy", record, of: version.version },
    ...createdEventMutations(context, bucket, "s3:ObjectCreated:Copy", record),
  ];
  return { record, mutations };
}
