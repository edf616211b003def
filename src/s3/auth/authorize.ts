// Authorizes a request, before its conditions are evaluated or its body is read.
import {
  type AccessRequest,
  type Caller,
  type Decision,
  decide,
  isUnderPolicy,
  mayOnAccount,
  usesTags,
} from "../../access/decide.ts";
import { toOwner } from "../../access/keys/credentials.ts";
import type { Work } from "../../access/policy/work.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Bucket } from "../../model/bucket.ts";
import { S3Error } from "../errors.ts";
import { type Operation, readsPast } from "../operation.ts";
import {
  type BucketOperationName,
  operationRights,
  type RequestTarget,
  toAccessRequest,
} from "../operation-rights.ts";
import { type ConditionSource, createFindValues } from "./policy-values.ts";

/** The permission to run an operation. */
export interface Authorization {
  /** Undefined for operations on the account. */
  readonly bucket: Bucket | undefined;
  /** False if the caller may create objects but not overwrite them. */
  readonly canOverwrite: boolean;
}

/** Who asks, and the request that a policy's conditions are about. */
export interface AccessContext {
  readonly engine: Pick<Engine, "bucket" | "head">;
  readonly caller: Caller;
  readonly request: ConditionSource;
  readonly now: () => number;
  /** Whether every bucket has a full public access block. */
  readonly blocksPublicAccess?: boolean | undefined;
  /** Budget of all decisions about policies together. Default: one for each decision. */
  readonly work?: Work | undefined;
}

/** What is asked for in the bucket. */
export interface Wanted extends Omit<RequestTarget, "header"> {
  readonly name: BucketOperationName;
  /** Tags that the request sets, if they are not in a header. */
  readonly requestTags?: ReadonlyMap<string, string> | undefined;
  /** Overrides the right or the actions of the operation. */
  readonly needs?: Partial<ReturnType<typeof toAccessRequest>> | undefined;
}

/** Returns the bucket if the caller may do this in it; otherwise throws AccessDenied. */
export async function requireAccess(
  context: AccessContext,
  bucketName: string,
  wanted: Wanted,
): Promise<{ readonly bucket: Bucket; readonly canOverwrite: boolean }> {
  const bucket = await requireBucket(context, bucketName);
  const decision = await decideAccess(context, bucket, wanted);
  if (decision === "denied") throw new S3Error("AccessDenied");
  return { bucket, canOverwrite: decision === "allowed" };
}

const fullBlock = {
  blockPublicAcls: true,
  ignorePublicAcls: true,
  blockPublicPolicy: true,
  restrictPublicBuckets: true,
} as const;

async function requireBucket(context: AccessContext, name: string): Promise<Bucket> {
  const { engine, caller, blocksPublicAccess } = context;
  const bucket = await engine.bucket(name);
  if (bucket !== undefined) {
    if (blocksPublicAccess !== true) return bucket;
    return { ...bucket, settings: { ...bucket.settings, publicAccessBlock: fullBlock } };
  }
  // Strangers do not learn which buckets exist.
  if (caller.isAnonymous === true) throw new S3Error("AccessDenied");
  throw new S3Error("NoSuchBucket", { details: { BucketName: name } });
}

/** Whether the decision about new tags needs the document in the body: then its handler decides. */
export function usesRequestTags(caller: Caller, bucket: Bucket): boolean {
  return isUnderPolicy(caller, bucket) && usesTags(caller, bucket, "usesRequestTags");
}

const noValues = () => undefined;

/** Decides by grants and policies. Without a policy, nothing of the request is needed. */
export function decideAccess(
  context: AccessContext,
  bucket: Bucket,
  wanted: Wanted,
): Decision | Promise<Decision> {
  const { caller } = context;
  if (!isUnderPolicy(caller, bucket)) return decide(caller, bucket, toAsked(wanted, wanted), noValues);
  const { header } = context.request;
  const isPast = readsPast(wanted.name, header);
  const { key = "", prefix } = wanted;
  // A read of the past may find any version, so it needs the actions of versions.
  const version = isPast ? "" : wanted.version;
  const asked = { ...toAsked(wanted, { key, version, prefix, header }), work: context.work };
  const needsTags = asked.target.kind === "object" && usesTags(caller, bucket, "usesExistingTags");
  if (!needsTags) return decideWithValues(context, bucket, wanted, asked, undefined);
  return isPast ? "denied" : decideWithTags(context, bucket, wanted, asked);
}

