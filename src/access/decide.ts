// Decides whether a caller may do something, in one place for every front end. What neither a grant
// nor the bucket's policy allows is denied, and what the policy denies is denied.
import type { Bucket, BucketRecord } from "../model/bucket.ts";
import {
  canCreateBucket,
  coversTarget,
  type Grant,
  includesRight,
  isGrantOn,
  type Right,
  type Target,
} from "./grants.ts";
import type { KeyLimits } from "./keys/key-rates.ts";
import { cachedPolicy } from "./policy/cache.ts";
import type { FindValues } from "./policy/conditions.ts";
import { evaluatePolicy, mayAllow, type PolicyEffect } from "./policy/evaluate.ts";
import type { SessionPolicy } from "./policy/policy.ts";
import { isPublicPolicy } from "./policy/public-status.ts";
import type { Work } from "./policy/work.ts";

export interface Caller {
  /** For temporary credentials, the access key or the role that they belong to. */
  readonly accessKeyId: string;
  readonly account: string;
  /** Undefined: full access to the account. */
  readonly grants: readonly Grant[] | undefined;
  /** Limits of temporary credentials: these grants must allow the request too. */
  readonly scope?: Scope | undefined;
  /** Rates of the access key, or of the one that assumed the role. Undefined: no limits. */
  readonly limits?: KeyLimits | undefined;
  /** The access key that assumed the role: requests count for its rates. */
  readonly source?: string | undefined;
  readonly isAnonymous?: true | undefined;
  /** The access key id of temporary credentials. */
  readonly temporaryId?: string | undefined;
}

/** The caller of a request without a signature. Only a policy can allow it something. */
export const anonymous: Caller = { accessKeyId: "", account: "", grants: [], isAnonymous: true };

export interface Scope {
  /** Undefined: all that the parent may do. */
  readonly grants?: readonly Grant[] | undefined;
  /** Milliseconds since the epoch. A grant is not for a bucket that was created later. */
  readonly issued: number;
  /** Names of the permitted operations. Undefined: all that the grants allow. */
  readonly operations?: ReadonlySet<string> | undefined;
  /** The policy of the session must allow the request too. */
  readonly policy?: SessionPolicy | undefined;
}

/** What a caller wants to do in a bucket. */
export interface AccessRequest {
  /** Name of the operation. */
  readonly operation: string;
  readonly right: Right;
  readonly target: Target;
  /** Whether the right to append suffices if the object does not exist yet. */
  readonly canAppend: boolean;
  /** Actions in policies: all of them must be allowed, and none denied. */
  readonly actions: readonly string[];
  /** Budget that several decisions of a request share. Default: one of this decision. */
  readonly work?: Work | undefined;
}

/** "create only": the caller may do it only if it replaces no object. */
export type Decision = "allowed" | "create only" | "denied";

/** `values` are those of the request for conditions of a policy. */
export function decide(caller: Caller, bucket: Bucket, request: AccessRequest, values: FindValues): Decision {
  const isOwn = bucket.account === caller.account;
  const { policy } = bucket.settings;
  const effect = policy === undefined ? "neutral" : policyEffect(caller, bucket, request, values);
  if (effect === "deny") return "denied";
  const decision = effect === "allow" ? "allowed" : decideByGrants(caller.grants, bucket, request, isOwn);
  const { scope } = caller;
  if (scope === undefined || decision === "denied") return decision;
  const { grants, operations, issued } = scope;
  if (operations !== undefined && !operations.has(request.operation)) return "denied";
  if (!isAllowedBySession(caller, bucket, request, values)) return "denied";
  if (grants === undefined) return decision;
  const limited = decideByGrants(grants, bucket, request, isOwn, issued);
  return limited === "allowed" ? decision : limited;
}

/** What a caller wants to do outside of existing buckets. */
export interface AccountRequest {
  readonly operation: string;
  readonly action: string;
  /** The bucket to create. Undefined: no bucket. */
  readonly bucket?: string | undefined;
}

/** Whether the caller may do something in its account. A key with grants needs one on a new bucket. */
export function mayOnAccount(caller: Caller, request: AccountRequest, values: FindValues): boolean {
  const { operation, action, bucket } = request;
  if (caller.isAnonymous === true) return false;
  const { grants, scope } = caller;
  if (bucket !== undefined && !canCreateBucket(grants, bucket)) return false;
  if (scope === undefined) return true;
  if (scope.operations !== undefined && !scope.operations.has(operation)) return false;
  if (bucket !== undefined && !canCreateBucket(scope.grants, bucket)) return false;
  const { policy } = scope;
  if (policy === undefined) return true;
  const asked = { caller, actions: [action], resource: bucket ?? "*", values };
  return evaluatePolicy(policy, asked) === "allow";
}

