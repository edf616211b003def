// Copies all versions of a versioned bucket, key by key, oldest first: a version can only be appended.
// Versions that the source no longer has are removed from the target, unless a lock keeps them.
import { forEachLimit } from "../async/for-each-limit.ts";
import { type JoinedPair, mergeJoin } from "../async/merge-join.ts";
import type { Protection } from "../model/bucket.ts";
import { CopyError } from "../model/copy.ts";
import type { Key } from "../model/key.ts";
import { limits } from "../model/limits.ts";
import type { VersionPosition } from "../model/listing.ts";
import { describeLock, findLock } from "../model/lock.ts";
import { isDeleteMarker, type Version } from "../model/version.ts";
import { type CopyContext, isDamage, type Side } from "./context.ts";
import { commit, copyObject } from "./copy-object.ts";
import { isSameVersion } from "./equality.ts";

/** All versions of one key, oldest first. */
export interface KeyVersions {
  readonly key: Key;
  readonly versions: readonly Version[];
}

/** Returns false if the versions of the source cannot be listed because of damage. */
export async function copyVersions(
  context: CopyContext,
  bucket: string,
  protection: Protection,
): Promise<boolean> {
  try {
    const pairs = mergeJoin(versionsByKey(context.from, bucket), versionsByKey(context.to, bucket));
    await forEachLimit(pairs, context, (pair) => syncKey(context, bucket, pair, protection));
    return true;
  } catch (error) {
    if (!isDamage(error)) throw error;
    await context.reportDamage({ bucket }, error);
    return false;
  }
}

async function syncKey(
  context: CopyContext,
  bucket: string,
  { key, source, target }: JoinedPair<KeyVersions, KeyVersions>,
  protection: Protection,
): Promise<void> {
  const wanted = source?.versions ?? [];
  const ids = new Set(wanted.map(({ version }) => version));
  const existing = target?.versions ?? [];
  const kept = existing.filter(({ version }) => ids.has(version));
  const firstOther = kept.findIndex(({ version }, i) => version !== wanted[i]!.version);
  const matching = firstOther === -1 ? kept : kept.slice(0, firstOther);
  const stale = existing.filter((version) => !matching.includes(version));
  for (const version of stale) {
    // A version that is copied again after others is not lost, so its lock does not matter.
    if (!ids.has(version.version)) refuseIfLocked(context, bucket, version, protection);
  }
  for (const version of stale) await removeUnchecked(context, bucket, version, protection);
  for (const [i, version] of matching.entries())
    await restate(context, bucket, wanted[i]!, version, protection);
  let newest = matching.at(-1);
  for (const version of wanted.slice(matching.length)) {
    await append(context, bucket, { key, version, newest, protection });
    newest = version;
  }
}

interface Append {
  readonly key: Key;
  readonly version: Version;
  /** The newest version of the key in the target. */
  readonly newest: Version | undefined;
  readonly protection: Protection;
}

async function append(
  context: CopyContext,
  bucket: string,
  { key, version, newest, protection }: Append,
): Promise<void> {
  const current = newest === undefined || isDeleteMarker(newest) ? undefined : newest.version;
  if (isDeleteMarker(version)) {
    await commit(context, bucket, {
      checks: [{ kind: "object", key, version: current }],
      mutations: [{ kind: "put marker", marker: version }],
      protection,
    });
    return;
  }
  const read = async () => {
    const body = (await context.from.records.version(bucket, key, version.version))?.body;
    return body && { record: version, body };
  };
  const found = await read();
  // A version that was removed from the source since it was listed is not copied.
  if (found !== undefined) await copyObject(context, bucket, found, { version: current, protection }, read);
}

async function restate(
  context: CopyContext,
  bucket: string,
  wanted: Version,
  existing: Version,
  protection: Protection,
): Promise<void> {
  if (isDeleteMarker(wanted)) return;
  context.advance(wanted.size);
  if (isSameVersion(wanted, existing)) return;
  const body = (await context.to.records.version(bucket, wanted.key, wanted.version))?.body;
  if (body === undefined)
    throw new CopyError(`The target lost an object that was copied: "${bucket}/${wanted.key}".`);
  await commit(context, bucket, {
    checks: [{ kind: "version", version: existing }],
    mutations: [{ kind: "restate object", record: wanted, body }],
    protection,
  });
}

export async function removeVersion(
  context: CopyContext,
  bucket: string,
  version: Version,
  protection: Protection,
): Promise<void> {
  refuseIfLocked(context, bucket, version, protection);
  await removeUnchecked(context, bucket, version, protection);
}

async function removeUnchecked(
  context: CopyContext,
  bucket: string,
  version: Version,
  protection: Protection,
): Promise<void> {
  await commit(context, bucket, {
    checks: [{ kind: "version", version }],
    mutations: [{ kind: "delete version", key: version.key, version: version.version }],
    protection,
  });
}

/** Throws if a lock keeps a version of the target that the source does not have. */
export function refuseIfLocked(
  context: CopyContext,
  bucket: string,
  version: Version,
  { lockRules }: Protection,
): void {
  const lock = isDeleteMarker(version) ? undefined : findLock(version, lockRules, context.now());
  if (lock === undefined) return;
  throw new CopyError(`The target has "${bucket}/${version.key}", which the source does not have.`, [
    describeLock(lock),
    "Copy to another target, or wait for the end of the lock.",
  ]);
}

export async function* versionsByKey(side: Side, bucket: string): AsyncGenerator<KeyVersions> {
  let versions: Version[] = [];
  for await (const version of everyVersion(side, bucket)) {
    const [first] = versions;
    if (first !== undefined && first.key !== version.key) {
      yield { key: first.key, versions: versions.reverse() };
      versions = [];
    }
    versions.push(version);
  }
  if (versions.length > 0) yield { key: versions[0]!.key, versions: versions.reverse() };
}

/** Yields every version in key order; of one key, the newest first. */
export async function* everyVersion({ records }: Side, bucket: string): AsyncGenerator<Version> {
  let after: VersionPosition | undefined;
  do {
    const page = await records.versions(bucket, {
      prefix: "",
      delimiter: "",
      after,
      limit: limits.listEntries,
    });
    for (const entry of page.entries) if ("record" in entry) yield entry.record.version;
    after = page.next;
  } while (after !== undefined);
}
