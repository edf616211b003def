// Finds the version of an object that a read asks for: the current version, a version by its id, or
// the version that was current at a time.
import type { Key } from "../model/key.ts";
import { type DeleteMarker, isDeleteMarker } from "../model/version.ts";
import type { Context } from "./context.ts";
import type { VersionOptions } from "./engine.ts";
import type { ObjectWithBody } from "./records.ts";

export interface VersionRead {
  readonly found: ObjectWithBody | undefined;
  /** The delete marker that was found instead of an object. */
  readonly marker: DeleteMarker | undefined;
}

export function isCurrent({ version, time }: VersionOptions): boolean {
  return version === undefined && time === undefined;
}

export async function findVersion(
  context: Context,
  bucket: string,
  key: Key,
  { version: id, time }: VersionOptions,
): Promise<VersionRead> {
  const { records } = context;
  if (id !== undefined) {
    const stored = await records.version(bucket, key, id);
    if (stored === undefined) return nothing;
    const { version, body } = stored;
    if (isDeleteMarker(version)) return { found: undefined, marker: version };
    return { found: { record: version, body: body! }, marker: undefined };
  }
  if (time !== undefined) return { found: await records.objectAt(bucket, key, time), marker: undefined };
  const found = await records.objectWithBody(bucket, key);
  if (found !== undefined) return { found, marker: undefined };
  return { found, marker: await findMarker(context, bucket, key) };
}

const nothing: VersionRead = { found: undefined, marker: undefined };

/** Returns the delete marker that hides a missing object. Only versioned buckets have any. */
async function findMarker({ records }: Context, bucket: string, key: Key): Promise<DeleteMarker | undefined> {
  if ((await records.bucket(bucket))?.settings.versioning === undefined) return undefined;
  const newest = await records.newestVersion(bucket, key);
  return newest !== undefined && isDeleteMarker(newest) ? newest : undefined;
}