/** Whether conditions of a policy may decide, so that the values of the request are needed. */
export function isUnderPolicy({ scope }: Caller, { settings }: Bucket): boolean {
  return settings.policy !== undefined || scope?.policy !== undefined;
}

/** Whether one of the policies about the caller in the bucket asks for tags. */
export function usesTags(
  { scope }: Caller,
  { name, settings }: Bucket,
  kind: "usesExistingTags" | "usesRequestTags",
): boolean {
  if (scope?.policy?.[kind] === true) return true;
  const policy = settings.policy === undefined ? "invalid" : cachedPolicy(settings.policy, name);
  return policy !== "invalid" && policy[kind];
}

function isAllowedBySession(
  caller: Caller,
  { name, created }: Bucket,
  { operation, target, actions, work }: AccessRequest,
  values: FindValues,
): boolean {
  const { policy, issued } = caller.scope!;
  if (policy === undefined) return true;
  // A policy that names a bucket is not about a later bucket of the same name.
  if (created > issued && policy.namedBuckets.has(name)) return false;
  // The keys are decided one by one.
  if (operation === "DeleteObjects") return mayAllow(policy, caller, actions);
  const resource = target.kind === "object" ? `${name}/${target.key}` : name;
  return evaluatePolicy(policy, { caller, actions, resource, values, work }) === "allow";
}

const policyOperations = ["GetBucketPolicy", "PutBucketPolicy", "DeleteBucketPolicy"];

function policyEffect(
  caller: Caller,
  bucket: Bucket,
  request: AccessRequest,
  values: FindValues,
): PolicyEffect {
  const { name, settings } = bucket;
  const isRestricted = settings.publicAccessBlock?.restrictPublicBuckets === true;
  // Not left to the classification of the policy: under the block, no policy allows it.
  if (isRestricted && caller.isAnonymous === true) return "deny";
  const isOwn = bucket.account === caller.account;
  // Otherwise a policy that denies everything could never be replaced.
  const isOwner = isOwn && caller.grants === undefined && caller.scope === undefined;
  const isAboutPolicy = policyOperations.includes(request.operation);
  if (isOwner && isAboutPolicy) return "neutral";
  const policy = cachedPolicy(settings.policy!, name);
  if (policy === "invalid") return "deny";
  const { target, actions, work } = request;
  // A policy gives itself to no other account, and an anonymous caller never changes the bucket.
  const canBeAllowed =
    !(isRestricted && !isOwn && isPublicPolicy(policy)) &&
    !(isAboutPolicy && !isOwn) &&
    !(caller.isAnonymous === true && target.kind === "bucket" && request.right === "admin");
  if (request.operation === "DeleteObjects") {
    return canBeAllowed && mayAllow(policy, caller, actions) ? "allow" : "neutral";
  }
  const resource = target.kind === "object" ? `${name}/${target.key}` : name;
  const effect = evaluatePolicy(policy, { caller, actions, resource, values, work });
  return effect === "allow" && !canBeAllowed ? "neutral" : effect;
}

/** Without grants, a key has full access to its account. Other buckets need a grant by name. */
function decideByGrants(
  grants: readonly Grant[] | undefined,
  bucket: BucketRecord,
  { right, target, canAppend }: AccessRequest,
  isOwn: boolean,
  issued?: number,
): Decision {
  if (grants === undefined) return isOwn ? "allowed" : "denied";
  let canCreate = false;
  for (const grant of grants) {
    if (!isFor(grant, bucket, isOwn, issued) || !coversTarget(grant, target)) continue;
    if (includesRight(grant, right)) return "allowed";
    canCreate ||= canAppend && grant.rights.includes("append");
  }
  return canCreate ? "create only" : "denied";
}

/** Session tokens do not know the identity of a bucket, so their time tells a later bucket apart. */
function isFor(
  grant: Grant,
  bucket: BucketRecord,
  isOwn: boolean,
  issued = Number.POSITIVE_INFINITY,
): boolean {
  return grant.bucket === "*" ? isOwn : isGrantOn(grant, bucket) && bucket.created <= issued;
}

/** Whether the caller has any right on any part of the bucket, so that a list of buckets shows it. */
export function canSeeBucket(caller: Caller, bucket: BucketRecord): boolean {
  const isOwn = bucket.account === caller.account;
  const hasGrant = (grants: readonly Grant[] | undefined, issued?: number) =>
    grants === undefined ? isOwn : grants.some((grant) => isFor(grant, bucket, isOwn, issued));
  const { grants, scope } = caller;
  return hasGrant(grants) && (scope === undefined || hasGrant(scope.grants, scope.issued));
}
