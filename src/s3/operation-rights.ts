// The right that each operation needs, what it concerns, and its name in bucket policies.
import type { AccessRequest } from "../access/decide.ts";
import type { Right, Target } from "../access/grants.ts";

interface OperationRight {
  /** "account": an operation on no existing bucket. */
  readonly on: Target["kind"] | "account";
  readonly right: Right;
  /** The action in bucket policies, for a request without a version. */
  readonly action: string;
  /** Whether the right to append suffices if the object does not exist yet. */
  readonly canAppend?: true;
}

export const operationRights = {
  ListBuckets: { on: "account", right: "list", action: "s3:ListAllMyBuckets" },
  CreateBucket: { on: "account", right: "admin", action: "s3:CreateBucket" },
  HeadBucket: { on: "part", right: "list", action: "s3:ListBucket" },
  DeleteBucket: { on: "bucket", right: "admin", action: "s3:DeleteBucket" },
  GetBucketLocation: { on: "part", right: "list", action: "s3:GetBucketLocation" },
  GetBucketAcl: { on: "bucket", right: "list", action: "s3:GetBucketAcl" },
  GetBucketVersioning: { on: "bucket", right: "list", action: "s3:GetBucketVersioning" },
  PutBucketVersioning: { on: "bucket", right: "admin", action: "s3:PutBucketVersioning" },
  GetBucketTagging: { on: "bucket", right: "list", action: "s3:GetBucketTagging" },
  PutBucketTagging: { on: "bucket", right: "admin", action: "s3:PutBucketTagging" },
  DeleteBucketTagging: { on: "bucket", right: "admin", action: "s3:PutBucketTagging" },
  GetBucketPolicy: { on: "bucket", right: "list", action: "s3:GetBucketPolicy" },
  GetBucketReplication: { on: "bucket", right: "list", action: "s3:GetReplicationConfiguration" },
  GetBucketRequestPayment: { on: "bucket", right: "list", action: "s3:GetBucketRequestPayment" },
  GetObjectLockConfiguration: { on: "bucket", right: "list", action: "s3:GetBucketObjectLockConfiguration" },
  PutObjectLockConfiguration: { on: "bucket", right: "admin", action: "s3:PutBucketObjectLockConfiguration" },
  GetBucketEncryption: { on: "bucket", right: "list", action: "s3:GetEncryptionConfiguration" },
  PutBucketEncryption: { on: "bucket", right: "admin", action: "s3:PutEncryptionConfiguration" },
  DeleteBucketEncryption: { on: "bucket", right: "admin", action: "s3:PutEncryptionConfiguration" },
  GetPublicAccessBlock: { on: "bucket", right: "list", action: "s3:GetBucketPublicAccessBlock" },
  GetBucketOwnershipControls: { on: "bucket", right: "list", action: "s3:GetBucketOwnershipControls" },
  GetBucketNotification: { on: "bucket", right: "list", action: "s3:GetBucketNotification" },
  GetBucketLogging: { on: "bucket", right: "list", action: "s3:GetBucketLogging" },
  GetBucketWebsite: { on: "bucket", right: "list", action: "s3:GetBucketWebsite" },
  GetBucketAccelerate: { on: "bucket", right: "list", action: "s3:GetAccelerateConfiguration" },
  GetBucketPolicyStatus: { on: "bucket", right: "list", action: "s3:GetBucketPolicyStatus" },
  GetBucketCors: { on: "bucket", right: "admin", action: "s3:GetBucketCORS" },
  PutBucketCors: { on: "bucket", right: "admin", action: "s3:PutBucketCORS" },
  DeleteBucketCors: { on: "bucket", right: "admin", action: "s3:PutBucketCORS" },
  GetBucketLifecycle: { on: "bucket", right: "admin", action: "s3:GetLifecycleConfiguration" },
  PutBucketLifecycle: { on: "bucket", right: "admin", action: "s3:PutLifecycleConfiguration" },
  DeleteBucketLifecycle: { on: "bucket", right: "admin", action: "s3:PutLifecycleConfiguration" },
  ListObjects: { on: "listing", right: "list", action: "s3:ListBucket" },
  ListObjectsV2: { on: "listing", right: "list", action: "s3:ListBucket" },
  ListObjectVersions: { on: "listing", right: "list", action: "s3:ListBucketVersions" },
  ListMultipartUploads: { on: "listing", right: "list", action: "s3:ListBucketMultipartUploads" },
  DeleteObjects: { on: "part", right: "delete", action: "s3:DeleteObject" },
  PostObject: { on: "object", right: "write", action: "s3:PutObject", canAppend: true },
  GetObject: { on: "object", right: "read", action: "s3:GetObject" },
  HeadObject: { on: "object", right: "read", action: "s3:GetObject" },
  GetObjectAttributes: { on: "object", right: "read", action: "s3:GetObjectAttributes" },
  GetObjectAcl: { on: "object", right: "read", action: "s3:GetObjectAcl" },
  GetObjectTagging: { on: "object", right: "read", action: "s3:GetObjectTagging" },
  PutObjectTagging: { on: "object", right: "write", action: "s3:PutObjectTagging" },
  DeleteObjectTagging: { on: "object", right: "write", action: "s3:DeleteObjectTagging" },
  GetObjectRetention: { on: "object", right: "read", action: "s3:GetObjectRetention" },
  PutObjectRetention: { on: "object", right: "write", action: "s3:PutObjectRetention" },
  GetObjectLegalHold: { on: "object", right: "read", action: "s3:GetObjectLegalHold" },
  PutObjectLegalHold: { on: "object", right: "write", action: "s3:PutObjectLegalHold" },
  PutObject: { on: "object", right: "write", action: "s3:PutObject", canAppend: true },
  CopyObject: { on: "object", right: "write", action: "s3:PutObject", canAppend: true },
  DeleteObject: { on: "object", right: "delete", action: "s3:DeleteObject" },
  CreateMultipartUpload: { on: "object", right: "write", action: "s3:PutObject", canAppend: true },
  UploadPart: { on: "object", right: "write", action: "s3:PutObject", canAppend: true },
  UploadPartCopy: { on: "object", right: "write", action: "s3:PutObject", canAppend: true },
  CompleteMultipartUpload: { on: "object", right: "write", action: "s3:PutObject", canAppend: true },
  AbortMultipartUpload: { on: "object", right: "write", action: "s3:AbortMultipartUpload", canAppend: true },
  ListParts: { on: "object", right: "write", action: "s3:ListMultipartUploadParts", canAppend: true },
} as const satisfies Readonly<Record<string, OperationRight>>;

export type OperationName = keyof typeof operationRights;
export const operationNames = Object.keys(operationRights) as OperationName[];

/** Returns what the operation asks for, on a key or on the keys with a prefix. */
export function toAccessRequest(
  name: Exclude<OperationName, "ListBuckets" | "CreateBucket">,
  { key = "", prefix = "" }: { readonly key?: string; readonly prefix?: string | undefined } = {},
): AccessRequest {
  const { on, right, ...rest }: OperationRight & { on: Target["kind"] } = operationRights[name];
  const target: Target =
    on === "object" ? { kind: on, key } : on === "listing" ? { kind: on, prefix } : { kind: on };
  return { operation: name, right, target, canAppend: rest.canAppend === true };
}
