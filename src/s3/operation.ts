// Finds the operation of a request from method, path and query.
import { S3Error } from "./errors.ts";
import { asOfHeader, checkVersionId } from "./headers/versions.ts";
import type { OperationName } from "./operation-rights.ts";
import type { Query, S3Request } from "./request.ts";

export interface Operation {
  readonly name: OperationName;
  /** Empty for operations on the account. */
  readonly bucket: string;
  /** Empty for operations on a bucket. */
  readonly key: string;
  /** The version that the request names, if any. */
  readonly version: string | undefined;
}

/** Query parameters that select an operation. Unsupported ones are refused, never ignored. */
export const subresources: ReadonlySet<string> = new Set(
  (
    "abac accelerate acl analytics annotation attributes cors delete encryption intelligent-tiering inventory " +
    "legal-hold lifecycle location logging metadataAnnotationTable metadataConfiguration metadataInventoryTable " +
    "metadataJournalTable metadataTable metrics notification object-lock ownershipControls partNumber policy policyStatus " +
    "publicAccessBlock renameObject replication requestPayment restore retention select session tagging torrent uploadId uploads " +
    "versioning versions website"
  ).split(" "),
);

/** Operations by method and sorted subresources; an empty string means no subresource. */
const bucketOperations: Readonly<Record<string, Readonly<Record<string, OperationName>>>> = {
  GET: {
    "": "ListObjects",
    accelerate: "GetBucketAccelerate",
    acl: "GetBucketAcl",
    cors: "GetBucketCors",
    encryption: "GetBucketEncryption",
    lifecycle: "GetBucketLifecycle",
    location: "GetBucketLocation",
    logging: "GetBucketLogging",
    notification: "GetBucketNotification",
    "object-lock": "GetObjectLockConfiguration",
    ownershipControls: "GetBucketOwnershipControls",
    policy: "GetBucketPolicy",
    policyStatus: "GetBucketPolicyStatus",
    publicAccessBlock: "GetPublicAccessBlock",
    replication: "GetBucketReplication",
    requestPayment: "GetBucketRequestPayment",
    tagging: "GetBucketTagging",
    uploads: "ListMultipartUploads",
    versioning: "GetBucketVersioning",
    versions: "ListObjectVersions",
    website: "GetBucketWebsite",
  },
  HEAD: { "": "HeadBucket" },
  PUT: {
    "": "CreateBucket",
    acl: "PutBucketAcl",
    cors: "PutBucketCors",
    encryption: "PutBucketEncryption",
    lifecycle: "PutBucketLifecycle",
    notification: "PutBucketNotification",
    "object-lock": "PutObjectLockConfiguration",
    ownershipControls: "PutBucketOwnershipControls",
    policy: "PutBucketPolicy",
    publicAccessBlock: "PutPublicAccessBlock",
    tagging: "PutBucketTagging",
    versioning: "PutBucketVersioning",
  },
  DELETE: {
    "": "DeleteBucket",
    cors: "DeleteBucketCors",
    encryption: "DeleteBucketEncryption",
    lifecycle: "DeleteBucketLifecycle",
    ownershipControls: "DeleteBucketOwnershipControls",
    policy: "DeleteBucketPolicy",
    publicAccessBlock: "DeletePublicAccessBlock",
    tagging: "DeleteBucketTagging",
  },
  POST: { "": "PostObject", delete: "DeleteObjects" },
};

const objectOperations: Readonly<Record<string, Readonly<Record<string, OperationName>>>> = {
  GET: {
    "": "GetObject",
    acl: "GetObjectAcl",
    attributes: "GetObjectAttributes",
    "legal-hold": "GetObjectLegalHold",
    partNumber: "GetObject",
    retention: "GetObjectRetention",
    tagging: "GetObjectTagging",
    uploadId: "ListParts",
  },
  HEAD: { "": "HeadObject", partNumber: "HeadObject" },
  PUT: {
    "": "PutObject",
    acl: "PutObjectAcl",
    "legal-hold": "PutObjectLegalHold",
    "partNumber uploadId": "UploadPart",
    retention: "PutObjectRetention",
    tagging: "PutObjectTagging",
  },
  DELETE: { "": "DeleteObject", tagging: "DeleteObjectTagging", uploadId: "AbortMultipartUpload" },
  POST: { uploads: "CreateMultipartUpload", uploadId: "CompleteMultipartUpload" },
};

