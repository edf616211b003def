// Applies lifecycle rules: expires or transitions objects and aborts uploads, by age. A change
// commits only if the object still has the evaluated version, so no concurrent write is lost.
import type { LifecycleRule } from "../../model/lifecycle.ts";
import { findExpiry, findTransition, findUploadAbort } from "../../model/lifecycle.ts";
import type { Position } from "../../model/listing.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { Context } from "../context.ts";
import { deleteMutations } from "../event-outbox.ts";
import { everyUpload } from "../uploads/listing.ts";
import { abort } from "../uploads/uploads.ts";
import { requireBucket } from "../write-path.ts";
import type { SweepReport } from "./reports.ts";

export type LifecycleCounts = {
  -readonly [name in "objectsExpired" | "objectsMoved" | "uploadsAborted"]: SweepReport[name];
};

const intervalMilliseconds = 3600_000;

/** Claims the next run of the rules. Returns false if it is not due or another process has it. */
export async function claimLifecycleRun({ records, now }: Context): Promise<boolean> {
  const last = await records.documents.get("housekeeping", "lifecycle");
  if (last !== undefined && now() - Number(last.text) < intervalMilliseconds) return false;
  const outcome = await records.documents.put("housekeeping", "lifecycle", String(now()), last?.revision);
  return outcome === "committed";
}

export async function runLifecycle(context: Context, bucket: string, counts: LifecycleCounts): Promise<void> {
  const { lifecycle = [] } = (await requireBucket(context, bucket)).settings;
  const rules = lifecycle.filter(({ isEnabled }) => isEnabled);
  if (rules.length === 0) return;
  if (rules.some(({ abortUploadsAfter }) => abortUploadsAfter !== undefined)) {
    await abortOldUploads(context, bucket, rules, counts);
  }
  for (const prefix of outermost(rules.filter(({ expire, transition }) => expire ?? transition))) {
    for await (const record of everyObject(context, bucket, prefix)) {
      await applyRules(context, bucket, rules, record, counts);
    }
  }
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
  if ((findExpiry(rules, record)?.time ?? Number.POSITIVE_INFINITY) <= now) {
    const bucketRecord = await requireBucket(context, bucket);
    const mutations = deleteMutations(context, bucketRecord, "s3:LifecycleExpiration:Delete", key);
    if ((await context.records.commit(bucket, { checks, mutations })) === "committed")
      counts.objectsExpired++;
    return;
  }
  if (record.storageClass === "InfrequentAccess") return;
  if ((findTransition(rules, record)?.time ?? Number.POSITIVE_INFINITY) > now) return;
  const found = await context.records.objectWithBody(bucket, key);
  if (found?.record.version !== version) return;
  const moved: ObjectRecord = { ...found.record, storageClass: "InfrequentAccess" };
  const mutations = [{ kind: "restate object", record: moved, body: found.body } as const];
  if ((await context.records.commit(bucket, { checks, mutations })) === "committed") counts.objectsMoved++;
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
    for (const entry of page.entries) if ("record" in entry) yield entry.record;
    after = page.next;
  } while (after !== undefined);
}

/** Returns the shortest prefixes that cover all rules. None of them starts with another. */
function outermost(rules: readonly LifecycleRule[]): string[] {
  const prefixes = [...new Set(rules.map(({ prefix }) => prefix))];
  return prefixes.filter((prefix) => !prefixes.some((other) => other !== prefix && prefix.startsWith(other)));
}
