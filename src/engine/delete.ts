// Deletes objects by key: for good, or in a versioned bucket by delete markers.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Bucket } from "../model/bucket.ts";
import { type Condition, findFailedClause } from "../model/condition.ts";
import { StoreError } from "../model/errors.ts";
import { checkKey, type Key } from "../model/key.ts";
import { limits } from "../model/limits.ts";
import type { ObjectRecord } from "../model/object.ts";
import type { DeleteMarker } from "../model/version.ts";
import { type Context, newId } from "./context.ts";
import type { DeleteOptions } from "./engine.ts";
import { deleteMutations, markerMutations } from "./event-outbox.ts";
import type { Check } from "./records.ts";
import { lockedObjectChecks } from "./versions/protection.ts";
import { requireBucket } from "./write-path.ts";

/** Keys that are read in one turn of the event loop. */
const keysPerTurn = 64;

/** Returns the delete markers, one for each key. None if the bucket was never versioned. */
export async function deleteObjects(
  context: Context,
  bucketName: string,
  given: readonly Key[],
  { condition }: DeleteOptions,
): Promise<readonly DeleteMarker[]> {
  if (given.length > limits.deleteKeys) throw new StoreError("TooManyKeys");
  for (const key of given) checkKey(key);
  const keys = [...new Set(given)];
  for (;;) {
    const bucket = await requireBucket(context, bucketName);
    if (keys.length === 0) return [];
    const checks: Check[] = [];
    if (condition !== undefined)
      checks.push(...(await conditionChecks(context, bucketName, keys, condition)));
    for (const [i, key] of (bucket.settings.lockRules === undefined ? [] : keys).entries()) {
      if (i > 0 && i % keysPerTurn === 0) await nextTurn();
      checks.push(...(await lockedObjectChecks(context, bucket, key)));
    }
    if (bucket.settings.versioning !== undefined) {
      checks.push(...(await context.quotas.markerChecks(bucket, keys)));
    }
    const markers = createMarkers(context, bucket, keys);
    const mutations =
      markers.length === 0
        ? keys.flatMap((key) => deleteMutations(context, bucket, "s3:ObjectRemoved:Delete", key))
        : markers.flatMap((marker) =>
            markerMutations(context, bucket, "s3:ObjectRemoved:DeleteMarkerCreated", marker),
          );
    const change = { checks, mutations, protection: bucket.settings };
    if ((await context.records.commit(bucketName, change)) === "committed") return markers;
  }
}

/** Returns a new delete marker for each key. None if the bucket was never versioned. */
export function createMarkers(context: Context, bucket: Bucket, keys: readonly Key[]): DeleteMarker[] {
  const { versioning } = bucket.settings;
  if (versioning === undefined) return [];
  const uploaded = context.now();
  return keys.map((key) => ({
    isDeleteMarker: true,
    key,
    version: newId(context),
    uploaded,
    ...(versioning === "on" ? { isVersioned: true } : {}),
  }));
}

/** Evaluates the condition. Returns checks that fail the commit if a version has changed. */
async function conditionChecks(context: Context, bucket: string, keys: readonly Key[], condition: Condition) {
  const checks: Check[] = [];
  for (const [i, key] of keys.entries()) {
    if (i > 0 && i % keysPerTurn === 0) await nextTurn();
    const record = await context.records.object(bucket, key);
    checkDeleteCondition(condition, record);
    checks.push({ kind: "object", key, version: record?.version });
  }
  return checks;
}

/** A missing object can be deleted, unless the condition names its etag: then the caller expects one. */
function checkDeleteCondition(condition: Condition, record: ObjectRecord | undefined): void {
  if (record !== undefined) {
    if (findFailedClause(condition, record) !== undefined) throw new StoreError("PreconditionFailed");
  } else if (condition.etagMatches !== undefined) {
    throw new StoreError(condition.etagMatches === "*" ? "PreconditionFailed" : "NoSuchKey");
  }
}
