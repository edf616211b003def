// Maps each operation of the S3 API to the function that runs it.
import type { OperationHandler } from "../call.ts";
import type { OperationName } from "../operation-rights.ts";
import { getObjectAttributes } from "./attributes.ts";
import * as encryption from "./bucket-encryption.ts";
import * as buckets from "./buckets.ts";
import { copyObject, uploadPartCopy } from "./copy.ts";
import { deleteBucketCors, getBucketCors, putBucketCors } from "./cors.ts";
import { deleteObjects } from "./delete-objects.ts";
import { deleteBucketLifecycle, getBucketLifecycle, putBucketLifecycle } from "./lifecycle.ts";
import { listObjectVersions } from "./list-versions.ts";
import { listMultipartUploads, listObjects, listObjectsV2 } from "./listing.ts";
import * as lock from "./object-lock.ts";
import { deleteObject, getObject, headObject, putObject } from "./objects.ts";
import * as acl from "./settings/acl.ts";
import * as notification from "./settings/notification.ts";
import * as policy from "./settings/policy.ts";
import * as tagging from "./tagging.ts";
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  listParts,
  uploadPart,
} from "./uploads.ts";
import { getBucketVersioning, putBucketVersioning } from "./versioning.ts";

/** The function of each operation; runs after authorization. */
export const operationHandlers: Readonly<Record<Exclude<OperationName, "PostObject">, OperationHandler>> = {
  ListBuckets: buckets.listBuckets,
  CreateBucket: buckets.createBucket,
  HeadBucket: buckets.headBucket,
  DeleteBucket: buckets.deleteBucket,
  GetBucketLocation: buckets.getBucketLocation,
  GetBucketAcl: acl.getAcl,
  PutBucketAcl: acl.putBucketAcl,
  GetBucketVersioning: getBucketVersioning,
  PutBucketVersioning: putBucketVersioning,
  GetBucketTagging: tagging.getBucketTagging,
  PutBucketTagging: tagging.putBucketTagging,
  DeleteBucketTagging: tagging.deleteBucketTagging,
  GetBucketPolicy: policy.getBucketPolicy,
  PutBucketPolicy: policy.putBucketPolicy,
  DeleteBucketPolicy: policy.deleteBucketPolicy,
  GetBucketReplication: buckets.settingNotFound("ReplicationConfigurationNotFoundError"),
  GetBucketRequestPayment: buckets.getBucketRequestPayment,
  GetObjectLockConfiguration: lock.getObjectLockConfiguration,
  PutObjectLockConfiguration: lock.putObjectLockConfiguration,
  GetBucketEncryption: encryption.getBucketEncryption,
  PutBucketEncryption: encryption.putBucketEncryption,
  DeleteBucketEncryption: encryption.deleteBucketEncryption,
  GetPublicAccessBlock: policy.getPublicAccessBlock,
  PutPublicAccessBlock: policy.putPublicAccessBlock,
  DeletePublicAccessBlock: policy.deletePublicAccessBlock,
  GetBucketOwnershipControls: acl.getBucketOwnershipControls,
  PutBucketOwnershipControls: acl.putBucketOwnershipControls,
  DeleteBucketOwnershipControls: acl.deleteBucketOwnershipControls,
  GetBucketNotification: notification.getBucketNotification,
  PutBucketNotification: notification.putBucketNotification,
  GetBucketLogging: buckets.emptySetting("BucketLoggingStatus"),
  GetBucketWebsite: buckets.settingNotFound("NoSuchWebsiteConfiguration"),
  GetBucketAccelerate: buckets.emptySetting("AccelerateConfiguration"),
  GetBucketPolicyStatus: policy.getBucketPolicyStatus,
  GetBucketCors: getBucketCors,
  PutBucketCors: putBucketCors,
  DeleteBucketCors: deleteBucketCors,
  GetBucketLifecycle: getBucketLifecycle,
  PutBucketLifecycle: putBucketLifecycle,
  DeleteBucketLifecycle: deleteBucketLifecycle,
  ListObjects: listObjects,
  ListObjectsV2: listObjectsV2,
  ListObjectVersions: listObjectVersions,
  ListMultipartUploads: listMultipartUploads,
  DeleteObjects: deleteObjects,
  GetObject: getObject,
  HeadObject: headObject,
  GetObjectAttributes: getObjectAttributes,
  GetObjectAcl: acl.getAcl,
  PutObjectAcl: acl.putObjectAcl,
  GetObjectTagging: tagging.getObjectTagging,
  PutObjectTagging: tagging.putObjectTagging,
  DeleteObjectTagging: tagging.deleteObjectTagging,
  GetObjectRetention: lock.getObjectRetention,
  PutObjectRetention: lock.putObjectRetention,
  GetObjectLegalHold: lock.getObjectLegalHold,
  PutObjectLegalHold: lock.putObjectLegalHold,
  PutObject: putObject,
  CopyObject: copyObject,
  DeleteObject: deleteObject,
  CreateMultipartUpload: createMultipartUpload,
  UploadPart: uploadPart,
  UploadPartCopy: uploadPartCopy,
  CompleteMultipartUpload: completeMultipartUpload,
  AbortMultipartUpload: abortMultipartUpload,
  ListParts: listParts,
};
