// The audit log: who changed what in a store, apart from objects, from where and when. Never
// contains a secret.

export const auditActions = [
  "create bucket",
  "delete bucket",
  "create namespace",
  "delete namespace",
  "change cors",
  "change lifecycle",
  "change notifications",
  "change public access",
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
  /** In ISO 8601. */
  readonly time: string;
  readonly act: AuditAction;
  /** A bucket, namespace, access key id, token id, script, or the name of a secret. */
  readonly subject?: string | undefined;
  /** Number of changes of this kind, when they are logged together. */
  readonly count?: number | undefined;
  readonly by: Actor;
}

export interface Actor {
  readonly face: "command line" | "console" | "s3";
  /** A user of the system, the name of a console token, or the id of an access key. */
  readonly name?: string | undefined;
  readonly remoteAddress?: string | undefined;
  /** The request's id in the request log. */
  readonly request?: string | undefined;
}

/** Records an entry; the recorder adds the time. */
export type RecordAudit = (entry: Omit<AuditEntry, "time">) => Promise<void>;

/** Recorder of the front ends. A change that cannot be recorded is still made, with a warning. */
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
  /** Durable once it resolves. */
  record(entry: AuditEntry): Promise<void>;
  /** Entries in the order they were recorded, after the position where an earlier read ended. */
  read(after?: string): AsyncIterable<LoggedEntry>;
}

export interface LoggedEntry {
  readonly entry: AuditEntry;
  readonly position: string;
}
