// The audit entries of S3 requests: administrative operations that succeeded, and denied requests.
import { type AuditAggregator, createAuditAggregator } from "../audit/aggregate.ts";
import type { AuditAction, RecordAudit } from "../audit/audit-log.ts";
import type { HttpRequest } from "../http/server/listen.ts";
import type { S3Error } from "./errors.ts";
import type { Operation } from "./operation.ts";

/** Operations that are recorded in the audit log, with their names there. */
const auditedActions: ReadonlyMap<string, AuditAction> = new Map([
  ["CreateBucket", "create bucket"],
  ["DeleteBucket", "delete bucket"],
  ["PutBucketCors", "change cors"],
  ["DeleteBucketCors", "change cors"],
  ["PutBucketLifecycle", "change lifecycle"],
  ["DeleteBucketLifecycle", "change lifecycle"],
  ["PutBucketVersioning", "change versioning"],
  ["PutObjectLockConfiguration", "change object lock"],
  ["PutBucketTagging", "change tags"],
  ["DeleteBucketTagging", "change tags"],
  ["PutBucketPolicy", "change policy"],
  ["DeleteBucketPolicy", "change policy"],
  ["PutPublicAccessBlock", "change public access"],
  ["DeletePublicAccessBlock", "change public access"],
  ["PutBucketOwnershipControls", "change ownership"],
  ["DeleteBucketOwnershipControls", "change ownership"],
  ["PutBucketEncryption", "change encryption"],
  ["DeleteBucketEncryption", "change encryption"],
  ["PutBucketNotification", "change notifications"],
]);

/** Operations on single objects: a client may send many, so entries of a second are combined. */
const objectActions: ReadonlyMap<string, AuditAction> = new Map([
  ["PutObjectRetention", "change retention"],
  ["PutObjectLegalHold", "change legal hold"],
]);

/** Deletes are recorded only if they bypass governance retention. */
const deletes: ReadonlySet<string> = new Set(["DeleteObject", "DeleteObjects"]);
const auditedNames: ReadonlySet<string> = new Set([
  ...auditedActions.keys(),
  ...objectActions.keys(),
  ...deletes,
]);

/** Error codes of denied requests. Other refusals, such as a failed condition, are not recorded. */
const deniedCodes: ReadonlySet<string> = new Set([
  ...["AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "RequestTimeTooSkewed"],
  ...["ExpiredToken", "InvalidToken"],
]);

/** The form of access key ids. Clients that swap id and secret send a secret as their id. */
const keyIdPattern = /^[A-Z0-9]{8,32}$/;
const bucketPattern = /^[a-z0-9][a-z0-9.-]{2,62}$/;

export interface AuditedRequest {
  readonly id: string;
  readonly operation: Operation | undefined;
  /** The access key of a valid signature. */
  readonly accessKeyId: string | undefined;
  readonly http: HttpRequest;
}

export interface S3Audit {
  recordSuccess(request: AuditedRequest): Promise<void>;
  recordDenial(request: AuditedRequest, error: S3Error): void;
  /** New temporary credentials. A client may ask for many, so entries are combined. */
  recordCredentials(request: AuditedRequest, subject: string, detail: string): void;
}

export function createS3Audit(
  record: RecordAudit,
  aggregator: AuditAggregator = createAuditAggregator({ record }),
): S3Audit {
  return {
    async recordSuccess({ id, operation, accessKeyId: name, http }) {
      const { bucket: subject, key } = operation!;
      const action = auditedActions.get(operation!.name);
      if (action !== undefined) {
        const by = { face: "s3", name, remoteAddress: http.address(), request: id } as const;
        await record({ act: action, subject, by });
        return;
      }
      const objectAction = findObjectAction(operation!, http);
      if (objectAction === undefined) return;
      const by = { face: "s3", name, remoteAddress: http.address(), request: id } as const;
      aggregator.add(`${objectAction} ${parentOf(name)} ${subject}`, {
        act: objectAction,
        subject,
        detail: key,
        by,
      });
    },
    recordDenial({ id, operation, accessKeyId, http }, { code, details }) {
      if (!deniedCodes.has(code)) return;
      const claimed = accessKeyId ?? details.AWSAccessKeyId ?? "";
      const name = accessKeyId !== undefined || keyIdPattern.test(claimed) ? claimed : undefined;
      const subject = bucketPattern.test(operation?.bucket ?? "") ? operation!.bucket : undefined;
      // Anyone can invent ids: those of unknown keys are counted together.
      const isKnown = accessKeyId !== undefined || code === "SignatureDoesNotMatch";
      const by = { face: "s3", name, remoteAddress: http.address(), request: id } as const;
      const detail = operation === undefined ? code : `${operation.name} ${code}`;
      aggregator.add(`deny ${isKnown ? parentOf(claimed) : ""} ${code}`, {
        act: "deny request",
        subject,
        detail,
        by,
      });
    },
    recordCredentials({ id, accessKeyId: name, http }, subject, detail) {
      const by = { face: "s3", name, remoteAddress: http.address(), request: id } as const;
      const act = "create temporary credentials";
      aggregator.add(`${act} ${parentOf(name)} ${subject}`, { act, subject, detail, by });
    },
  };
}

/** Temporary credentials are counted with their access key, which can make any number of them. */
function parentOf(name: string | undefined): string {
  return name?.split("/", 1)[0] ?? "";
}

/** Whether a success may be recorded. Most operations are not. */
export function isAudited(name: string): boolean {
  return auditedNames.has(name);
}

function findObjectAction({ name }: Operation, http: HttpRequest): AuditAction | undefined {
  if (!deletes.has(name)) return objectActions.get(name);
  const bypass = http.header("x-amz-bypass-governance-retention");
  return bypass?.toLowerCase() === "true" ? "bypass retention" : undefined;
}
