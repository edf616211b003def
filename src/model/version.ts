// Versions of a key: a sequence of objects and delete markers, of which the newest is current.
import type { Key } from "./key.ts";
import type { ObjectRecord } from "./object.ts";

/** The state of a bucket's versioning, once it was turned on. It is never undefined again. */
export type Versioning = "on" | "suspended";

/** A version that hides the older versions of its key: the object reads as deleted. */
export interface DeleteMarker {
  readonly isDeleteMarker: true;
  readonly key: Key;
  readonly version: string;
  /** Milliseconds since the epoch. Never used to order versions. */
  readonly uploaded: number;
  /** Whether versioning was on at the delete. Otherwise this is the null version of its key. */
  readonly isVersioned?: true;
}

export type Version = ObjectRecord | DeleteMarker;

/** Names the null version in requests: the version written while versioning was not on. */
export const nullVersion = "null";

export function isDeleteMarker(version: Version): version is DeleteMarker {
  return "isDeleteMarker" in version;
}

/** Returns the id by which requests name a version. */
export function versionId({ version, isVersioned }: Pick<Version, "version" | "isVersioned">): string {
  return isVersioned === true ? version : nullVersion;
}

/** Whether a request that names `id` means this version. */
export function isVersionNamed(version: Version, id: string): boolean {
  return version.version === id || (id === nullVersion && version.isVersioned !== true);
}
