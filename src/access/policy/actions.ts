// The actions that policies can name, and whether each concerns the bucket or its objects.

/** Also actions of S3 that no operation here asks for, so that common policies are accepted. */
const bucketActions = (
  "ListBucket ListBucketVersions ListBucketMultipartUploads DeleteBucket CreateBucket GetBucketLocation " +
  "GetBucketAcl PutBucketAcl GetBucketVersioning PutBucketVersioning GetBucketTagging PutBucketTagging " +
  "GetBucketPolicy PutBucketPolicy DeleteBucketPolicy GetBucketPolicyStatus GetBucketPublicAccessBlock " +
  "PutBucketPublicAccessBlock GetReplicationConfiguration PutReplicationConfiguration GetBucketRequestPayment " +
  "PutBucketRequestPayment GetBucketObjectLockConfiguration PutBucketObjectLockConfiguration " +
  "GetEncryptionConfiguration PutEncryptionConfiguration GetBucketOwnershipControls PutBucketOwnershipControls " +
  "GetBucketNotification PutBucketNotification GetBucketLogging PutBucketLogging GetBucketWebsite PutBucketWebsite " +
  "DeleteBucketWebsite GetAccelerateConfiguration PutAccelerateConfiguration GetBucketCORS PutBucketCORS " +
  "GetLifecycleConfiguration PutLifecycleConfiguration GetInventoryConfiguration PutInventoryConfiguration " +
  "GetMetricsConfiguration PutMetricsConfiguration GetAnalyticsConfiguration PutAnalyticsConfiguration " +
  "GetIntelligentTieringConfiguration PutIntelligentTieringConfiguration"
).split(" ");
const objectActions = (
  "GetObject GetObjectVersion GetObjectAcl GetObjectVersionAcl PutObjectAcl PutObjectVersionAcl GetObjectTagging " +
  "GetObjectVersionTagging PutObjectTagging PutObjectVersionTagging DeleteObjectTagging " +
  "DeleteObjectVersionTagging GetObjectAttributes GetObjectVersionAttributes GetObjectRetention " +
  "PutObjectRetention GetObjectLegalHold PutObjectLegalHold BypassGovernanceRetention PutObject DeleteObject " +
  "DeleteObjectVersion AbortMultipartUpload ListMultipartUploadParts RestoreObject GetObjectTorrent " +
  "GetObjectVersionTorrent GetObjectVersionForReplication ReplicateObject ReplicateDelete ReplicateTags " +
  "ObjectOwnerOverrideToBucketOwner"
).split(" ");

export type ActionTarget = "bucket" | "object";

/** The action on no bucket, which only the policy of a session can name. */
export const listBucketsAction = "s3:ListAllMyBuckets";

/** Action names in lowercase, because policies may write them in any case. */
export const knownActions: ReadonlyMap<string, ActionTarget> = new Map([
  ...bucketActions.map((name) => [`s3:${name.toLowerCase()}`, "bucket"] as const),
  ...objectActions.map((name) => [`s3:${name.toLowerCase()}`, "object"] as const),
]);

/** Whether a text, such as `kms:Decrypt`, is the action of another service than S3. */
export function isForeignAction(text: string): boolean {
  return /^(?!s3:)[a-z0-9-]+:[a-z0-9*?]+$/i.test(text);
}

/** Whether a text, such as `arn:aws:kms:us-east-1:123:key/abc`, is a resource of another service than S3. */
export function isForeignResource(text: string): boolean {
  return /^arn:[a-z-]+:(?!s3:)[a-z0-9-]+:/.test(text);
}
