// Lifecycle rules: objects expire or change their storage class, and uploads are aborted, by age.
// An age is reached at the first midnight (UTC) after that many whole days, as in S3.
import { dayMilliseconds } from "./limits.ts";
import type { ObjectRecord } from "./object.ts";
import type { UploadRecord } from "./upload.ts";

export interface LifecycleRule {
  readonly id: string;
  readonly isEnabled: boolean;
  readonly prefix: string;
  /** Whether the prefix is outside of a Filter element, as in older S3 documents. */
  readonly isBare?: boolean | undefined;
  readonly largerThan?: number | undefined;
  readonly smallerThan?: number | undefined;
  /** An object must have all of these tags, as pairs of key and value. */
  readonly tags?: readonly (readonly [string, string])[] | undefined;
  readonly expire?: When | undefined;
  /** When objects transition to InfrequentAccess. */
  readonly transition?: When | undefined;
  /** Number of days after which an upload is aborted. */
  readonly abortUploadsAfter?: number | undefined;
  readonly expireNoncurrent?: NoncurrentAge | undefined;
  /** When noncurrent versions transition to InfrequentAccess. */
  readonly transitionNoncurrent?: NoncurrentAge | undefined;
  /** Whether a delete marker is removed when it is the only version of its key. */
  readonly expireMarkers?: true | undefined;
}

/** Age of a version since a newer version replaced it. */
export interface NoncurrentAge {
  readonly days: number;
  /** Number of the newest noncurrent versions of a key that are kept, whatever their age. */
  readonly keep?: number | undefined;
}

export type When = { readonly days: number } | { readonly date: number };

/** Rules of a bucket whose lifecycle is not set. */
export const defaultLifecycle: readonly LifecycleRule[] = [
  { id: "Default Multipart Abort Rule", isEnabled: true, prefix: "", abortUploadsAfter: 7 },
];

type AgedObject = Pick<ObjectRecord, "key" | "size" | "uploaded" | "tags">;

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
  const found = rules.flatMap((rule) => {
    const { isEnabled, prefix, abortUploadsAfter: days } = rule;
    if (!isEnabled || days === undefined || !upload.key.startsWith(prefix)) return [];
    return [{ rule, time: nextMidnight(upload.created + days * dayMilliseconds) }];
  });
  return pickEarliest(found);
}

function earliest(
  rules: readonly LifecycleRule[],
  object: AgedObject,
  selectWhen: (rule: LifecycleRule) => When | undefined,
): Expiry | undefined {
  const found = rules.flatMap((rule) => {
    const when = selectWhen(rule);
    if (when === undefined || !applies(rule, object)) return [];
    const time = "date" in when ? when.date : nextMidnight(object.uploaded + when.days * dayMilliseconds);
    return [{ rule, time }];
  });
  return pickEarliest(found);
}

function pickEarliest(found: readonly Expiry[]): Expiry | undefined {
  return found.reduce<Expiry | undefined>(
    (best, one) => (best === undefined || one.time < best.time ? one : best),
    undefined,
  );
}

function applies(rule: LifecycleRule, { key, size, tags }: AgedObject): boolean {
  const { isEnabled, prefix, largerThan = -1, smallerThan = Number.POSITIVE_INFINITY } = rule;
  if (!isEnabled || !key.startsWith(prefix) || size <= largerThan || size >= smallerThan) return false;
  return rule.tags === undefined || rule.tags.every(([name, value]) => tags?.get(name) === value);
}

function nextMidnight(time: number): number {
  return Math.ceil(time / dayMilliseconds) * dayMilliseconds;
}
