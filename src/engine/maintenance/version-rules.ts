// Applies lifecycle rules to noncurrent versions and to delete markers without older versions. A
// version that a lock keeps stays until a run after the end of the lock.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { VersionPosition } from "../../model/listing.ts";
import { findLock } from "../../model/lock.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { outermostPrefixes } from "../../model/prefix-rules.ts";
import { isMarkerExpired, isNoncurrentExpired, type LifecycleRule } from "../../model/settings/lifecycle.ts";
import { transitionedNoncurrent } from "../../model/settings/transitions.ts";
import { isDeleteMarker, type Version } from "../../model/version.ts";
import type { Context } from "../context.ts";
import { deleteVersionMutations } from "../event-outbox.ts";
import type { ListedVersion } from "../records.ts";
import { requireBucket } from "../write-path.ts";
import type { LifecycleCounts } from "./lifecycle.ts";

/** Objects or versions that are evaluated in one turn of the event loop. */
export const entriesPerTurn = 64;

export async function runVersionRules(
  context: Context,
  bucket: string,
  rules: readonly LifecycleRule[],
  counts: LifecycleCounts,
): Promise<void> {
  const relevant = rules.filter(
    ({ expireNoncurrent, transitionNoncurrent, expireMarkers, expire }) =>
      expireNoncurrent ?? transitionNoncurrent ?? expireMarkers ?? expire,
  );
  for (const prefix of outermostPrefixes(relevant)) {
    for await (const entry of everyVersion(context, bucket, prefix)) {
      await applyRules(context, bucket, relevant, entry, counts);
    }
  }
}

interface VersionEntry extends ListedVersion {
  /** Number of noncurrent versions of the key that are newer. */
  readonly newer: number;
  /** Whether the key has no other versions. */
  readonly isOnly: boolean;
}

async function applyRules(
  context: Context,
  bucket: string,
  rules: readonly LifecycleRule[],
  { version, isCurrent, until, newer, isOnly }: VersionEntry,
  counts: LifecycleCounts,
): Promise<void> {
  const now = context.now();
  if (isCurrent) {
    if (isDeleteMarker(version) && isOnly && isMarkerExpired(rules, version, now))
      await remove(context, bucket, version, counts);
    return;
  }
  const { key } = version;
  const object = isDeleteMarker(version) ? undefined : version;
  const noncurrent = {
    key,
    until,
    newer,
    ...(object && { size: object.size }),
    ...(object?.tags && { tags: object.tags }),
  };
  if (isNoncurrentExpired(rules, noncurrent, now)) return remove(context, bucket, version, counts);
  if (object === undefined) return;
  const moved = transitionedNoncurrent(rules, object, noncurrent, now);
  if (moved !== undefined) await transition(context, bucket, { version: object, record: moved }, counts);
}

async function remove(
  context: Context,
  bucketName: string,
  version: Version,
  counts: LifecycleCounts,
): Promise<void> {
  const bucket = await requireBucket(context, bucketName);
  const { settings } = bucket;
  if (!isDeleteMarker(version) && findLock(version, settings.lockRules, context.now()) !== undefined) return;
  const outcome = await context.records.commit(bucketName, {
    checks: [{ kind: "version", version }],
    mutations: deleteVersionMutations(context, bucket, "s3:LifecycleExpiration:Delete", version),
    protection: settings,
  });
  if (outcome === "committed") counts.versionsExpired++;
}

async function transition(
  context: Context,
  bucketName: string,
  { version, record }: { readonly version: ObjectRecord; readonly record: ObjectRecord },
  counts: LifecycleCounts,
): Promise<void> {
  const stored = await context.records.version(bucketName, version.key, version.version);
  if (stored?.body === undefined) return;
  const outcome = await context.records.commit(bucketName, {
    checks: [{ kind: "version", version }],
    mutations: [{ kind: "restate object", record, body: stored.body }],
    protection: (await requireBucket(context, bucketName)).settings,
  });
  if (outcome === "committed") counts.objectsMoved++;
}

/** Yields every version with its rank. Waits for the next version to know whether a key has others. */
async function* everyVersion(context: Context, bucket: string, prefix: string): AsyncGenerator<VersionEntry> {
  let pending: VersionEntry | undefined;
  let after: VersionPosition | undefined;
  do {
    const page = await context.records.versions(bucket, { prefix, delimiter: "", limit: 1000, after });
    for (const [i, entry] of page.entries.entries()) {
      // Let pending requests run: many rules may apply to each version.
      if (i % entriesPerTurn === 0) await nextTurn();
      if (!("record" in entry)) continue;
      const isSameKey = pending?.version.key === entry.record.version.key;
      if (pending !== undefined) yield isSameKey ? { ...pending, isOnly: false } : pending;
      const newer = isSameKey ? pending!.newer + (pending!.isCurrent ? 0 : 1) : 0;
      pending = { ...entry.record, newer, isOnly: !isSameKey };
    }
    after = page.next;
  } while (after !== undefined);
  if (pending !== undefined) yield pending;
}
