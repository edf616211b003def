// Copies one bucket: its settings, then its objects in key order, then its uploads. Items that the
// target already has are skipped. Items that the source no longer has are removed from the target.
import { forEachLimit } from "../async/for-each-limit.ts";
import { type JoinedPair, mergeJoin } from "../async/merge-join.ts";
import type { InspectedObject, Records } from "../engine/records.ts";
import {
  type Bucket,
  type BucketRecord,
  type Protection,
  type SettingName,
  settingNames,
} from "../model/bucket.ts";
import { CopyError } from "../model/copy.ts";
import { StoreError } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import type { Position } from "../model/listing.ts";
import type { ObjectRecord } from "../model/object.ts";
import { type CopyContext, isDamage, type Side } from "./context.ts";
import { commit, copyObject } from "./copy-object.ts";
import { copyUploads } from "./copy-uploads.ts";
import { copyVersions, everyVersion, refuseIfLocked, removeVersion } from "./copy-versions.ts";
import { isSameBucket, isSameObject, isSameSetting } from "./equality.ts";

export async function copyBucket(context: CopyContext, { name }: BucketRecord): Promise<void> {
  const { from, to } = context;
  const source = await from.records.bucket(name);
  if (source === undefined) return;
  const existing = await to.records.bucket(name);
  // The bucket was deleted and recreated in the source since an earlier run.
  if (existing !== undefined && !isSameBucket(source, existing)) await removeBucket(context, name);
  await prepareBucket(context, source);
  const { settings } = source;
  const isCopied = settings.versioning !== undefined && (await copyVersions(context, name, settings));
  if (!isCopied) {
    const pairs = mergeJoin(from.records.inspect(name), scanRecords(to, name));
    await forEachLimit(pairs, context, (pair) => syncObject(context, name, pair, settings));
  }
  await copyUploads(context, name);
  if (settings.quota !== undefined)
    await putSetting(context, name, { setting: "quota", value: settings.quota });
}

async function prepareBucket(context: CopyContext, { settings, ...record }: Bucket): Promise<void> {
  const { records } = context.to;
  await records.createBucket(record);
  const existing = await records.bucket(record.name);
  for (const setting of settingNames) {
    // Without a quota until the end: the source may be above its quota.
    const value = setting === "quota" ? undefined : settings[setting];
    if (isSameSetting(value, existing?.settings[setting])) continue;
    await putSetting(context, record.name, { setting, value });
  }
}

async function putSetting(
  context: CopyContext,
  bucket: string,
  { setting: name, value }: { readonly setting: SettingName; readonly value: unknown },
): Promise<void> {
  await commit(context, bucket, { mutations: [{ kind: "put setting", name, value }] });
}

/** Yields every record of a bucket, in key order. */
async function* scanRecords({ records }: Side, bucket: string): AsyncGenerator<ObjectRecord> {
  let after: Position | undefined;
  do {
    const scan = { prefix: "", delimiter: "", after, limit: limits.listEntries };
    const page = await records.objects(bucket, { ...scan, metadataBytes: limits.listMetadataBytes });
    for (const entry of page.entries) if ("record" in entry) yield entry.record;
    after = page.next;
  } while (after !== undefined);
}

async function syncObject(
  context: CopyContext,
  bucket: string,
  { key, source, target }: JoinedPair<InspectedObject, ObjectRecord>,
  protection: Protection,
): Promise<void> {
  if (source === undefined) return dropObject(context, bucket, target!, protection);
  const { found } = source;
  if (found instanceof StoreError) return context.reportDamage({ bucket, key }, found);
  if (target?.version !== found.record.version) {
    const state = { version: target?.version, protection };
    return copyObject(context, bucket, found, state, () => context.from.records.objectWithBody(bucket, key));
  }
  context.advance(found.record.size);
  if (isSameObject(found.record, target)) return;
  const existing = await context.to.records.objectWithBody(bucket, key);
  if (existing === undefined)
    throw new CopyError(`The target lost an object that was copied: "${bucket}/${key}".`);
  await commit(context, bucket, {
    checks: [{ kind: "object", key, version: target.version }],
    mutations: [{ kind: "restate object", record: found.record, body: existing.body }],
    protection,
  });
}

/** Removes an object only if the source confirms that it is missing, not just unreadable. */
async function dropObject(
  context: CopyContext,
  bucket: string,
  record: ObjectRecord,
  protection: Protection,
): Promise<void> {
  const { key, version } = record;
  try {
    if ((await context.from.records.object(bucket, key)) !== undefined) return;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return context.reportDamage({ bucket, key }, error);
  }
  refuseIfLocked(context, bucket, record, protection);
  const isVersioned = protection.versioning !== undefined;
  await commit(context, bucket, {
    checks: [{ kind: "object", key, version }],
    mutations: [isVersioned ? { kind: "delete version", key, version } : { kind: "delete object", key }],
    protection,
  });
}

/** Removes buckets that an earlier run copied and that the source no longer has. */
export async function dropBuckets(
  context: CopyContext,
  sourceBuckets: readonly BucketRecord[],
): Promise<void> {
  const names = new Set(sourceBuckets.map(({ name }) => name));
  for (const { name } of await context.to.records.buckets()) {
    if (names.has(name)) continue;
    try {
      if ((await context.from.records.bucket(name)) === undefined) await removeBucket(context, name);
    } catch (error) {
      if (!isDamage(error)) throw error;
      await context.reportDamage({ bucket: name }, error);
    }
  }
}

async function removeBucket(context: CopyContext, bucket: string): Promise<void> {
  const { records } = context.to;
  const protection = (await records.bucket(bucket))?.settings ?? {};
  await forEachLimit(everyVersion(context.to, bucket), context, (version) =>
    removeVersion(context, bucket, version, protection),
  );
  if ((await records.deleteBucket(bucket)) === "not empty") {
    throw new CopyError(`Another process is writing to the bucket "${bucket}" of the target.`);
  }
}

/** Reports damage in the source that reading objects and uploads does not reveal. */
export async function checkSourceIntegrity(
  context: CopyContext,
  records: Records,
  bucket: string | undefined,
): Promise<void> {
  for await (const { bucket: findingBucket = bucket, key, what } of records.checkIntegrity(
    bucket,
    "records",
  )) {
    await context.reportDamage({ bucket: findingBucket, key }, new StoreError("Damaged", { detail: what }));
  }
}
