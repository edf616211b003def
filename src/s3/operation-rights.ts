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
  PutBucketAcl: { on: "bucket", right: "admin", action: "s3:PutBucketAcl" },
  GetBucketVersioning: { on: "bucket", right: "list", action: "s3:GetBucketVersioning" },
  PutBucketVersioning: { on: "bucket", right: "admin", action: "s3:PutBucketVersioning" },
  GetBucketTagging: { on: "bucket", right: "list", action: "s3:GetBucketTagging" },
  PutBucketTagging: { on: "bucket", right: "admin", action: "s3:PutBucketTagging" },
  DeleteBucketTagging: { on: "bucket", right: "admin", action: "s3:PutBucketTagging" },
  GetBucketPolicy: { on: "bucket", right: "list", action: "s3:GetBucketPolicy" },
  PutBucketPolicy: { on: "bucket", right: "admin", action: "s3:PutBucketPolicy" },
  DeleteBucketPolicy: { on: "bucket", right: "admin", action: "s3:DeleteBucketPolicy" },
  GetBucketReplication: { on: "bucket", right: "list", action: "s3:GetReplicationConfiguration" },
  GetBucketRequestPayment: { on: "bucket", right: "list", action: "s3:GetBucketRequestPayment" },
  GetObjectLockConfiguration: { on: "bucket", right: "list", action: "s3:GetBucketObjectLockConfiguration" },
  PutObjectLockConfiguration: { on: "bucket", right: "admin", action: "s3:PutBucketObjectLockConfiguration" },
  GetBucketEncryption: { on: "bucket", right: "list", action: "s3:GetEncryptionConfiguration" },
  PutBucketEncryption: { on: "bucket", right: "admin", action: "s3:PutEncryptionConfiguration" },
  DeleteBucketEncryption: { on: "bucket", right: "admin", action: "s3:PutEncryptionConfiguration" },
  GetPublicAccessBlock: { on: "bucket", right: "list", action: "s3:GetBucketPublicAccessBlock" },
  PutPublicAccessBlock: { on: "bucket", right: "admin", action: "s3:PutBucketPublicAccessBlock" },
  DeletePublicAccessBlock: { on: "bucket", right: "admin", action: "s3:PutBucketPublicAccessBlock" },
  GetBucketOwnershipControls: { on: "bucket", right: "list", action: "s3:GetBucketOwnershipControls" },
  PutBucketOwnershipControls: { on: "bucket", right: "admin", action: "s3:PutBucketOwnershipControls" },
  DeleteBucketOwnershipControls: { on: "bucket", right: "admin", action: "s3:PutBucketOwnershipControls" },
  GetBucketNotification: { on: "bucket", right: "list", action: "s3:GetBucketNotification" },
  PutBucketNotification: { on: "bucket", right: "admin", action: "s3:PutBucketNotification" },
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
  PutObjectAcl: { on: "object", right: "write", action: "s3:PutObjectAcl" },
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

/** Actions of requests that name a version. */
const versionActions: Readonly<Record<string, string>> = {
  "s3:GetObject": "s3:GetObjectVersion",
  "s3:GetObjectAcl": "s3:GetObjectVersionAcl",
  "s3:PutObjectAcl": "s3:PutObjectVersionAcl",
  "s3:GetObjectAttributes": "s3:GetObjectVersionAttributes",
  "s3:GetObjectTagging": "s3:GetObjectVersionTagging",
  "s3:PutObjectTagging": "s3:PutObjectVersionTagging",
  "s3:DeleteObjectTagging": "s3:DeleteObjectVersionTagging",
  "s3:DeleteObject": "s3:DeleteObjectVersion",
  "s3:ListBucket": "s3:ListBucketVersions",
};

/** Headers that make a write do more, and the action that each needs in addition. */
const headerActions: readonly (readonly [header: string, action: string])[] = [
  ["x-amz-tagging", "s3:PutObjectTagging"],
  ["x-amz-acl", "s3:PutObjectAcl"],
  ["x-amz-object-lock-mode", "s3:PutObjectRetention"],
  ["x-amz-object-lock-legal-hold", "s3:PutObjectLegalHold"],
];

export type BucketOperationName = Exclude<OperationName, "ListBuckets" | "CreateBucket">;

export interface RequestTarget {
  readonly key?: string;
  readonly prefix?: string | undefined;
  readonly version?: string | undefined;
  readonly header?: ((name: string) => string | undefined) | undefined;
}

const noTarget: RequestTarget = {};

/** Returns what the operation asks for, on a key or on the keys with a prefix. */
export function toAccessRequest(
  name: BucketOperationName,
  { key = "", prefix = "", version, header }: RequestTarget = noTarget,
): AccessRequest {
  const operation: OperationRight & { on: Target["kind"] } = operationRights[name];
  const { on, right } = operation;
  const target: Target =
    on === "object" ? { kind: on, key } : on === "listing" ? { kind: on, prefix } : { kind: on };
  const canAppend = operation.canAppend === true;
  return { operation: name, right, target, canAppend, actions: actionsOf(name, version, header) };
}

/** Returns an operation that needs the action, also that of a version. */
export function findOperationOf(action: string): BucketOperationName | undefined {
  const given = action.toLowerCase();
  const isGiven = (one: string | undefined) => one?.toLowerCase() === given;
  return operationNames.find((name): name is BucketOperationName => {
    const { on, action: own } = operationRights[name];
    return on !== "account" && name !== "DeleteObjects" && (isGiven(own) || isGiven(versionActions[own]));
  });
}

const singleActions = new Map<OperationName, readonly string[]>(
  operationNames.map((name) => [name, [operationRights[name].action]]),
);
const readActions = { current: "s3:GetObject", version: "s3:GetObjectVersion" } as const;

function actionsOf(
  name: BucketOperationName,
  version: string | undefined,
  header: RequestTarget["header"],
): readonly string[] {
  const single = singleActions.get(name)!;
  if (name === "DeleteObjects") return ["s3:DeleteObject", "s3:DeleteObjectVersion"];
  const [action] = single as readonly [string];
  const named = version === undefined ? action : (versionActions[action] ?? action);
  if (name === "GetObjectAttributes") {
    return [named, version === undefined ? readActions.current : readActions.version];
  }
  if (action !== "s3:PutObject" || header === undefined) return named === action ? single : [named];
  const more = headerActions.flatMap(([given, needed]) => (header(given) === undefined ? [] : [needed]));
  return more.length === 0 ? single : [named, ...more];
}
