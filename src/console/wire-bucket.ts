// Types of the JSON about one bucket: search, copies, share links, access and notifications. All
// times are milliseconds since the epoch.
import type { Role } from "./auth/roles.ts";
import type { BucketDocument, GrantDocument, ObjectRow, VersioningState } from "./wire-types.ts";

export interface BucketDetailsDocument extends BucketDocument {
  readonly versioning: VersioningState;
  readonly isEncrypted: boolean;
  readonly isLocked: boolean;
  /** Null if the bucket is not public. */
  readonly publication: { readonly url: string | null; readonly domains: readonly string[] } | null;
  /** Whether the policy allows something to everyone. */
  readonly isPolicyPublic: boolean;
}

export interface SearchDocument {
  readonly objects: readonly ObjectRow[];
  /** Number of keys that this request compared. */
  readonly scanned: number;
  /** Cursor of the next request; missing at the end of the bucket. */
  readonly cursor?: string | undefined;
}

/** An object that was left as it is, and why. */
export interface SkippedRow {
  readonly key: string;
  readonly message: string;
}

/** Result of one batch of copies or moves. */
export interface CopiedDocument {
  readonly copied: number;
  readonly bytes: number;
  readonly skipped: readonly SkippedRow[];
  readonly cursor?: string | undefined;
}

/** Result of one batch of emptying a bucket, or of its check. */
export interface EmptiedDocument {
  readonly deleted: number;
  /** Locked versions, which stay; only the first are named. */
  readonly locked: readonly SkippedRow[];
  readonly lockedCount: number;
  readonly cursor?: string | undefined;
}

export interface ArchiveDocument {
  /** Names the selection in the URL of the download. */
  readonly id: string;
  readonly objects: number;
  readonly bytes: number;
}

export interface ShareDocument {
  readonly id: string;
  readonly bucket: string;
  readonly key: string;
  readonly created: number;
  readonly expires: number;
  /** Name of the user who created the link. */
  readonly by: string;
}

export interface SharesDocument {
  readonly shares: readonly ShareDocument[];
}

/** The only response that contains the URL. */
export interface NewShareDocument extends ShareDocument {
  readonly url: string;
}

export interface PublicationDocument {
  readonly index?: string | undefined;
  readonly notFound?: string | undefined;
  readonly cacheControl?: string | undefined;
  readonly domains?: readonly string[] | undefined;
}

export interface PublicAccessBlockDocument {
  readonly blockPublicAcls: boolean;
  readonly ignorePublicAcls: boolean;
  readonly blockPublicPolicy: boolean;
  readonly restrictPublicBuckets: boolean;
}

export interface StatementDocument {
  readonly sid: string | null;
  readonly effect: "Allow" | "Deny";
  readonly principals: readonly string[];
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  /** Number of conditions that limit the statement. */
  readonly conditions: number;
}

/** Who and what reaches a bucket. */
export interface AccessDocument {
  /** Null if the user may not see keys and users of the whole store. */
  readonly keys: readonly AccessKeyRow[] | null;
  readonly users: readonly AccessUserRow[] | null;
  readonly statements: readonly StatementDocument[];
  readonly isPolicyPublic: boolean;
  readonly publication: BucketDetailsDocument["publication"];
  readonly shares: number;
}

export interface AccessKeyRow {
  readonly accessKeyId: string;
  readonly name: string | null;
  readonly state: string;
  /** Null for full access to the account. */
  readonly rights: GrantDocument["rights"] | null;
}

export interface AccessUserRow {
  readonly kind: "user" | "token";
  readonly name: string;
  readonly role: Role;
}

export interface NotificationDocument {
  readonly id: string;
  readonly events: readonly string[];
  readonly prefix: string;
  readonly suffix: string;
  readonly target: { readonly kind: "webhook" | "script"; readonly name: string };
  readonly waiting: number;
  readonly delivered: number;
  readonly lastDelivered: number | null;
  readonly lastFailure: { readonly time: number; readonly what: string } | null;
}

export interface NotificationsDocument {
  readonly rules: readonly NotificationDocument[];
  /** Event names that a rule can have. */
  readonly events: readonly string[];
}

/** The secret of a new webhook is shown once; null for a script. */
export interface NewNotificationDocument {
  readonly id: string;
  readonly secret: string | null;
}
