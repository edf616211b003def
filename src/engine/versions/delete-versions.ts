// Removes versions and delete markers for good, except those that a lock keeps.
import type { Bucket } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import { checkKey } from "../../model/key.ts";
import { limits } from "../../model/limits.ts";
import { describeLock, findLock } from "../../model/lock.ts";
import { isDeleteMarker, type Version } from "../../model/version.ts";
import type { Context } from "../context.ts";
import { deleteVersionMutations } from "../event-outbox.ts";
import { requireBucket } from "../write-path.ts";
import type { BypassOptions, VersionDeletion, VersionTarget } from "./versions.ts";

export async function deleteVersions(
  context: Context,
  bucketName: string,
  targets: readonly VersionTarget[],
  options: BypassOptions,
): Promise<readonly VersionDeletion[]> {
  if (targets.length > limits.deleteKeys) throw new StoreError("TooManyKeys");
  for (const { key } of targets) checkKey(key);
  for (;;) {
    const bucket = await requireBucket(context, bucketName);
    const outcomes = await Promise.all(targets.map((target) => evaluate(context, bucket, target, options)));
    const removed = withoutDuplicates(outcomes);
    if (removed.length === 0) return outcomes;
    // A lock may be set after it was evaluated: the checks fail if a record has changed.
    const outcome = await context.records.commit(bucketName, {
      checks: removed.map((version) => ({ kind: "version", version }) as const),
      mutations: removed.flatMap((version) =>
        deleteVersionMutations(context, bucket, "s3:ObjectRemoved:Delete", version),
      ),
      protection: bucket.settings,
    });
    if (outcome === "committed") return outcomes;
  }
}

async function evaluate(
  context: Context,
  { name, settings }: Bucket,
  { key, version: id }: VersionTarget,
  { bypassGovernance = false }: BypassOptions,
): Promise<VersionDeletion> {
  const stored = await context.records.version(name, key, id);
  if (stored === undefined) return { outcome: "missing" };
  const { version } = stored;
  const lock = isDeleteMarker(version) ? undefined : findLock(version, settings.lockRules, context.now());
  if (lock !== undefined && !(lock.canBypass && bypassGovernance))
    return { outcome: "locked", message: describeLock(lock) };
  return { outcome: "deleted", version };
}

/** Returns the versions to remove. A request may name a version twice. */
function withoutDuplicates(outcomes: readonly VersionDeletion[]): Version[] {
  const found = new Map<string, Version>();
  for (const deletion of outcomes) {
    if (deletion.outcome === "deleted") {
      const { key, version } = deletion.version;
      found.set(`${version} ${key}`, deletion.version);
    }
  }
  return [...found.values()];
}
