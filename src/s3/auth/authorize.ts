// Who may do what: asked once, in one place, before a condition is looked at or a body read.
import type { Engine } from "../../engine/engine.ts";
import type { Bucket, BucketRecord } from "../../model/bucket.ts";
import { S3Error } from "../errors.ts";
import type { Operation } from "../operation.ts";
import { type CredentialInfo, ownerOf } from "./credentials.ts";
import { allows, allowsOn, type Right } from "./grants.ts";

export type Caller = Pick<CredentialInfo, "accessKeyId" | "account" | "grants">;

/** A key reaches what its account owns, as far as its grants go, and of others what is granted by name. */
export function mayReach({ account, grants }: Caller, bucket: BucketRecord, right: Right): boolean {
  return allowsOn(grants, bucket, right, bucket.account === account);
}

/** Whether the key may do something in the bucket, so that a listing shows it. */
export function seesBucket(caller: Caller, bucket: BucketRecord): boolean {
  return (["read", "write", "list"] as const).some((right) => mayReach(caller, bucket, right));
}

/** The bucket, when the caller may do this to it. Who may not reach a bucket learns only that it is there. */
export async function reach(engine: Engine, caller: Caller, name: string, right: Right): Promise<Bucket> {
  const bucket = await engine.bucket(name);
  if (bucket === undefined) throw new S3Error("NoSuchBucket", { details: { BucketName: name } });
  if (!mayReach(caller, bucket, right)) throw new S3Error("AccessDenied");
  return bucket;
}

/** The bucket the operation is in, unless it is about the account as a whole. */
export async function authorize(
  engine: Engine,
  caller: Caller,
  operation: Operation,
  expectedOwner?: string,
): Promise<Bucket | undefined> {
  const { takes, bucket, name } = operation;
  if (takes === "account") {
    // A key that was given a few buckets makes no others.
    if (name === "CreateBucket" && !allows(caller.grants, bucket, "admin")) throw new S3Error("AccessDenied");
    return undefined;
  }
  const reached = await reach(engine, caller, bucket, takes === "form" ? "write" : takes);
  if (expectedOwner !== undefined && expectedOwner !== ownerOf(reached.account).id) {
    throw new S3Error("AccessDenied");
  }
  return reached;
}
