// The audit log: who made which administrative change to a store, when, and from where. It never
// contains secrets.
import type { ChainFields } from "./chain.ts";
import type { ChainReport } from "./chain-report.ts";

export const auditActions = [
  "create bucket",
  "delete bucket",
  "restore bucket",
  "create namespace",
  "delete namespace",
  "change cors",
  "change lock rules",
  "change lifecycle",
  "change notifications",
  "change public access",
  "change policy",
  "change ownership",
  "change publication",
  "change quota",
  "change encryption",
  "change versioning",
  "change object lock",
  "change retention",
  "change legal hold",
  "bypass retention",
  "change tags",
  "delete objects",
  "expire objects",
  "encrypt objects",
  "create share link",
  "revoke share link",
  "create key",
  "import key",
  "change key",
  "delete key",
  "disable key",
  "enable key",
  "rotate key",
  "create temporary credentials",
  "revoke temporary credentials",
  "change identity provider",
  "rotate master key",
  "apply encryption",
  "put secret",
  "delete secret",
  "create token",
  "revoke token",
  "create user",
  "change user",
  "delete user",
  "create role",
  "change role",
  "delete role",
  "sign in",
  "refuse sign-in",
  "sign out",
  "end session",
  "deny request",
  "restart script",
  "repair audit log",
  "trim audit log",
  "change audit limit",
] as const;

export type AuditAction = (typeof auditActions)[number];

export interface AuditEntry {
  /** Time in ISO 8601. */
  readonly time: string;
  readonly act: AuditAction;
  /** The name of a bucket, namespace, script or secret, or the id of an access key or token. */
  readonly subject?: string | undefined;
  /** What exactly was changed or denied: a key, a role, an error code. Never a secret. */
  readonly detail?: string | undefined;
  /** Number of changes of this kind, if several are recorded in one entry. */
  readonly count?: number | undefined;
  readonly by: Actor;
}

export interface Actor {
  /** "server": the store itself, for example by a lifecycle rule. */
  readonly face: "command line" | "console" | "s3" | "server";
  /** An operating system user, the name of a console token, or the id of an access key. */
  readonly name?: string | undefined;
  readonly remoteAddress?: string | undefined;
  /** The id of the request in the request log. */
  readonly request?: string | undefined;
}

/** Records an entry. The recorder adds the time. */
export type RecordAudit = (entry: Omit<AuditEntry, "time">) => Promise<void>;

/** Stores audit entries in a hash chain. */
export interface AuditLog {
  /** The entry is durable when the promise resolves. */
  record(entry: AuditEntry): Promise<void>;
  /** Yields entries in recorded order, after the position at which an earlier read ended. */
  read(after?: string): AsyncIterable<LoggedEntry>;
  /** Verifies the chain. The hashes in `expected`, noted earlier, must be in it. */
  verify(expected?: readonly string[]): Promise<ChainReport>;
  /** Limits the size of the log; the oldest entries are removed, and an entry records this. */
  limit(bytes: number): Promise<void>;
}

export interface LoggedEntry {
  /** Entries of versions without a hash chain have no chain fields. */
  readonly entry: AuditEntry & Partial<ChainFields>;
  readonly position: string;
}

/** Default limit for the size of the log. */
export const defaultLogBytes = 256 * 1024 * 1024;
export const minLogBytes = 1024 * 1024;
