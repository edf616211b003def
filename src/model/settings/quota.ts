// Quotas of buckets and accounts: the maximum of what they may contain. All versions count with
// their full size, and delete markers count as objects. Parts of open uploads do not count.
import { StoreError } from "../errors.ts";
import { isCount, isFields } from "../shape.ts";

/** At least one of the two is set. */
export interface Quota {
  readonly bytes?: number | undefined;
  readonly objects?: number | undefined;
}

/** What a bucket contains: current and noncurrent versions, and delete markers. */
export interface Usage {
  readonly bytes: number;
  readonly objects: number;
}

const names = ["bytes", "objects"] as const;

/** Returns undefined if the value is not a quota. */
export function parseQuota(value: unknown): Quota | undefined {
  if (!isFields(value)) return undefined;
  const isQuota =
    Object.keys(value).every((name) => names.some((known) => known === name)) &&
    names.every((name) => value[name] === undefined || isCount(value[name])) &&
    names.some((name) => value[name] !== undefined);
  return isQuota ? (value as Quota) : undefined;
}

export function checkQuota(value: unknown): asserts value is Quota {
  if (parseQuota(value) !== undefined) return;
  throw new StoreError("InvalidArgument", {
    detail: "A quota has a number of bytes, a number of objects, or both: whole numbers from 0.",
  });
}

/**
 * Whether a change must be refused: it puts an object, it increases what the quota limits, and it
 * leaves the usage above the quota. A bucket above its quota can still be emptied and overwritten.
 */
export function exceedsQuota(quota: Quota, before: Usage, after: Usage): boolean {
  return (
    (quota.bytes !== undefined && after.bytes > quota.bytes && after.bytes > before.bytes) ||
    (quota.objects !== undefined && after.objects > quota.objects && after.objects > before.objects)
  );
}
