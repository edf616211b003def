// ACLs in the headers of requests. A canned ACL is accepted and has no effect, because many clients
// send one by default. Grants to others are refused: their sender expects that somebody gets access.
import type { Bucket } from "../../model/bucket.ts";
import { S3Error } from "../errors.ts";

const publicAcls: ReadonlySet<string> = new Set(["public-read", "public-read-write", "authenticated-read"]);
const cannedAcls: ReadonlySet<string> = new Set([
  ...publicAcls,
  ...["private", "aws-exec-read", "bucket-owner-read", "bucket-owner-full-control"],
]);

export function aclNotSupported(): S3Error {
  return new S3Error("AccessControlListNotSupported");
}

/** Checks an `x-amz-acl` or `x-amz-grant-` header. */
export function checkAclHeader(name: string, value: string, bucket: Bucket | undefined): void {
  if (name.startsWith("x-amz-grant-")) throw aclNotSupported();
  if (name !== "x-amz-acl") return;
  if (!cannedAcls.has(value)) {
    throw new S3Error("InvalidArgument", { details: { ArgumentName: name, ArgumentValue: value } });
  }
  if (bucket?.settings.publicAccessBlock?.blockPublicAcls === true) refusePublicAcl(value);
  if (bucket?.settings.ownership === "enforced" && value !== "bucket-owner-full-control") {
    throw aclNotSupported();
  }
}

/** Throws AccessDenied, as a public access block does. */
export function refusePublicAcl(acl: string | undefined): void {
  if (isPublicAcl(acl)) throw new S3Error("AccessDenied");
}

export function isPublicAcl(acl: string | undefined): boolean {
  return acl !== undefined && publicAcls.has(acl);
}