export function readOperation(request: S3Request, domains: readonly string[]): Operation {
  const { bucket, key } = parseAddress(request, domains);
  const name = findOperationName(request, bucket, key);
  if (request.header(asOfHeader) !== undefined && !pastOperations.has(name)) throw noPast(request);
  const version = request.query.has("versionId") ? readVersion(request, name) : undefined;
  return { name, bucket, key, version };
}

/** Virtual-hosted style if the host ends with one of `domains`, otherwise path style. */
export function parseAddress(
  request: S3Request,
  domains: readonly string[],
): { bucket: string; key: string } {
  if (domains.length > 0) {
    const host = (request.header("host") ?? "").replace(/:\d+$/, "").toLowerCase();
    const domain = domains.find((one) => host.endsWith(`.${one}`));
    if (domain !== undefined) {
      return { bucket: host.slice(0, -domain.length - 1), key: request.path.slice(1) };
    }
  }
  const slash = request.path.indexOf("/", 1);
  if (slash === -1) return { bucket: request.path.slice(1), key: "" };
  return { bucket: request.path.slice(1, slash), key: request.path.slice(slash + 1) };
}

function findOperationName(request: S3Request, bucket: string, key: string): OperationName {
  const { method, query } = request;
  if (bucket === "") {
    // The path begins with two slashes: a key without a bucket.
    if (key !== "") throw new S3Error("InvalidBucketName");
    if (method === "GET" || method === "HEAD") return "ListBuckets";
    throw new S3Error("MethodNotAllowed");
  }
  const subresourceKey = toSubresourceKey(query);
  const table = (key === "" ? bucketOperations : objectOperations)[method];
  const name =
    table !== undefined && Object.hasOwn(table, subresourceKey) ? table[subresourceKey] : undefined;
  if (name === undefined) throw new S3Error(subresourceKey === "" ? "MethodNotAllowed" : "NotImplemented");
  if (name === "ListObjects" && query.get("list-type") === "2") return "ListObjectsV2";
  const isCopy = request.header("x-amz-copy-source") !== undefined;
  if (isCopy && name === "PutObject") return "CopyObject";
  if (isCopy && name === "UploadPart") return "UploadPartCopy";
  return name;
}

/** Cache of subresources by query. Query objects are cached too, so entries are found again. */
const subresourceKeyCache = new WeakMap<Query, string>();

function toSubresourceKey(query: Query): string {
  const cached = subresourceKeyCache.get(query);
  if (cached !== undefined) return cached;
  const given = new Set(query.pairs.map(([name]) => name).filter((name) => subresources.has(name)));
  const subresourceKey = [...given].sort().join(" ");
  subresourceKeyCache.set(query, subresourceKey);
  return subresourceKey;
}

/** Operations that can read a bucket as it was at a time. */
const pastOperations: ReadonlySet<OperationName> = new Set<OperationName>([
  "GetObject",
  "HeadObject",
  "ListObjects",
  "ListObjectsV2",
]);

/** Whether the operation reads the bucket as it was at a time. */
export function readsPast(name: OperationName, header: S3Request["header"]): boolean {
  return pastOperations.has(name) && header(asOfHeader) !== undefined;
}

function noPast({ header }: S3Request): S3Error {
  return new S3Error("InvalidArgument", {
    message: `This operation does not accept ${asOfHeader}: use it to read or list objects.`,
    details: { ArgumentName: asOfHeader, ArgumentValue: header(asOfHeader)! },
  });
}

/** Operations on one version of an object, which a request can name. */
export const versionOperations: ReadonlySet<OperationName> = new Set<OperationName>([
  "GetObject",
  "HeadObject",
  "DeleteObject",
  "GetObjectAttributes",
  "GetObjectAcl",
  "PutObjectAcl",
  "GetObjectTagging",
  "PutObjectTagging",
  "DeleteObjectTagging",
  "GetObjectRetention",
  "PutObjectRetention",
  "GetObjectLegalHold",
  "PutObjectLegalHold",
]);

function readVersion({ query }: S3Request, name: OperationName): string {
  const version = checkVersionId(query.get("versionId") ?? "", "versionId");
  if (versionOperations.has(name)) return version;
  throw new S3Error("InvalidArgument", {
    message: "This operation does not accept a version-id.",
    details: { ArgumentName: "versionId", ArgumentValue: version },
  });
}
