// Locks that keep a version from being removed: retention and legal holds of a version, as in S3, and
// lock rules of a bucket, by prefix.

import { StoreError } from "./errors.ts";
import type { Key } from "./key.ts";
import { dayMilliseconds } from "./limits.ts";
import { rulesForKey } from "./prefix-rules.ts";

export type RetentionMode = "governance" | "compliance";

export interface Retention {
  readonly mode: RetentionMode;
  /** End of the retention in milliseconds since the epoch. */
  readonly until: number;
}

/** The lock of one version. At least one field is set. */
export interface ObjectLock {
  readonly retention?: Retention | undefined;
  /** False: a hold was released, or was refused when the version was written. */
  readonly legalHold?: boolean | undefined;
}

/** Object Lock of a bucket: once set, versions can be locked and versioning stays on. */
export interface ObjectLockSetting {
  /** Retention of versions that are written without one. */
  readonly defaultRetention?: DefaultRetention | undefined;
}

export interface DefaultRetention {
  readonly mode: RetentionMode;
  readonly days: number;
  /** Whether the period was given in years of 365 days, and is shown so. */
  readonly isInYears?: true | undefined;
}

/** Locks every version whose key starts with the prefix. */
export interface LockRule {
  readonly id: string;
  readonly isEnabled: boolean;
  readonly prefix: string;
  readonly condition: LockCondition;
}

export type LockCondition =
  /** Locks a version for this many seconds after it was written. */
  | { readonly kind: "age"; readonly seconds: number }
  | { readonly kind: "date"; readonly date: number }
  | { readonly kind: "indefinite" };

export interface ActiveLock {
  /** Names the lock in an error message. */
  readonly name: string;
  /** Undefined: the lock has no end. */
  readonly until: number | undefined;
  /** Whether a caller with the right to bypass governance may remove the version. */
  readonly canBypass: boolean;
}

interface LockableVersion {
  readonly key: Key;
  readonly uploaded: number;
  readonly lock?: ObjectLock;
}

/** Returns a lock that keeps the version now, if any: one that cannot be bypassed comes first. */
export function findLock(
  version: LockableVersion,
  rules: readonly LockRule[] | undefined,
  now: number,
): ActiveLock | undefined {
  const { retention, legalHold } = version.lock ?? {};
  if (legalHold === true) return { name: "a legal hold", until: undefined, canBypass: false };
  for (const rule of rulesForKey(rules ?? [], version.key)) {
    const end = ruleEnd(rule, version);
    if (end !== undefined && end > now)
      return {
        name: `the bucket's lock rule "${rule.id}"`,
        until: end === Number.POSITIVE_INFINITY ? undefined : end,
        canBypass: false,
      };
  }
  if (retention === undefined || retention.until <= now) return undefined;
  const { mode, until } = retention;
  return { name: `${mode} retention`, until, canBypass: mode === "governance" };
}

/** Returns the end of the rule's lock on the version. Undefined if the rule is disabled. */
function ruleEnd({ isEnabled, condition }: LockRule, version: LockableVersion): number | undefined {
  if (!isEnabled) return undefined;
  if (condition.kind === "age") return version.uploaded + condition.seconds * 1000;
  return condition.kind === "date" ? condition.date : Number.POSITIVE_INFINITY;
}

export function describeLock({ name, until }: ActiveLock): string {
  const end = until === undefined ? "until it is removed" : `until ${new Date(until).toISOString()}`;
  return `The object is locked by ${name} ${end}.`;
}

/** Returns the retention that a bucket gives to a version written now without one. */
export function defaultRetention(setting: ObjectLockSetting | undefined, now: number): Retention | undefined {
  const { defaultRetention } = setting ?? {};
  if (defaultRetention === undefined) return undefined;
  return { mode: defaultRetention.mode, until: now + defaultRetention.days * dayMilliseconds };
}

/** Throws if a retention that is being set has already ended. */
export function checkRetentionEnd({ until }: Retention, now: number): void {
  if (until > now) return;
  throw new StoreError("InvalidArgument", { detail: "The retain until date must be in the future!" });
}

export type RetentionChange = "allowed" | "needs bypass" | "refused";

/** Whether a version's retention may be replaced. An expired retention may be replaced freely. */
export function checkRetentionChange(
  from: Retention | undefined,
  to: Retention | undefined,
  now: number,
): RetentionChange {
  if (from === undefined || from.until <= now) return "allowed";
  // As in S3, a change of the mode needs the same right as a shorter retention.
  if (to !== undefined && to.until >= from.until && to.mode === from.mode) return "allowed";
  return from.mode === "governance" ? "needs bypass" : "refused";
}
