// The audit log: who made which administrative change to a store, when, and from where. It never
// contains secrets.

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
  "change versioning",
  "change object lock",
  "change tags",
  "change encryption",
  "rotate master key",
  "encrypt objects",
  "create key",
  "delete key",
  "disable key",
  "enable key",
  "rotate key",
  "put secret",
  "delete secret",
  "create token",
  "revoke token",
  "sign in",
  "refuse sign-in",
  "sign out",
  "restart script",
] as const;

export type AuditAction = (typeof auditActions)[number];

export interface AuditEntry {
  /** Time in ISO 8601. */
  readonly time: string;
  readonly act: AuditAction;
  /** The name of a bucket, namespace, script or secret, or the id of an access key or token. */
  readonly subject?: string | undefined;
  /** Number of changes of this kind, if several are recorded in one entry. */
  readonly count?: number | undefined;
  readonly by: Actor;
}

export interface Actor {
  readonly face: "command line" | "console" | "s3";
  /** An operating system user, the name of a console token, or the id of an access key. */
  readonly name?: string | undefined;
  readonly remoteAddress?: string | undefined;
  /** The id of the request in the request log. */
  readonly request?: string | undefined;
}

/** Records an entry. The recorder adds the time. */
export type RecordAudit = (entry: Omit<AuditEntry, "time">) => Promise<void>;

/**
 * Creates the recorder for front ends. If an entry cannot be recorded, the change still succeeds,
 * and a warning is logged.
 */
export function createAuditRecorder(
  log: AuditLog,
  now: () => number,
  warn: (line: string) => void,
): RecordAudit {
  return async (entry) => {
    try {
      await log.record({ time: new Date(now()).toISOString(), ...entry });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      warn(`"${entry.act}" was done, but could not be recorded in the audit log: ${why}`);
    }
  };
}

/** Stores audit entries. */
export interface AuditLog {
  /** The entry is durable when the promise resolves. */
  record(entry: AuditEntry): Promise<void>;
  /** Yields entries in recorded order, after the position at which an earlier read ended. */
  read(after?: string): AsyncIterable<LoggedEntry>;
}

export interface LoggedEntry {
  readonly entry: AuditEntry;
  readonly position: string;
}
