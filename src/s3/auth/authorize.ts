// Who may do what: asked once, in one place, before a condition is looked at or a body read.
import type { Engine } from "../../engine/engine.ts";
import type { Bucket, BucketRecord } from "../../model/bucket.ts";
import { S3Error } from "../errors.ts";
import type { Operation } from "../operation.ts";
import { type CredentialInfo, toOwner } from "./credentials.ts";
import { allows, allowsOnBucket, type Right } from "./grants.ts";

export type Caller = Pick<CredentialInfo, "accessKeyId" | "account" | "grants">;

/** A key reaches what its account owns, as far as its grants go, and of others what is granted by name. */
export function canAccess({ account, grants }: Caller, bucket: BucketRecord, right: Right): boolean {
  return allowsOnBucket(grants, bucket, right, bucket.account === account);
}

/** Whether the key may do something in the bucket, so that a listing shows it. */
export function canSeeBucket(caller: Caller, bucket: BucketRecord): boolean {
  return (["read", "write", "list"] as const).some((right) => canAccess(caller, bucket, right));
}

/** The bucket, when the caller may do this to it. Who may not reach a bucket learns only that it is there. */
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

/** The bucket the operation is in, unless it is about the account as a whole. */
export async function authorize(
  engine: Engine,
  caller: Caller,
  operation: Operation,
  expectedOwner?: string,
): Promise<Bucket | undefined> {
  const { requires, bucket, name } = operation;
  if (requires === "account") {
    // A key that was given a few buckets makes no others.
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
