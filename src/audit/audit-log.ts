// An administrative act: who has changed what of a store beside its objects, from where and when. Never with a secret.

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
  /** What it was done to: a bucket, a namespace, the id of an access key or token, the name of a script or of its secret. */
  readonly subject?: string | undefined;
  /** How many there were of its kind, where not every one is noted. */
  readonly count?: number | undefined;
  readonly by: Actor;
}

export interface Actor {
  readonly face: "command line" | "console" | "s3";
  /** A user of the system, the name of a console token, the id of an access key. */
  readonly name?: string | undefined;
  readonly remoteAddress?: string | undefined;
  /** As the request log has it. */
  readonly request?: string | undefined;
}

/** What a face notes: whoever starts it knows where, and adds the time. */
export type RecordAudit = (entry: Omit<AuditEntry, "time">) => Promise<void>;

/** What faces note by; an act that cannot be noted is done all the same, and told. */
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
      warn(`"${entry.act}" is done, but could not be noted for store audit: ${why}`);
    }
  };
}

/** Where acts are noted. */
export interface AuditLog {
  /** Durable once it resolves. */
  record(entry: AuditEntry): Promise<void>;
  /** In the order they were noted, behind the place that an earlier reading came to. */
  read(after?: string): AsyncIterable<LoggedEntry>;
}

export interface LoggedEntry {
  readonly entry: AuditEntry;
  readonly position: string;
}
