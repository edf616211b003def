// Removes everything in a bucket, including all versions, and then the bucket.
import type { BypassOptions } from "../../../engine/versions/versions.ts";
import { StoreError } from "../../../model/errors.ts";
import type { Key } from "../../../model/key.ts";
import { limits } from "../../../model/limits.ts";
import type { VersionPosition } from "../../../model/listing.ts";
import { describeLock, findLock } from "../../../model/lock.ts";
import { isDeleteMarker } from "../../../model/version.ts";
import { CommandError } from "../../framework/command-error.ts";
import { escapeControls } from "../../framework/output.ts";
import type { ObjectStore } from "../../store/object-store.ts";
import { requireBucket } from "../../store/require-bucket.ts";

export interface RemovedContents {
  /** Number of removed objects that were current. */
  objects: number;
  /** Number of other versions that were removed, including delete markers. */
  versions: number;
}

/** Maximum number of attempts to empty a bucket while other processes write to it. */
const maxRounds = 10;

export async function deleteWithContents(
  engine: ObjectStore,
  bucket: string,
  options: BypassOptions,
): Promise<RemovedContents> {
  await refuseLocks(engine, bucket, options);
  const removed: RemovedContents = { objects: 0, versions: 0 };
  for (let round = 1; ; round++) {
    const { versioning, lockRules } = (await requireBucket(engine, bucket, ["versioning", "lockRules"]))
      .settings;
    if ((versioning ?? lockRules) === undefined) await deleteObjects(engine, bucket, removed);
    else await deleteAllVersions(engine, bucket, options, removed);
    try {
      await engine.deleteBucket(bucket);
      return removed;
    } catch (error) {
      if (!(error instanceof StoreError && error.reason === "BucketNotEmpty")) throw error;
      if (round < maxRounds) continue;
      throw filledFaster(bucket, error);
    }
  }
}

function filledFaster(bucket: string, cause?: unknown): CommandError {
  return new CommandError(`The bucket "${bucket}" is filled faster than it can be emptied.`, {
    hint: "Stop all writers, then try again.",
    cause,
  });
}

/** Throws before anything is deleted if a version is locked: the bucket could not be deleted then. */
async function refuseLocks(
  engine: ObjectStore,
  bucket: string,
  { bypassGovernance = false }: BypassOptions,
): Promise<void> {
  const { lockRules, objectLock } = (await requireBucket(engine, bucket, ["lockRules", "objectLock"]))
    .settings;
  if (lockRules === undefined && objectLock === undefined) return;
  const locked = createLockedVersions();
  let after: VersionPosition | undefined;
  do {
    const page = await engine.listVersions(bucket, { after });
    for (const { version } of page.versions) {
      const lock = isDeleteMarker(version) ? undefined : findLock(version, lockRules, Date.now());
      if (lock !== undefined && !(lock.canBypass && bypassGovernance))
        locked.add(version, describeLock(lock));
    }
    after = page.next;
  } while (after !== undefined);
  locked.throwIfAny(bucket, "nothing was deleted");
}

async function deleteObjects(engine: ObjectStore, bucket: string, removed: RemovedContents): Promise<void> {
  let first: Key | undefined;
  for (let rounds = 1; ; rounds++) {
    const { objects } = await engine.list(bucket, { limit: limits.deleteKeys });
    if (objects.length === 0) return;
    // A service may list for ever what it has confirmed to be deleted.
    if (objects[0]!.key !== first) rounds = 1;
    else if (rounds > maxRounds) throw filledFaster(bucket);
    first = objects[0]!.key;
    await engine.delete(
      bucket,
      objects.map(({ key }) => key),
    );
    removed.objects += objects.length;
  }
}

async function deleteAllVersions(
  engine: ObjectStore,
  bucket: string,
  options: BypassOptions,
  removed: RemovedContents,
): Promise<void> {
  const locked = createLockedVersions();
  let lastKey: Key | undefined;
  let after: VersionPosition | undefined;
  do {
    const page = await engine.listVersions(bucket, { after, limit: limits.deleteKeys });
    const targets = page.versions.map(({ version: { key, version } }) => ({ key, version }));
    const deletions = await engine.deleteVersions(bucket, targets, options);
    for (const [i, deletion] of deletions.entries()) {
      const { version } = page.versions[i]!;
      if (deletion.outcome === "locked") locked.add(version, deletion.message);
      // The first version of a key is the current one, unless it is a delete marker.
      const isObject = version.key !== lastKey && !isDeleteMarker(version);
      lastKey = version.key;
      if (deletion.outcome !== "deleted") continue;
      if (isObject) removed.objects++;
      else removed.versions++;
    }
    after = page.next;
  } while (after !== undefined);
  locked.throwIfAny(bucket, "the bucket was not deleted, but other versions in it were");
}

/** Number of locked versions that the error describes. */
const maxDescribed = 10;

/** Counts versions that are locked. A page may start with versions of the previous page again. */
function createLockedVersions() {
  const described: string[] = [];
  const idsOfKey = new Set<string>();
  let lastKey: Key | undefined;
  let count = 0;
  return {
    add({ key, version }: { readonly key: Key; readonly version: string }, message: string): void {
      if (key !== lastKey) idsOfKey.clear();
      lastKey = key;
      if (idsOfKey.has(version)) return;
      idsOfKey.add(version);
      count++;
      if (count <= maxDescribed) described.push(`${escapeControls(key)} (version ${version}): ${message}`);
    },
    throwIfAny(bucket: string, outcome: string): void {
      if (count === 0) return;
      const more = count > maxDescribed ? [`… and ${count - maxDescribed} more`] : [];
      const what = count === 1 ? "1 version is" : `${count} versions are`;
      throw new CommandError(`${what} locked in bucket "${bucket}"; ${outcome}.`, {
        hint: [...described, ...more],
      });
    },
  };
}
