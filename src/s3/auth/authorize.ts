// Authorizes a request, before its conditions are evaluated or its body is read.
import type { Engine } from "../../engine/engine.ts";
import type { Bucket, BucketRecord } from "../../model/bucket.ts";
import { S3Error } from "../errors.ts";
import type { Operation } from "../operation.ts";
import { type CredentialInfo, toOwner } from "./credentials.ts";
import { allows, allowsOnBucket, type Right } from "./grants.ts";

export type Caller = Pick<CredentialInfo, "accessKeyId" | "account" | "grants">;

/** Without grants, a key has full access to its account. Other buckets need a grant by name. */
export function canAccess({ account, grants }: Caller, bucket: BucketRecord, right: Right): boolean {
  return allowsOnBucket(grants, bucket, right, bucket.account === account);
}

/** Whether ListBuckets shows the bucket: the caller needs any right on it. */
export function canSeeBucket(caller: Caller, bucket: BucketRecord): boolean {
  return (["read", "write", "list"] as const).some((right) => canAccess(caller, bucket, right));
}

/** Returns the bucket if the caller has this right on it; otherwise throws AccessDenied. */
export async function requireAccess(
  engine: Engine,
  caller: Caller,
  name: string,
  right: Right,
): Promise<Bucket> {
  const bucket = await engine.bucket(name);
  if (bucket === undefined) throw new S3Error("NoSuchBucket", { details: { BucketName: name } });
  if (!canAccess(caller, bucket, right)) throw new S3Error("AccessDenied");
  return bucket;
}

/** Returns the bucket of the operation; undefined for operations on the account. */
export async function authorize(
  engine: Engine,
  caller: Caller,
  operation: Operation,
  expectedOwner?: string,
): Promise<Bucket | undefined> {
  const { requires, bucket, name } = operation;
  if (requires === "account") {
    // A key with grants can create a bucket only if a grant gives it the admin right on that name.
    if (name === "CreateBucket" && !allows(caller.grants, bucket, "admin")) throw new S3Error("AccessDenied");
    return undefined;
  }
  const authorizedBucket = await requireAccess(
    engine,
    caller,
    bucket,
    requires === "form" ? "write" : requires,
  );
  if (expectedOwner !== undefined && expectedOwner !== toOwner(authorizedBucket.account).id) {
    throw new S3Error("AccessDenied");
  }
  return authorizedBucket;
}
