// The operations of the model tests on versions, locks and tags, as plain data.
import type { VersionTarget } from "../../../../src/engine/versions/versions.ts";
import type { VersionPosition } from "../../../../src/model/listing.ts";
import type { LockRule, ObjectLock, ObjectLockSetting, Retention } from "../../../../src/model/lock.ts";
import type { LifecycleRule } from "../../../../src/model/settings/lifecycle.ts";
import type { Body } from "../operation.ts";

export type TagPairs = readonly (readonly [string, string])[];

export interface NamedVersion {
  readonly key: string;
  readonly version?: string;
}

export interface ReadVersion extends NamedVersion {
  readonly do: "read version";
  readonly by: "get" | "head" | "describe";
  /** Reads the object that was current at this time. */
  readonly time?: number;
  readonly range?: Readonly<Record<string, number>>;
  readonly ssecKey?: string;
}

export interface PutVersion {
  readonly do: "put version";
  readonly key: string;
  readonly body: Body;
  readonly tags: TagPairs;
  readonly lock: ObjectLock | null;
  readonly ssecKey?: string;
}

export interface ListAt {
  readonly do: "list at";
  readonly time: number;
  readonly prefix: string;
  readonly delimiter: string;
  readonly cursor?: string;
  readonly limit?: number;
}

export interface ListVersions {
  readonly do: "list versions";
  readonly prefix: string;
  readonly delimiter: string;
  readonly after?: VersionPosition;
  readonly limit?: number;
}

export interface Restore {
  readonly do: "restore";
  readonly time: number;
  readonly prefix: string;
  readonly isDryRun: boolean;
  readonly cursor?: string;
}

export type VersionOperation =
  | { readonly do: "set versioning"; readonly versioning: "on" | "suspended" }
  | { readonly do: "set object lock"; readonly objectLock: ObjectLockSetting }
  | { readonly do: "set lock rules"; readonly rules: readonly LockRule[] | null }
  | { readonly do: "set version lifecycle"; readonly rules: readonly LifecycleRule[] }
  | ReadVersion
  | PutVersion
  | ListAt
  | ListVersions
  | {
      readonly do: "delete versions";
      readonly targets: readonly VersionTarget[];
      readonly bypassGovernance: boolean;
    }
  | ({ readonly do: "set tags"; readonly tags: TagPairs } & NamedVersion)
  | ({
      readonly do: "set retention";
      readonly retention: Retention | null;
      readonly bypassGovernance: boolean;
    } & NamedVersion)
  | ({ readonly do: "set legal hold"; readonly isHeld: boolean } & NamedVersion)
  | Restore;