function toAsked({ name, needs }: Wanted, target: RequestTarget): AccessRequest {
  const request = toAccessRequest(name, target);
  return needs === undefined ? request : { ...request, ...needs };
}

async function decideWithTags(
  context: AccessContext,
  bucket: Bucket,
  wanted: Wanted,
  asked: AccessRequest,
): Promise<Decision> {
  const { key = "", version } = wanted;
  const object = await context.engine.head(bucket.name, key, { version });
  return decideWithValues(context, bucket, wanted, asked, object?.tags);
}

function decideWithValues(
  { caller, request, now }: AccessContext,
  bucket: Bucket,
  { name, prefix, version, requestTags }: Wanted,
  asked: AccessRequest,
  existingTags: ReadonlyMap<string, string> | undefined,
): Decision {
  const values = { caller, request, operation: name, prefix, version, requestTags, existingTags, now };
  return decide(caller, bucket, asked, createFindValues(values));
}

/** As in S3, a caller who may list the bucket, but not read the key, learns that it is missing. */
async function denialOf(
  context: AccessContext,
  bucket: Bucket,
  { name, key = "" }: Wanted,
): Promise<S3Error> {
  const isRead = name === "GetObject" || name === "HeadObject";
  if (isRead && isUnderPolicy(context.caller, bucket)) {
    const mayList = (await decideAccess(context, bucket, { name: "ListObjects", prefix: key })) === "allowed";
    if (mayList && (await context.engine.head(bucket.name, key)) === undefined) {
      return new S3Error("NoSuchKey", { details: { Key: key } });
    }
  }
  return new S3Error("AccessDenied");
}

/** Whether the caller may remove a protection of the object, such as governance retention. */
export async function canRemoveProtection(
  context: AccessContext,
  bucket: Bucket,
  { key, version }: { readonly key: string; readonly version?: string | undefined },
  action = "s3:BypassGovernanceRetention",
): Promise<boolean> {
  const needs = { operation: "BypassGovernanceRetention", right: "admin", actions: [action] } as const;
  const wanted = { name: "PutObjectRetention", key, version, needs } as const;
  return (await decideAccess(context, bucket, wanted)) === "allowed";
}

export async function authorize(
  context: AccessContext,
  { name, bucket: bucketName, key, version }: Operation,
): Promise<Authorization> {
  const { caller, request } = context;
  if (name === "ListBuckets" || name === "CreateBucket") {
    const { action } = operationRights[name];
    const asked = { operation: name, action, bucket: name === "CreateBucket" ? bucketName : undefined };
    const values = { caller, request, operation: name, now: context.now };
    if (!mayOnAccount(caller, asked, createFindValues(values))) throw new S3Error("AccessDenied");
    return { bucket: undefined, canOverwrite: true };
  }
  const wanted = { name, key, version, prefix: request.query.get("prefix") };
  const bucket = await requireBucket(context, bucketName);
  const isDeferred = name === "PutObjectTagging" && usesRequestTags(caller, bucket);
  const decided = isDeferred ? "allowed" : decideAccess(context, bucket, wanted);
  // Most decisions are made at once: a turn of the event loop's queue is a measurable part of a read.
  const decision = typeof decided === "string" ? decided : await decided;
  if (decision === "denied") throw await denialOf(context, bucket, wanted);
  const expectedOwner = request.header("x-amz-expected-bucket-owner");
  if (expectedOwner !== undefined && expectedOwner !== toOwner(bucket.account).id) {
    throw new S3Error("AccessDenied");
  }
  return { bucket, canOverwrite: decision === "allowed" };
}
