// Authorizes a request, before its conditions are evaluated or its body is read.
import { type AccessRequest, type Caller, type Decision, decide } from "../../access/decide.ts";
import { canCreateBucket } from "../../access/grants.ts";
import { toOwner } from "../../access/keys/credentials.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Bucket, BucketRecord } from "../../model/bucket.ts";
import { S3Error } from "../errors.ts";
import type { Operation } from "../operation.ts";
import { toAccessRequest } from "../operation-rights.ts";
import type { S3Request } from "../request.ts";

/** The permission to run an operation. */
export interface Authorization {
  /** Undefined for operations on the account. */
  readonly bucket: Bucket | undefined;
  /** False if the caller may create objects but not overwrite them. */
  readonly canOverwrite: boolean;
}

/** Returns the bucket if the caller may do this in it; otherwise throws AccessDenied. */
export async function requireAccess(
  engine: Engine,
  caller: Caller,
  name: string,
  request: AccessRequest,
): Promise<{ readonly bucket: Bucket; readonly canOverwrite: boolean }> {
  const bucket = await engine.bucket(name);
  if (bucket === undefined) throw new S3Error("NoSuchBucket", { details: { BucketName: name } });
  const decision: Decision = decide(caller, bucket, request);
  if (decision === "denied") throw new S3Error("AccessDenied");
  return { bucket, canOverwrite: decision === "allowed" };
}

/** Whether the caller may remove a protection of the object, such as governance retention. */
export function canRemoveProtection(caller: Caller, bucket: BucketRecord, key: string): boolean {
  const target = { kind: "object", key } as const;
  const request = {
    operation: "BypassGovernanceRetention",
    right: "admin",
    target,
    canAppend: false,
  } as const;
  return decide(caller, bucket, request) === "allowed";
}

export async function authorize(
  engine: Engine,
  caller: Caller,
  { name, bucket: bucketName, key }: Operation,
  request: Pick<S3Request, "query" | "header">,
): Promise<Authorization> {
  if (name === "ListBuckets" || name === "CreateBucket") {
    // A key with grants can create a bucket only if a grant gives it the admin right on that name.
    const { grants, scope } = caller;
    const isInScope = scope?.operations === undefined || scope.operations.has(name);
    const isAllowed =
      name === "ListBuckets" ||
      (canCreateBucket(grants, bucketName) && canCreateBucket(scope?.grants, bucketName));
    if (!isAllowed || !isInScope) throw new S3Error("AccessDenied");
    return { bucket: undefined, canOverwrite: true };
  }
  const wanted = toAccessRequest(name, { key, prefix: request.query.get("prefix") });
  const authorization = await requireAccess(engine, caller, bucketName, wanted);
  const expectedOwner = request.header("x-amz-expected-bucket-owner");
  if (expectedOwner !== undefined && expectedOwner !== toOwner(authorization.bucket.account).id) {
    throw new S3Error("AccessDenied");
  }
  return authorization;
}
