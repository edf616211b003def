// Where the database is: `postgres://user:password@host1:5432,host2,host3/database?sslmode=verify-full`. Written by
// hand, since no URL of the platform has several hosts.
import { readFileSync } from "node:fs";
import { isLoopback } from "../../http/loopback.ts";

export interface DatabaseAddress {
  readonly hosts: readonly Host[];
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  /** By the URL. Undefined: TLS, except to a loopback address. */
  readonly tls: Tls | "off" | undefined;
}

export interface Host {
  readonly host: string;
  readonly port: number;
}

export interface Tls {
  /** Whether the certificate must be signed by somebody we trust. */
  readonly rejectUnauthorized: boolean;
  /** Whether it must also be the host's. */
  readonly checksName: boolean;
  readonly ca?: string;
}

const defaultPort = 5432;
const urlPattern = /^postgres(?:ql)?:\/\/(?:([^:@/?]*)(?::([^@/?]*))?@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/;

/** Throws a TypeError that says what is wrong, and never shows the password. */
export function parsePostgresUrl(url: string): DatabaseAddress {
  const [, user, password, hosts, database, query] = urlPattern.exec(url) ?? [];
  if (hosts === undefined || hosts === "") {
    throw new TypeError('The records\' URL must be like "postgres://user:password@host/database".');
  }
  if (user === undefined || user === "") throw new TypeError("The records' URL names no user.");
  const name = decodeComponent(user, "user");
  return {
    hosts: hosts.split(",").map(parseHost),
    user: name,
    password: password === undefined ? undefined : decodeComponent(password, "password"),
    database: database === undefined || database === "" ? name : decodeComponent(database, "database"),
    tls: parseOptions(new URLSearchParams(query ?? "")),
  };
}

/** Encrypted, and without a look at the certificate: an authority must be named for that. */
const encrypted: Tls = { rejectUnauthorized: false, checksName: false };

/** How a connection to this host is secured; undefined when it is not. */
export function resolveTls({ tls }: DatabaseAddress, host: string): Tls | undefined {
  if (tls === "off") return undefined;
  return tls ?? (isLoopback(host) ? undefined : encrypted);
}

/** As it may be shown to people. */
export function formatAddress({ hosts, database }: DatabaseAddress): string {
  return `"${database}" at ${hosts.map(({ host, port }) => `${host}:${port}`).join(", ")}`;
}

function parseHost(text: string): Host {
  const [, six, four, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d+))?$/.exec(text) ?? [];
  const port = digits === undefined ? defaultPort : Number(digits);
  if ((six ?? four) === undefined || port < 1 || port > 65_535) {
    throw new TypeError(`The records' URL names a host that is none: "${text}".`);
  }
  return { host: (six ?? four)!, port };
}

function parseOptions(options: URLSearchParams): DatabaseAddress["tls"] {
  for (const name of options.keys()) {
    if (name !== "sslmode" && name !== "sslrootcert") {
      throw new TypeError(`The records' URL has an option that is not known: "${name}".`);
    }
  }
  const mode = options.get("sslmode");
  const file = options.get("sslrootcert");
  if (mode === "disable") return "off";
  if (mode === null && file === null) return undefined;
  const ca = file === null ? {} : { ca: readFileSync(file, "utf8") };
  // As libpq does: who names an authority wants certificates held against it.
  if (mode === null || mode === "require") return { ...encrypted, rejectUnauthorized: file !== null, ...ca };
  if (mode === "verify-ca") return { rejectUnauthorized: true, checksName: false, ...ca };
  if (mode === "verify-full") return { rejectUnauthorized: true, checksName: true, ...ca };
  throw new TypeError(`sslmode is disable, require, verify-ca or verify-full, not "${mode}".`);
}

function decodeComponent(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TypeError(`The ${what} in the records' URL is not percent-encoded as it must be.`);
  }
}
