// Changes the settings of a bucket, and refuses those that would remove a protection.
import { type BucketSettings, settingNames } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import { checkQuota } from "../../model/settings/quota.ts";
import { checkTags, maxBucketTags } from "../../model/tags.ts";
import type { Context } from "../context.ts";
import type { Check } from "../records.ts";
import { requireBucket } from "../write-path.ts";

export async function changeSettings(
  context: Context,
  bucket: string,
  changes: BucketSettings,
  seen: BucketSettings | undefined,
): Promise<"committed" | "conflict"> {
  const names = settingNames.filter((name) => name in changes);
  const mutations = names.map((name) => ({ kind: "put setting", name, value: changes[name] }) as const);
  for (;;) {
    const protectionChecks = await checkProtection(context, bucket, changes);
    const checks: Check[] = seen === undefined ? [] : names.map((name) => settingCheck(name, seen));
    const outcome = await context.records.commit(bucket, {
      checks: [...checks, ...protectionChecks],
      mutations,
    });
    if (outcome === "committed" || protectionChecks.length === 0) return outcome;
    if (seen !== undefined && !(await isUnchanged(context, bucket, names, seen))) return "conflict";
  }
}

function settingCheck(name: (typeof settingNames)[number], settings: BucketSettings): Check {
  return { kind: "setting", name, value: settings[name] };
}

async function isUnchanged(
  context: Context,
  bucket: string,
  names: readonly (typeof settingNames)[number][],
  seen: BucketSettings,
): Promise<boolean> {
  const { settings } = await requireBucket(context, bucket);
  return names.every((name) => JSON.stringify(settings[name]) === JSON.stringify(seen[name]));
}

const protectiveNames = ["versioning", "objectLock", "lockRules"] as const;

/** Throws if the change is not allowed. Returns checks that the evaluated settings are unchanged. */
async function checkProtection(context: Context, bucket: string, changes: BucketSettings): Promise<Check[]> {
  if (changes.tags !== undefined) checkTags(new Map(changes.tags), maxBucketTags);
  if (changes.quota !== undefined) checkQuota(changes.quota);
  if (!protectiveNames.some((name) => name in changes)) return [];
  const { settings } = await requireBucket(context, bucket);
  const { versioning, objectLock, lockRules } = { ...settings, ...changes };
  if (versioning === undefined && settings.versioning !== undefined)
    throw invalidState("Versioning cannot be removed from a bucket. It can be suspended.");
  if (objectLock === undefined && settings.objectLock !== undefined)
    throw invalidState("Object Lock cannot be removed from a bucket.");
  if (objectLock !== undefined && versioning !== "on")
    throw invalidState("Object Lock needs versioning: the bucket's versioning must be on.");
  if (lockRules !== undefined && versioning === "suspended")
    throw invalidState("A bucket with lock rules cannot have its versioning suspended.");
  return protectiveNames.map((name) => settingCheck(name, settings));
}

function invalidState(detail: string): StoreError {
  return new StoreError("InvalidBucketState", { detail });
}
