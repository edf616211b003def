// Lifecycle rules: objects expire or change their storage class, and uploads are aborted, by age.
// An age is reached at the first midnight (UTC) after that many whole days, as in S3.

import type { Key } from "../key.ts";
import { dayMilliseconds } from "../limits.ts";
import type { ObjectRecord } from "../object.ts";
import { rulesForKey } from "../prefix-rules.ts";
import type { Tags } from "../tags.ts";
import type { UploadRecord } from "../upload.ts";

export interface LifecycleRule {
  readonly id: string;
  readonly isEnabled: boolean;
  readonly prefix: string;
  /** Whether the prefix is outside of a Filter element, as in older S3 documents. */
  readonly isBare?: boolean | undefined;
  readonly largerThan?: number | undefined;
  readonly smallerThan?: number | undefined;
  readonly expire?: When | undefined;
  /** When objects transition to InfrequentAccess. */
  readonly transition?: When | undefined;
  /**
   * All transitions of current objects by the client's names, the earliest first. Only if there are
   * several, or one to a class by another name.
   */
  readonly namedTransitions?: readonly WithClassName<When>[] | undefined;
  /** Tags that an object must have, all of them. */
  readonly tags?: readonly (readonly [string, string])[] | undefined;
  /** When noncurrent versions are removed. */
  readonly expireNoncurrent?: NoncurrentWhen | undefined;
  /** When noncurrent versions transition to InfrequentAccess. */
  readonly transitionNoncurrent?: NoncurrentWhen | undefined;
  /** As `namedTransitions`, of noncurrent versions. */
  readonly namedNoncurrent?: readonly WithClassName<NoncurrentWhen>[] | undefined;
  /** Whether a delete marker without older versions is removed. */
  readonly expireMarkers?: true | undefined;
  /** Number of days after which an upload is aborted. */
  readonly abortUploadsAfter?: number | undefined;
}

export type When = { readonly days: number } | { readonly date: number };

export interface NoncurrentWhen {
  /** Number of days since the version was replaced. */
  readonly days: number;
  /** Number of newest noncurrent versions of each key that are kept anyway. */
  readonly keep?: number | undefined;
}

/** @example { days: 90, className: "GLACIER" } */
export type WithClassName<W> = W & {
  /** Undefined: InfrequentAccess by its own name. */
  readonly className?: string | undefined;
};

/** The rule that is in force in every bucket. S3 clients see only rules that were set. */
const defaultLifecycle: readonly LifecycleRule[] = [
  { id: "Default Multipart Abort Rule", isEnabled: true, prefix: "", abortUploadsAfter: 7 },
];

export interface ShownLifecycle {
  readonly rules: readonly LifecycleRule[];
  /** Whether the rules are the default because none were ever set. */
  readonly isDefault: boolean;
}

/** Returns the rules that people see: those that were set, otherwise the default rule. */
export function shownLifecycle(set: readonly LifecycleRule[] | undefined): ShownLifecycle {
  return { rules: set ?? defaultLifecycle, isDefault: set === undefined };
}

export type AgedObject = Pick<ObjectRecord, "key" | "size" | "uploaded" | "tags">;

/** A version that is not current. Delete markers have no size. */
export interface NoncurrentVersion {
  readonly key: Key;
  readonly size?: number;
  readonly tags?: Tags;
  /** Time at which the version was replaced. */
  readonly until: number;
  /** Number of noncurrent versions of the key that are newer. */
  readonly newer: number;
}

export interface Expiry {
  readonly rule: LifecycleRule;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** Returns the rule that expires the object first, and the time. */
export function findExpiry(rules: readonly LifecycleRule[], object: AgedObject): Expiry | undefined {
  return earliest(rules, object, ({ expire }) => expire);
}

/** Returns the rule that first transitions the object to InfrequentAccess, and the time. */
export function findTransition(rules: readonly LifecycleRule[], object: AgedObject): Expiry | undefined {
  return earliest(rules, object, ({ transition }) => transition);
}

/** Returns the time at which the rules abort the upload. Undefined if no rule does. */
export function findUploadAbort(
  rules: readonly LifecycleRule[],
  upload: Pick<UploadRecord, "key" | "created">,
): Expiry | undefined {
  const found = rulesForKey(rules, upload.key).flatMap((rule) => {
    const { isEnabled, abortUploadsAfter: days } = rule;
    if (!isEnabled || days === undefined) return [];
    return [{ rule, time: nextMidnight(upload.created + days * dayMilliseconds) }];
  });
  return pickEarliest(found);
}

/** Whether a rule removes the noncurrent version now. */
export function isNoncurrentExpired(
  rules: readonly LifecycleRule[],
  version: NoncurrentVersion,
  now: number,
): boolean {
  return rulesForKey(rules, version.key).some((rule) =>
    isNoncurrentDue(rule, rule.expireNoncurrent, version, now),
  );
}

/** Whether the rule, which is for the key of the version, applies to it now. */
export function isNoncurrentDue(
  rule: LifecycleRule,
  when: NoncurrentWhen | undefined,
  { size = 0, tags, until, newer }: NoncurrentVersion,
  now: number,
): boolean {
  if (when === undefined || newer < (when.keep ?? 0)) return false;
  if (!applies(rule, { size, ...(tags && { tags }) })) return false;
  return nextMidnight(until + when.days * dayMilliseconds) <= now;
}

/** Whether a rule removes a delete marker that has no older versions. */
export function isMarkerExpired(
  rules: readonly LifecycleRule[],
  { key, uploaded }: Pick<ObjectRecord, "key" | "uploaded">,
  now: number,
): boolean {
  return rulesForKey(rules, key).some((rule) => {
    const { isEnabled, tags, expireMarkers, expire } = rule;
    if (!isEnabled || tags !== undefined) return false;
    if (expireMarkers === true) return true;
    return expire !== undefined && timeOf(expire, { uploaded }) <= now;
  });
}

function earliest(
  rules: readonly LifecycleRule[],
  object: AgedObject,
  selectWhen: (rule: LifecycleRule) => When | undefined,
): Expiry | undefined {
  const found = rulesForKey(rules, object.key).flatMap((rule) => {
    const when = selectWhen(rule);
    if (when === undefined || !applies(rule, object)) return [];
    return [{ rule, time: timeOf(when, object) }];
  });
  return pickEarliest(found);
}

/** Returns when an object reaches the age or the date. */
export function timeOf(when: When, { uploaded }: Pick<AgedObject, "uploaded">): number {
  return "date" in when ? when.date : nextMidnight(uploaded + when.days * dayMilliseconds);
}

function pickEarliest(found: readonly Expiry[]): Expiry | undefined {
  return found.reduce<Expiry | undefined>(
    (best, one) => (best === undefined || one.time < best.time ? one : best),
    undefined,
  );
}

/** Whether a rule for the object's key applies to it. */
function applies(rule: LifecycleRule, { size, tags }: Pick<AgedObject, "size" | "tags">): boolean {
  const { isEnabled, largerThan = -1, smallerThan = Number.POSITIVE_INFINITY } = rule;
  if (!isEnabled || size <= largerThan || size >= smallerThan) return false;
  return (rule.tags ?? []).every(([name, value]) => tags?.get(name) === value);
}

function nextMidnight(time: number): number {
  return Math.ceil(time / dayMilliseconds) * dayMilliseconds;
}
