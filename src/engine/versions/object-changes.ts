// Changes of a stored version that keep its body and its id: tags, retention and legal hold.
import type { Bucket } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import { checkKey, type Key } from "../../model/key.ts";
import {
  checkRetentionChange,
  checkRetentionEnd,
  describeLock,
  type ObjectLock,
  type Retention,
} from "../../model/lock.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { checkTags, maxObjectTags, type Tags } from "../../model/tags.ts";
import type { Context } from "../context.ts";
import { findVersion } from "../find-version.ts";
import { requireBucket } from "../write-path.ts";
import type { BypassOptions, TargetOptions } from "./versions.ts";

interface Target extends TargetOptions, BypassOptions {
  readonly key: Key;
}

export function setTags(context: Context, bucket: string, target: Target, tags: Tags): Promise<ObjectRecord> {
  checkTags(tags, maxObjectTags);
  return change(context, bucket, target, ({ tags: _, ...record }) =>
    tags.size === 0 ? record : { ...record, tags },
  );
}

export function setRetention(
  context: Context,
  bucket: string,
  target: Target,
  retention: Retention | undefined,
): Promise<ObjectRecord> {
  const now = context.now();
  if (retention !== undefined) checkRetentionEnd(retention, now);
  return change(context, bucket, target, (record, { settings }) => {
    requireObjectLock(settings.objectLock !== undefined);
    const allowed = checkRetentionChange(record.lock?.retention, retention, now);
    if (allowed === "refused" || (allowed === "needs bypass" && target.bypassGovernance !== true)) {
      const { mode, until } = record.lock!.retention!;
      const lock = { name: `${mode} retention`, until, canBypass: mode === "governance" };
      throw new StoreError("AccessDenied", { detail: describeLock(lock) });
    }
    return withLock(record, { retention, legalHold: record.lock?.legalHold });
  });
}

export function setLegalHold(
  context: Context,
  bucket: string,
  target: Target,
  isOnHold: boolean,
): Promise<ObjectRecord> {
  return change(context, bucket, target, (record, { settings }) => {
    requireObjectLock(settings.objectLock !== undefined);
    return withLock(record, { retention: record.lock?.retention, legalHold: isOnHold });
  });
}

function requireObjectLock(isEnabled: boolean): void {
  if (isEnabled) return;
  throw new StoreError("InvalidBucketState", { detail: "Object Lock is not enabled for the bucket." });
}

function withLock(record: ObjectRecord, { retention, legalHold }: ObjectLock): ObjectRecord {
  const { lock: _, ...unlocked } = record;
  if (retention === undefined && legalHold === undefined) return unlocked;
  const lock = { ...(retention && { retention }), ...(legalHold !== undefined && { legalHold }) };
  return { ...unlocked, lock };
}

/** Commits the changed record only if the version is unchanged; otherwise tries again. */
async function change(
  context: Context,
  bucketName: string,
  { key, version }: Target,
  toRecord: (record: ObjectRecord, bucket: Bucket) => ObjectRecord,
): Promise<ObjectRecord> {
  checkKey(key);
  for (;;) {
    const bucket = await requireBucket(context, bucketName);
    const { found, marker } = await findVersion(context, bucketName, key, { version });
    if (found === undefined) throw missingError(version, marker !== undefined);
    const record = toRecord(found.record, bucket);
    const outcome = await context.records.commit(bucketName, {
      checks: [{ kind: "version", version: found.record }],
      mutations: [{ kind: "restate object", record, body: found.body }],
      protection: bucket.settings,
    });
    if (outcome === "committed") return record;
  }
}

function missingError(version: string | undefined, isMarker: boolean): StoreError {
  if (version === undefined) return new StoreError("NoSuchKey");
  if (!isMarker) return new StoreError("NoSuchVersion");
  return new StoreError("MethodNotAllowed", { detail: "The version is a delete marker." });
}
