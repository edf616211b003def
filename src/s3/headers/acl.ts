// ACLs in the headers of requests. Only those that give nobody but the owner access are accepted.
import { S3Error } from "../errors.ts";

const acceptedAcls = ["private", "bucket-owner-full-control"];

export function aclNotSupported(): S3Error {
  return new S3Error("AccessControlListNotSupported");
}

/** Checks an `x-amz-acl` or `x-amz-grant-` header. */
export function checkAclHeader(name: string, value: string): void {
  if (name.startsWith("x-amz-grant-")) throw aclNotSupported();
  if (name === "x-amz-acl" && !acceptedAcls.includes(value)) throw aclNotSupported();
}
