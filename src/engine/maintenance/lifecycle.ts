// Applies lifecycle rules: expires or transitions objects and aborts uploads, by age. A change
// commits only if the object still has the evaluated version, so no concurrent write is lost.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Bucket } from "../../model/bucket.ts";
import type { Position } from "../../model/listing.ts";
import { findLock } from "../../model/lock.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { outermostPrefixes } from "../../model/prefix-rules.ts";
import type { LifecycleRule } from "../../model/settings/lifecycle.ts";
import { findExpiry, findUploadAbort } from "../../model/settings/lifecycle.ts";
import { transitioned } from "../../model/settings/transitions.ts";
import type { Context } from "../context.ts";
import { createMarkers } from "../delete.ts";
import { deleteMutations, markerMutations } from "../event-outbox.ts";
import type { Mutation } from "../records.ts";
import { everyUpload } from "../uploads/listing.ts";
import { abort } from "../uploads/uploads.ts";
import { requireBucket } from "../write-path.ts";
import type { SweepReport } from "./reports.ts";
import { entriesPerTurn, runVersionRules } from "./version-rules.ts";

export type LifecycleCounts = {
  -readonly [name in
    | "objectsExpired"
    | "objectsMoved"
    | "versionsExpired"
    | "uploadsAborted"]: SweepReport[name];
};

const intervalMilliseconds = 3600_000;

/** Claims the next run of the rules. Returns false if it is not due or another process has it. */
export async function claimLifecycleRun({
  records,
  now,
}: Pick<Context, "records" | "now">): Promise<boolean> {
  const last = await records.documents.get("housekeeping", "lifecycle");
  // A run at a time in the future was on a clock that has been set back since.
  if (last !== undefined && Math.abs(now() - Number(last.text)) < intervalMilliseconds) return false;
  const outcome = await records.documents.put("housekeeping", "lifecycle", String(now()), last?.revision);
  return outcome === "committed";
}

export async function runLifecycle(context: Context, bucket: string, counts: LifecycleCounts): Promise<void> {
  const { lifecycle = [], versioning } = (await requireBucket(context, bucket)).settings;
  const rules = lifecycle.filter(({ isEnabled }) => isEnabled);
  if (rules.length === 0) return;
  if (rules.some(({ abortUploadsAfter }) => abortUploadsAfter !== undefined)) {
    await abortOldUploads(context, bucket, rules, counts);
  }
  for (const prefix of outermostPrefixes(rules.filter(({ expire, transition }) => expire ?? transition))) {
    for await (const record of everyObject(context, bucket, prefix)) {
      await applyRules(context, bucket, rules, record, counts);
    }
  }
  if (versioning !== undefined) await runVersionRules(context, bucket, rules, counts);
}

async function applyRules(
  context: Context,
  bucket: string,
  rules: readonly LifecycleRule[],
  record: ObjectRecord,
  counts: LifecycleCounts,
): Promise<void> {
  const now = context.now();
  const { key, version } = record;
  const checks = [{ kind: "object", key, version } as const];
  const bucketRecord = await requireBucket(context, bucket);
  const { settings: protection } = bucketRecord;
  if ((findExpiry(rules, record)?.time ?? Number.POSITIVE_INFINITY) <= now) {
    const mutations = expiryMutations(context, bucketRecord, record);
    if (mutations.length === 0) return;
    if ((await context.records.commit(bucket, { checks, mutations, protection })) === "committed")
      counts.objectsExpired++;
    return;
  }
  if (transitioned(rules, record, now) === undefined) return;
  const found = await context.records.objectWithBody(bucket, key);
  if (found?.record.version !== version) return;
  const moved = transitioned(rules, found.record, now);
  if (moved === undefined) return;
  const mutations = [{ kind: "restate object", record: moved, body: found.body } as const];
  // A lock or tags that were set meanwhile keep the version, but change its record.
  const unchanged = { kind: "version", version: found.record } as const;
  const change = { checks: [...checks, unchanged], mutations, protection };
  if ((await context.records.commit(bucket, change)) === "committed") counts.objectsMoved++;
}

/** Returns the mutations that expire the current object. None if a lock keeps it. */
function expiryMutations(context: Context, bucket: Bucket, record: ObjectRecord): readonly Mutation[] {
  const { versioning, lockRules } = bucket.settings;
  const [marker] = createMarkers(context, bucket, [record.key]);
  if (marker !== undefined)
    return markerMutations(context, bucket, "s3:LifecycleExpiration:DeleteMarkerCreated", marker);
  if (versioning === undefined && findLock(record, lockRules, context.now()) !== undefined) return [];
  return deleteMutations(context, bucket, "s3:LifecycleExpiration:Delete", record.key);
}

async function abortOldUploads(
  context: Context,
  bucket: string,
  rules: readonly LifecycleRule[],
  counts: LifecycleCounts,
): Promise<void> {
  for await (const upload of everyUpload(context, bucket)) {
    if (upload.state !== "active") continue;
    if ((findUploadAbort(rules, upload)?.time ?? Number.POSITIVE_INFINITY) > context.now()) continue;
    const stored = await context.records.upload(bucket, upload.key, upload.id);
    if (stored?.record.state !== "active") continue;
    if ((await abort(context, bucket, stored)) === "committed") counts.uploadsAborted++;
  }
}

async function* everyObject(context: Context, bucket: string, prefix: string): AsyncGenerator<ObjectRecord> {
  let after: Position | undefined;
  do {
    const page = await context.records.objects(bucket, {
      prefix,
      delimiter: "",
      after,
      limit: 1000,
      metadataBytes: Number.POSITIVE_INFINITY,
    });
    for (const [i, entry] of page.entries.entries()) {
      // Let pending requests run: many rules may apply to each object.
      if (i % entriesPerTurn === 0) await nextTurn();
      if ("record" in entry) yield entry.record;
    }
    after = page.next;
  } while (after !== undefined);
}
