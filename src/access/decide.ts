// Decides whether a caller may do something, in one place for every front end. What no grant allows
// is denied.
import type { BucketRecord } from "../model/bucket.ts";
import { coversTarget, type Grant, includesRight, isGrantOn, type Right, type Target } from "./grants.ts";

export interface Caller {
  /** For temporary credentials, the access key or the role that they belong to. */
  readonly accessKeyId: string;
  readonly account: string;
  /** Undefined: full access to the account. */
  readonly grants: readonly Grant[] | undefined;
  /** Limits of temporary credentials: these grants must allow the request too. */
  readonly scope?: Scope | undefined;
  /** The access key id of temporary credentials. */
  readonly temporaryId?: string | undefined;
}

export interface Scope {
  readonly grants: readonly Grant[];
  /** Names of the permitted operations. Undefined: all that the grants allow. */
  readonly operations?: ReadonlySet<string> | undefined;
}

/** What a caller wants to do in a bucket. */
export interface AccessRequest {
  /** Name of the operation. */
  readonly operation: string;
  readonly right: Right;
  readonly target: Target;
  /** Whether the right to append suffices if the object does not exist yet. */
  readonly canAppend: boolean;
}

/** "create only": the caller may do it only if it replaces no object. */
export type Decision = "allowed" | "create only" | "denied";

export function decide(caller: Caller, bucket: BucketRecord, request: AccessRequest): Decision {
  const isOwn = bucket.account === caller.account;
  const decision = decideByGrants(caller.grants, bucket, request, isOwn);
  const { scope } = caller;
  if (scope === undefined || decision === "denied") return decision;
  if (scope.operations !== undefined && !scope.operations.has(request.operation)) return "denied";
  const limited = decideByGrants(scope.grants, bucket, request, isOwn);
  return limited === "allowed" ? decision : limited;
}

/** Without grants, a key has full access to its account. Other buckets need a grant by name. */
function decideByGrants(
  grants: readonly Grant[] | undefined,
  bucket: BucketRecord,
  { right, target, canAppend }: AccessRequest,
  isOwn: boolean,
): Decision {
  if (grants === undefined) return isOwn ? "allowed" : "denied";
  let canCreate = false;
  for (const grant of grants) {
    const isOnBucket = grant.bucket === "*" ? isOwn : isGrantOn(grant, bucket);
    if (!isOnBucket || !coversTarget(grant, target)) continue;
    if (includesRight(grant, right)) return "allowed";
    canCreate ||= canAppend && grant.rights.includes("append");
  }
  return canCreate ? "create only" : "denied";
}

/** Whether the caller has any right on any part of the bucket, so that a list of buckets shows it. */
export function canSeeBucket(caller: Caller, bucket: BucketRecord): boolean {
  const isOwn = bucket.account === caller.account;
  const hasGrant = (grants: readonly Grant[] | undefined) =>
    grants === undefined
      ? isOwn
      : grants.some((grant) => (grant.bucket === "*" ? isOwn : isGrantOn(grant, bucket)));
  return hasGrant(caller.grants) && (caller.scope === undefined || hasGrant(caller.scope.grants));
}
