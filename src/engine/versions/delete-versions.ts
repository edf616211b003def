// Removes versions and delete markers for good, except those that a lock keeps.
import { setImmediate as nextTurn } from "node:timers/promises";
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

/** Targets that are evaluated at once. Other requests run between two batches. */
const batchSize = 64;

/** Returns an outcome for each target, the same for targets that are named twice. */
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
    const outcomes = await evaluateAll(context, bucket, targets, options);
    const removed = removedVersions(outcomes.values());
    const answer = () => targets.map((target) => outcomes.get(nameOf(target))!);
    if (removed.length === 0) return answer();
    // A lock may be set after it was evaluated: the checks fail if a record has changed.
    const outcome = await context.records.commit(bucketName, {
      checks: removed.map((version) => ({ kind: "version", version }) as const),
      mutations: removed.flatMap((version) =>
        deleteVersionMutations(context, bucket, "s3:ObjectRemoved:Delete", version),
      ),
      protection: bucket.settings,
    });
    if (outcome === "committed") return answer();
  }
}

/** Evaluates each version once, however often it is named. */
async function evaluateAll(
  context: Context,
  bucket: Bucket,
  targets: readonly VersionTarget[],
  options: BypassOptions,
): Promise<ReadonlyMap<string, VersionDeletion>> {
  const unique = [...new Map(targets.map((target) => [nameOf(target), target]))];
  const outcomes = new Map<string, VersionDeletion>();
  for (let i = 0; i < unique.length; i += batchSize) {
    if (i > 0) await nextTurn();
    await Promise.all(
      unique.slice(i, i + batchSize).map(async ([name, target]) => {
        outcomes.set(name, await evaluate(context, bucket, target, options));
      }),
    );
  }
  return outcomes;
}

function nameOf({ key, version }: Pick<Version, "key" | "version">): string {
  return `${key.length} ${key}${version}`;
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

/** Returns the versions to remove. "null" and an id may name the same version. */
function removedVersions(outcomes: Iterable<VersionDeletion>): Version[] {
  const found = new Map<string, Version>();
  for (const deletion of outcomes) {
    if (deletion.outcome === "deleted") found.set(nameOf(deletion.version), deletion.version);
  }
  return [...found.values()];
}
