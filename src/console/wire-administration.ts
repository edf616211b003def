// Types of the JSON about users, tokens, the audit log and the server that the console's server and
// page exchange. All times are milliseconds since the epoch.
import type { Role } from "./auth/roles.ts";

interface RolesDocument {
  /** Role on the whole store; null if there is none. */
  readonly role: Role | null;
  readonly buckets: Readonly<Record<string, Role>>;
}

export interface UserDocument extends RolesDocument {
  readonly name: string;
  readonly created: number;
}

export interface TokenDocument extends RolesDocument {
  readonly id: string;
  readonly name: string;
  /** Owner, whose roles count; null if the token has its own. */
  readonly user: string | null;
  readonly created: number;
  readonly expires: number | null;
  readonly state: "active" | "expired";
  readonly lastUsed: number | null;
}

export interface UsersDocument {
  readonly users: readonly UserDocument[];
  readonly tokens: readonly TokenDocument[];
}

/** The only response that contains the token. */
export interface NewTokenDocument {
  readonly id: string;
  readonly token: string;
}

export interface AuditRow {
  /** Number of the entry; null in entries of earlier versions. */
  readonly seq: number | null;
  readonly time: number;
  readonly action: string;
  readonly subject: string | null;
  readonly detail: string | null;
  readonly count: number;
  readonly by: {
    readonly face: string;
    readonly name: string | null;
    readonly address: string | null;
    readonly request: string | null;
  };
}

export interface AuditDocument {
  /** The newest first. */
  readonly entries: readonly AuditRow[];
  /** Position of the next page; missing on the last page. */
  readonly before?: number | undefined;
}

/** Result of verifying the chain of the audit log. */
export interface ChainDocument {
  readonly entries: number;
  readonly isWhole: boolean;
  readonly lastTime: string | null;
  /** Hash of the last entry, to be noted elsewhere. */
  readonly head: string | null;
  readonly breaks: readonly string[];
  readonly breakCount: number;
}

export interface HealthDocument {
  readonly version: string;
  /** Why the server is not ready; empty when it is. */
  readonly troubles: readonly string[];
  /** The disk of the data directory; null in a cluster. */
  readonly disk: { readonly free: number; readonly total: number } | null;
  /** When the last backup ended; null if none was recorded. */
  readonly lastBackup: number | null;
  readonly scripts: number;
  /** Errors of scripts in the last 24 hours that the server still has. */
  readonly faults: number;
  /** URL of the S3 API. */
  readonly endpoint: string;
}

export interface AccountsDocument {
  readonly accounts: readonly AccountRow[];
}

export interface AccountRow {
  readonly account: string;
  readonly buckets: number;
  readonly quota: { readonly bytes?: number | undefined; readonly objects?: number | undefined } | null;
  readonly usage: { readonly bytes: number; readonly objects: number };
}

export interface AboutDocument {
  readonly version: string;
  readonly node: string;
  readonly started: number;
  /** Where data is stored, without passwords. */
  readonly data: readonly string[];
  readonly ports: readonly { readonly name: string; readonly url: string }[];
  /** "always": every new object is encrypted. "by bucket": where a bucket or client asks for it. */
  readonly encryption: "always" | "by bucket";
  readonly providers: readonly { readonly name: string; readonly title: string }[];
}
