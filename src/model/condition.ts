// Conditions on an object's etag and date, evaluated in the order of RFC 9110 13.2.2.
import type { ObjectRecord } from "./object.ts";

export interface EntityTag {
  readonly value: string;
  readonly weak: boolean;
}

/** `"*"` matches any existing object. */
export type EtagCondition = "*" | readonly EntityTag[];

export interface Condition {
  readonly etagMatches?: EtagCondition;
  readonly etagDoesNotMatch?: EtagCondition;
  /** Milliseconds since the epoch. The object must have been uploaded earlier. */
  readonly uploadedBefore?: number;
  readonly uploadedAfter?: number;
  /** Exact upload time and size, for a delete that must not remove a later write. */
  readonly uploadedAt?: number;
  readonly size?: number;
  /**
   * Whether the write must remove nothing. Beside the current object, this is the null version in a
   * bucket whose versioning is suspended, also while a delete marker hides it.
   */
  readonly removesNothing?: boolean;
  /** Whether dates are compared in whole seconds, the precision of HTTP headers. */
  readonly secondsGranularity?: boolean;
  /** Whether the exact date also passes `uploadedBefore`: true for If-Unmodified-Since only. */
  readonly beforeIsInclusive?: boolean;
}

/** The clause that failed. */
export type Clause =
  | "etagMatches"
  | "etagDoesNotMatch"
  | "uploadedBefore"
  | "uploadedAfter"
  | "uploadedAt"
  | "size";

type Subject = Pick<ObjectRecord, "etag" | "uploaded" | "size">;

/**
 * Returns the clause that fails for this object, if any. With an etag clause, the corresponding
 * date clause is ignored.
 */
export function findFailedClause(condition: Condition, object: Subject): Clause | undefined {
  const { etagMatches, etagDoesNotMatch, uploadedBefore, uploadedAfter } = condition;
  if (etagMatches !== undefined) {
    if (!strongMatch(etagMatches, object.etag)) return "etagMatches";
  } else if (uploadedBefore !== undefined) {
    if (!wasBefore(object.uploaded, uploadedBefore, condition)) return "uploadedBefore";
  }
  if (etagDoesNotMatch !== undefined) {
    if (weakMatch(etagDoesNotMatch, object.etag)) return "etagDoesNotMatch";
  } else if (uploadedAfter !== undefined) {
    if (!(toGranularity(object.uploaded, condition) > toGranularity(uploadedAfter, condition)))
      return "uploadedAfter";
  }
  return findFailedIdentityClause(condition, object);
}

function findFailedIdentityClause(condition: Condition, { uploaded, size }: Subject): Clause | undefined {
  const { uploadedAt = uploaded } = condition;
  if (toGranularity(uploaded, condition) !== toGranularity(uploadedAt, condition)) return "uploadedAt";
  return condition.size === undefined || condition.size === size ? undefined : "size";
}

/** Evaluates a write to a missing key: only clauses that require an existing object fail. */
export function findFailedClauseWhenMissing(condition: Condition): Clause | undefined {
  if (condition.etagMatches !== undefined) return "etagMatches";
  if (condition.uploadedAfter !== undefined) return "uploadedAfter";
  if (condition.uploadedAt !== undefined) return "uploadedAt";
  if (condition.size !== undefined) return "size";
  return undefined;
}

function strongMatch(expected: EtagCondition, etag: string): boolean {
  return expected === "*" || expected.some((tag) => !tag.weak && tag.value === etag);
}

function weakMatch(expected: EtagCondition, etag: string): boolean {
  return expected === "*" || expected.some((tag) => tag.value === etag);
}

function wasBefore(uploaded: number, date: number, condition: Condition): boolean {
  const [actual, limit] = [toGranularity(uploaded, condition), toGranularity(date, condition)];
  return condition.beforeIsInclusive === true ? actual <= limit : actual < limit;
}

function toGranularity(time: number, condition: Condition): number {
  return condition.secondsGranularity === true ? Math.floor(time / 1000) : time;
}
