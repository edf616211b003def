// Types of the JSON about sign-in and sessions that the console's server and page exchange.
import type { Role } from "./auth/roles.ts";

export interface SessionDocument {
  readonly name: string;
  /** When the session expires. Times are milliseconds since the epoch. */
  readonly expires: number;
  /** Role on the whole store; null if the user has roles only on buckets. */
  readonly role: Role | null;
  /** Further roles, by bucket name. */
  readonly buckets: Readonly<Record<string, Role>>;
}

/** A session in the list of sessions. */
export interface SessionRow extends SessionDocument {
  readonly id: string;
  readonly created: number | null;
  readonly address: string | null;
  /** Name of the OpenID provider; null for a session of a token. */
  readonly provider: string | null;
  /** Whether it is the session of this request. */
  readonly isCurrent: boolean;
}

export interface SessionsDocument {
  readonly sessions: readonly SessionRow[];
}

/** OpenID providers of the sign-in page. */
export interface ProvidersDocument {
  readonly providers: readonly { readonly name: string; readonly title: string }[];
}

/** Where the browser continues the sign-in. */
export interface StartedDocument {
  readonly url: string;
}
