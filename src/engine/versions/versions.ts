// Operations on the versions of objects, their locks and their tags.
import type { Key } from "../../model/key.ts";
import type { VersionPosition } from "../../model/listing.ts";
import type { Retention } from "../../model/lock.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { Tags } from "../../model/tags.ts";
import type { Version } from "../../model/version.ts";
import type { ListedVersion } from "../records.ts";

export interface Versions {
  /** Lists all versions and delete markers, sorted by key; of one key, the newest first. */
  listVersions(bucket: string, options?: ListVersionsOptions): Promise<VersionListing>;
  /**
   * Removes versions and delete markers for good, all of them in one commit except those that are
   * locked. Returns one outcome for each target.
   */
  deleteVersions(
    bucket: string,
    targets: readonly VersionTarget[],
    options?: BypassOptions,
  ): Promise<readonly VersionDeletion[]>;

  /** Replaces the tags of an object. An empty map removes them. Throws NoSuchKey or NoSuchVersion. */
  setTags(bucket: string, key: Key, tags: Tags, target?: TargetOptions): Promise<ObjectRecord>;
  /** Sets or, with undefined, removes the retention of an object. */
  setRetention(
    bucket: string,
    key: Key,
    retention: Retention | undefined,
    target?: TargetOptions & BypassOptions,
  ): Promise<ObjectRecord>;
  setLegalHold(bucket: string, key: Key, isOnHold: boolean, target?: TargetOptions): Promise<ObjectRecord>;

  /**
   * Brings the objects of one page back to their state at a time, by new versions that share the
   * bodies of the old ones. Call it with the returned cursor until there is none.
   */
  restorePage(bucket: string, options: RestoreOptions): Promise<RestoredPage>;
  /**
   * Makes an earlier version current again, by a new version that shares its body. Returns the new
   * version, or the given one if it is already current.
   */
  restoreVersion(bucket: string, key: Key, version: string): Promise<ObjectRecord>;
}

/** Which version to change. Default: the current version. */
export interface TargetOptions {
  readonly version?: string | undefined;
}

export interface BypassOptions {
  /** Whether the caller has the right to remove or shorten a governance retention, and wants to. */
  readonly bypassGovernance?: boolean | undefined;
}

export interface VersionTarget {
  readonly key: Key;
  /** Id of the version. "null" names the version written while versioning was not on. */
  readonly version: string;
}

export type VersionDeletion =
  | { readonly outcome: "deleted"; readonly version: Version }
  | { readonly outcome: "missing" }
  /** The message names the lock and its end. */
  | { readonly outcome: "locked"; readonly message: string };

export interface ListVersionsOptions {
  readonly prefix?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly after?: VersionPosition | undefined;
  readonly limit?: number | undefined;
}

export interface VersionListing {
  readonly versions: readonly ListedVersion[];
  /** Every prefix ends with the delimiter. */
  readonly prefixes: readonly string[];
  /** Start of the next page. Undefined on the last page. */
  readonly next: VersionPosition | undefined;
}

export interface RestoreOptions {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly prefix?: string | undefined;
  /** Report what would change and change nothing. */
  readonly isDryRun?: boolean | undefined;
  /** Cursor of the previous page. */
  readonly cursor?: string | undefined;
}

export interface RestoredPage {
  /** Objects that got the body and metadata of their earlier version again. */
  readonly restored: readonly Key[];
  /** Objects that did not exist at that time and now have a delete marker. */
  readonly deleted: readonly Key[];
  /** Number of objects that were already as at that time. */
  readonly unchanged: number;
  readonly cursor: string | undefined;
}
