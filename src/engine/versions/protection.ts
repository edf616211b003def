// What the settings of a bucket mean for a write: whether its version is kept, and what is locked.
import type { Bucket } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import type { Key } from "../../model/key.ts";
import { type ActiveLock, defaultRetention, describeLock, findLock } from "../../model/lock.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { rulesForKey } from "../../model/prefix-rules.ts";
import type { Context } from "../context.ts";
import type { Check } from "../records.ts";

/** Adds to a new record whether it is versioned, and the default retention of the bucket. */
export function withVersioning(context: Context, { settings }: Bucket, record: ObjectRecord): ObjectRecord {
  if (settings.versioning !== "on") return record;
  const retention =
    record.lock?.retention === undefined ? defaultRetention(settings.objectLock, context.now()) : undefined;
  if (retention === undefined) return { ...record, isVersioned: true };
  return { ...record, isVersioned: true, lock: { ...record.lock, retention } };
}

/**
 * Throws if a rule of the bucket locks the object that a put or delete would remove. Returns a check
 * that the object is unchanged. With versioning on, nothing is removed.
 */
export async function lockedObjectChecks(
  context: Context,
  { name, settings }: Bucket,
  key: Key,
): Promise<readonly Check[]> {
  const { lockRules, versioning } = settings;
  const isUnderRule = rulesForKey(lockRules ?? [], key).some(({ isEnabled }) => isEnabled);
  if (versioning === "on" || !isUnderRule) return [];
  const record = await context.records.object(name, key);
  const lock = record && findLock(record, lockRules, context.now());
  if (lock !== undefined) throw lockedError(lock);
  return [{ kind: "object", key, version: record?.version }];
}

export function lockedError(lock: ActiveLock): StoreError {
  return new StoreError("AccessDenied", { detail: describeLock(lock) });
}
