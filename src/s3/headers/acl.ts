// ACLs in the headers of requests. Only those that give nobody but the owner access are accepted.
import type { Bucket } from "../../model/bucket.ts";
import { S3Error } from "../errors.ts";

const acceptedAcls = ["private", "bucket-owner-full-control"];

export function aclNotSupported(): S3Error {
  return new S3Error("AccessControlListNotSupported");
}

const publicAcls = ["public-read", "public-read-write", "authenticated-read"];

/** Checks an `x-amz-acl` or `x-amz-grant-` header. */
export function checkAclHeader(name: string, value: string, bucket: Bucket | undefined): void {
  if (name.startsWith("x-amz-grant-")) throw aclNotSupported();
  if (name !== "x-amz-acl" || acceptedAcls.includes(value)) return;
  const isBlocked = bucket?.settings.publicAccessBlock?.blockPublicAcls === true;
  throw isBlocked && publicAcls.includes(value) ? new S3Error("AccessDenied") : aclNotSupported();
}
